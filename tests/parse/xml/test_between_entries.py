"""What stands between the entries of a document is told, in every format and by every reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.parse.formats.test_feeds import A, B, entry, item
from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import SM, atom, rss, u, urlset
from usp._parse.input.chunks import CHUNK_SIZE
from usp.tree import sitemap_from_str

if TYPE_CHECKING:
    from collections.abc import Callable

ATOM = "http://www.w3.org/2005/Atom"
PHP = "<br />\n<b>Warning</b>: Undefined x in <b>y.php</b> on line <b>3</b><br />"
FORMATS: dict[str, tuple[Callable[..., str], Callable[[str], str]]] = {
    "rss": (rss, item),
    "rss with a title": (lambda *items: rss("<title>T</title>\n<link>x</link>", *items), item),
    "atom": (atom, entry),
    "urlset": (urlset, u),
}
ESCAPED = ["<item>", "<entry >", "<url>", "<sitemap\n>"]


def codes(document: str) -> set[str]:
    """The codes of a document, which are the same in all readers."""
    assert_readers_agree([document.encode()])
    return {problem.code for problem in sitemap_from_str(document).problems}


@pytest.mark.parametrize("what", FORMATS)
@pytest.mark.parametrize("text", ["Fatal error: x", PHP, "<![CDATA[x]]>"])
def test_a_text_between_entries_is_told(what: str, text: str) -> None:
    document, one = FORMATS[what]
    for count in (1, 70):
        entries = [one(f"{B}/{number}") for number in range(count)]
        assert not codes(document(*entries))  # what it teaches must not hide a text
        for parts in ((text, one(A), *entries), (one(A), text, *entries), (*entries, text)):
            found = sitemap_from_str(document(*parts))
            assert found.complete
            assert len(list(found.pages)) == len(parts) - 1
            assert codes(document(*parts)) == {"SM211"}


@pytest.mark.parametrize("what", FORMATS)
def test_a_document_with_a_text_instead_of_entries_is_not_complete(what: str) -> None:
    document, _ = FORMATS[what]
    assert codes(document("Fatal error: x")) == {"SM204", "SM211"}
    assert not sitemap_from_str(document("Fatal error: x")).complete


@pytest.mark.parametrize("what", FORMATS)
@pytest.mark.parametrize("tag", ESCAPED)
def test_an_escaped_entry_is_lost(what: str, tag: str) -> None:
    document, one = FORMATS[what]
    for text in (f"&lt;{tag[1:]}", f"<![CDATA[{tag}]]>"):
        for parts in ((one(A), text, one(B)), (text, one(A), one(B))):
            assert codes(document(*parts)) == {"SM209", "SM211"}


def test_an_escaped_entry_is_lost_wherever_the_parts_of_a_document_end() -> None:
    for size in range(CHUNK_SIZE - 20, CHUNK_SIZE):
        head = f"<urlset {SM}>{u(A)}<!--".ljust(size, "x")
        found = sitemap_from_str(f"{head}-->&lt;sitemap&gt;{u(B)}</urlset>")
        assert {problem.code for problem in found.problems} == {"SM209", "SM211"}


OTHERS = [
    *((name, other) for name in ("rss", "atom") for other in (u(A), urlset(u(A)))),
    *((name, item(A)) for name in ("atom", "urlset")),
    *((name, f'<entry xmlns="{ATOM}"><title>T</title></entry>') for name in ("rss", "urlset")),
    *(("urlset", other) for other in (entry(A), atom(entry(A)), rss(item(A)))),
    ("rss", "<sitemap><loc>http://h.example/s</loc></sitemap>"),
]


@pytest.mark.parametrize(("what", "other"), OTHERS)
def test_an_entry_or_a_document_of_another_format_is_lost(what: str, other: str) -> None:
    document, one = FORMATS[what]
    for parts in ((one(A), other, one(B)), (other, one(A), one(B))):
        found = sitemap_from_str(document(*parts))
        assert [page.url for page in found.pages] == [A, B]
        assert not found.complete
        assert codes(document(*parts)) == {"SM223"}
    assert "SM223" in codes(document(other))


@pytest.mark.parametrize(
    "document",
    [
        urlset(u(A), '<x:item xmlns:x="http://h.example/ns"><x:entry/></x:item>'),
        rss("\n<title>T</title> <description>a <b>b</b> c</description>", item(A)),
        rss("<image><url>http://h/i</url>\n</image>", item(A), "\n<!-- x -->"),
        rss("<title>T</title>"),
        atom("<title>T</title><author><name>N</name> n</author>"),
    ],
)
def test_a_text_in_an_element_of_a_feed_belongs_to_it(document: str) -> None:
    assert not codes(document)


FOAF = 'xmlns:foaf="http://xmlns.com/foaf/0.1/"'
RDF = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
    f" {FOAF}"
)
PODCAST = 'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
INSIDE = f"<title>T</title><link>{A}</link>"
METADATA = "<title>T</title><link>http://h/</link><description>D</description>"


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (rss(METADATA, f"<itm>{INSIDE}</itm>"), "<itm>"),
        (rss(f"<itm>{INSIDE}</itm>" * 3), "<itm>"),
        (rss(METADATA, "<itm/>"), "<itm>"),
        (f"<rss><chanel>{METADATA}</chanel></rss>", "<chanel>"),
        (f"<rss>{METADATA}</rss>", "elements outside of a <channel>"),
        (f"<channel>{METADATA}<itm>{INSIDE}</itm></channel>", "<itm>"),
        (rss(METADATA, f"<itm>{INSIDE}</itm><!-- <item> -->"), "<itm>"),
        (f"<rdf:RDF {RDF}><channel>{METADATA}</channel><itm>{INSIDE}</itm></rdf:RDF>", "<itm>"),
        (f"<rdf:RDF {RDF}><foaf:Person/></rdf:RDF>", "elements outside of a <channel>"),
        (atom(f"<title>T</title><entrie>{INSIDE}</entrie>"), "<entrie>"),
        (f'<a:feed xmlns:a="{ATOM}"><a:entrie/></a:feed>', "<entrie>"),
        (rss(f"<{'x' * 5000}/>"), f"<{'x' * 60}>"),
        (urlset("<ur>x</ur>"), "<ur>"),
    ],
)
def test_unknown_elements_instead_of_entries_are_told(document: str, named: str) -> None:
    for _ in range(2):  # the second time, its head may be known
        assert "SM204" in codes(document)
    found = sitemap_from_str(document)
    message = f"there are no entries, but {named}"
    assert [one.message for one in found.problems if one.code == "SM204"] == [message]
    assert not found.complete
    assert list(found.pages) == []


@pytest.mark.parametrize(
    "document",
    [
        "<rss/>",
        rss(),
        rss(METADATA),
        rss(METADATA, "<language>en</language><ttl>1</ttl><author>x</author>"),
        rss("<skipHours><hour>1</hour></skipHours><image><url>http://h/i</url></image>"),
        rss("<textInput><title>T</title></textInput><pubDate>x</pubDate>"),
        rss(METADATA, f'<atom:link xmlns:atom="{ATOM}" rel="self" href="http://h/f"/>'),
        rss(f"<itunes:owner {PODCAST}><itunes:name>N</itunes:name></itunes:owner>"),
        rss(f'<foo xmlns="http://h.example/ns">{INSIDE}</foo>'),
        f'<rss><channel xmlns="http://h.example/ns">{METADATA}</channel></rss>',
        f"<rdf:RDF {RDF}><channel>{METADATA}<items><rdf:Seq/></items></channel></rdf:RDF>",
        f"<rdf:RDF {RDF}><channel>{METADATA}</channel><foaf:Person/></rdf:RDF>",
        atom(),
        atom("<id>x</id><updated>2020-01-01</updated><subtitle>S</subtitle><rights>R</rights>"),
        f'<a:feed xmlns:a="{ATOM}"><a:title>T</a:title></a:feed>',
    ],
)
def test_a_feed_that_only_describes_itself_is_empty(document: str) -> None:
    assert not codes(document)
    assert sitemap_from_str(document).complete


def test_unknown_elements_beside_entries_are_no_loss() -> None:
    for document in (rss(METADATA, "<itm/>", item(A)), rss(item(A), "<itm/>")):
        assert not codes(document)
        assert sitemap_from_str(document).complete
