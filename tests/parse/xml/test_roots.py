"""Root elements: several in one document, and those whose tags are malformed."""

from __future__ import annotations

from typing import Final

import pytest

from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree
from tests.parse.reading import SM, read, rss, u, urlset
from usp import parse
from usp.objects.sitemap import InvalidSitemap

SITE: Final = "http://h.example/f/feed"
ATOM: Final = 'xmlns="http://www.w3.org/2005/Atom"'
FIRST: Final = urlset(u("http://h.example/1"))
RDF: Final = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns="http://purl.org/rss/1.0/">'
)
ITEM: Final = "<item><title>T</title><link>http://h.example/2</link></item>"


def entry(href: str, attributes: str = "") -> str:
    return f'<entry{attributes}><title>T</title><link href="{href}"/></entry>'


CONCATENATED: Final = {
    "urlset": FIRST + f"\n<urlset {SM}>{u('http://h.example/2')}\n</urlset>",
    "declared": FIRST + f'<?xml version="1.0"?>\n<urlset>{u("http://h.example/2")}</urlset>',
    "malformed": FIRST + f'<urlset a=b t="&">{u("http://h.example/2")}</urlset>',
    "after a fault": f"<urlset {SM}>{u('http://h.example/1')} & x</urlset>"
    f"<urlset {SM}>{u('http://h.example/2')}</urlset>",
    "after empty ones": FIRST + "<urlset></urlset>" * 40 + f"<urlset>{u('http://h.example/2')}"
    "</urlset>",
    "after a bare entry": FIRST + u("http://h.example/0") + "</urlset>"
    f"<urlset>{u('http://h.example/2')}</urlset>",
    "long": urlset(*(u(f"http://h.example/{n}") for n in range(300))) + WORTH_LEARNING
    + f"<urlset {SM}>" + "".join(u(f"http://h.example/b{n}") for n in range(300)) + "</urlset>",
    "rss": rss(ITEM.replace("/2", "/1")) + f"<rss><channel>{ITEM}</channel></rss>",
    "atom": f"<feed {ATOM}>{entry('http://h.example/1')}</feed>"
    f"<feed {ATOM}>{entry('http://h.example/2')}</feed>",
}  # fmt: skip


@pytest.mark.parametrize("what", CONCATENATED)
def test_a_document_whose_last_root_is_not_closed_is_truncated(what: str) -> None:
    whole = CONCATENATED[what].encode()
    truncated = whole[: whole.rindex(b"</")]
    expected, found = read(whole), read(truncated)
    assert expected.complete
    assert found.pages == expected.pages
    assert not found.complete
    assert "SM207" in {problem.code for problem in found.problems}
    for document in (whole, truncated):
        assert_readers_agree([document])


@pytest.mark.parametrize("what", ["urlset", "malformed", "after a fault", "atom"])
def test_the_last_root_is_read_alike_in_chunks_of_any_size(what: str) -> None:
    whole = CONCATENATED[what].encode()
    start = len(whole) - len(whole.rpartition(b"<urlset" if b"<urlset" in whole else b"<feed")[2])
    for length in range(start + 1, len(whole)):
        document = whole[:length]
        found = read(document)
        assert not found.complete, document[-40:]
        assert read(*(document[at : at + 7] for at in range(0, length, 7))) == found


HALVES: Final = {
    "a malformed root": f"<urlset {SM} a=b>{u('http://h.example/2')}",
    "a malformed channel of RSS 1.0": f"{RDF}<channel><title>a & b</title></channel>{ITEM}",
    "a root after entries": f"{u('http://h.example/1')}<urlset>{u('http://h.example/2')}",
}


@pytest.mark.parametrize("what", HALVES)
def test_a_root_that_is_not_closed_is_truncated(what: str) -> None:
    found = read(HALVES[what].encode())
    assert found.urls[-1] == "http://h.example/2"
    assert not found.complete


@pytest.mark.parametrize(
    "end", ["</URLSET>\n", "</sm:urlset>", "< / urlset>\n", "& x </urlset>", "<x></urlset>"]
)
def test_an_end_tag_of_the_root_ends_it_however_it_is_written(end: str) -> None:
    found = read(f"<urlset {SM}>{u('http://h.example/2')}{end}".encode())
    assert (found.urls, found.complete) == (["http://h.example/2"], True)
    assert {problem.code for problem in found.problems} == {"SM211"}


BASES: Final = [
    (f'<feed {ATOM} xml:base="http://b.example/b/" a=b>{entry("x")}</feed>', ["b.example/b/x"]),
    (f'<feed {ATOM} xml:base="http://b.example/?a&b">{entry("x")}</feed>', ["b.example/x"]),
    (f'<feed {ATOM} a="1" a="2" xml:base="http://b.example/">{entry("x")}</feed>', ["b.example/x"]),
    (f'<feed {ATOM} t="1<2" xml:base="http://b.example/">{entry("x")}</feed>', ["b.example/x"]),
    (
        (
            '<rss version=2.0 xml:base="http://b.example/"><channel xml:base="c/"><item>'
            "<title>T</title><link>x</link></item></channel></rss>"
        ),
        ["b.example/c/x"],
    ),
    (
        (
            f'<feed {ATOM} xml:base="http://b.example/">{entry("x")}</feed>'
            f'<feed {ATOM} xml:base="http://c.example/">{entry("x")}</feed>'
        ),
        ["b.example/x", "c.example/x"],
    ),
    (
        f'<feed {ATOM} xml:base="http://b.example/">{entry("x")}</feed><feed>{entry("x")}</feed>',
        ["b.example/x", "h.example/f/x"],
    ),
    (
        (
            f'<feed {ATOM} xml:base="http://b.example/"><entry xml:base="e/"><title>T</title>'
            f'<link href="x"/>{entry("y")}{entry("z")}</feed>'
        ),
        ["b.example/e/x", "b.example/y", "b.example/z"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), BASES)
def test_each_base_url_counts_for_its_own_element(document: str, expected: list[str]) -> None:
    found = read(document.encode(), url=SITE)
    assert found.urls == [f"http://{url}" for url in expected]
    assert found.complete
    assert_readers_agree([document.encode()])


def test_a_relative_link_that_its_base_url_cannot_resolve_is_a_problem() -> None:
    feed = f'<feed {ATOM} xml:base="urn:x:y">{entry("x")}{entry("http://h.example/y")}</feed>'
    found = parse(feed, url=SITE)
    assert [page.url for page in found.pages] == ["x", "http://h.example/y"]
    assert [problem.code for problem in found.problems] == ["SM302"]
    resolved = parse(feed.replace("urn:x:y", "http://b.example/"), url=SITE)
    assert resolved.pages[0].url == "http://b.example/x"
    assert not resolved.problems


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (100, "it has no root element"),
        (1_000_000, "it has no root element"),
        (1_100_000, "more than 1 MiB precedes any root element"),
    ],
)
@pytest.mark.parametrize("before", ["<!--{}-->", "<?x?>{}<!-- -->"])
def test_the_reason_says_how_far_a_root_element_was_looked_for(
    size: int, reason: str, before: str
) -> None:
    padded = before.format(" " * size)
    for document in (padded, padded + "<!-- -->" * 10):
        found = parse(document)
        assert isinstance(found, InvalidSitemap)
        assert reason in found.reason
    far = parse(padded + FIRST)
    assert isinstance(far, InvalidSitemap) == (size > 1_048_576)
