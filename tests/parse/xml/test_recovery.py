"""Recovery: a malformed part of a document does not affect the rest.

Nothing raises; all entries before and after it are read, in order, and a problem is reported.
"""

from __future__ import annotations

import pytest

from tests.parse.reading import ALL, SM, children, index, page, problems, u, urls, urlset
from usp.objects.page import SitemapImage
from usp.objects.sitemap import (
    IndexXMLSitemap,
    InvalidSitemap,
    PagesTextSitemap,
    PagesXMLSitemap,
)
from usp.tree import sitemap_from_str

A, B, C = "http://h.example/a", "http://h.example/b", "http://h.example/c"
THREE = urlset(u(A), u(B), u(C))
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

# Around the root element

BEFORE = [
    ("a newline", "\n"),
    ("much whitespace", " \t\r\n" * 3000),
    ("a byte order mark", "\ufeff"),
    ("two byte order marks", "\ufeff\ufeff"),
    ("a newline and a byte order mark", "\n\ufeff"),
    ("a comment", "<!-- made by hand -->"),
    ("a PHP warning", "<br />\n<b>Warning</b>: Undefined index in <b>/x.php</b> on line <b>3</b>"),
    ("a PHP notice", "Notice: Undefined variable: x in /x.php on line 3\n"),
    ("a script", "<script>if (1 < 2) { document.write('<urlset>') }</script>\n"),
    ("scripts", '<SCRIPT async>x</SCRIPT><script src="/x.js"/><script></script >'),
    ("a stylesheet", '<?xml-stylesheet type="text/xsl" href="/x.xsl"?>'),
    ("a plain DOCTYPE", "<!DOCTYPE urlset>"),
    (
        "a DOCTYPE with a URL",
        '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/never-fetched.dtd">',
    ),
]


@pytest.mark.parametrize("declaration", ["", DECLARATION], ids=["bare", "declared"])
@pytest.mark.parametrize(("what", "junk"), BEFORE, ids=[row[0] for row in BEFORE])
def test_junk_before_the_root_element(what: str, junk: str, declaration: str) -> None:
    # A stylesheet or DOCTYPE belongs after the declaration; here it may come before it.
    sitemap = sitemap_from_str(junk + declaration + THREE)
    assert isinstance(sitemap, PagesXMLSitemap), what
    assert [found.url for found in sitemap.pages] == [A, B, C]


@pytest.mark.parametrize("junk", ["words", "<br/>", "<!-- x -->", "</urlset>", "\0\0", "<urlset>"])
def test_junk_after_the_root_element(junk: str) -> None:
    assert urls(THREE + junk) == [A, B, C]


def test_junk_before_or_after_the_root_is_a_problem() -> None:
    assert "SM205" in [problem.code for problem in problems("Warning: x\n" + THREE)]
    assert "SM206" in [problem.code for problem in problems(THREE + "words")]


ENTITIES = f'<!DOCTYPE urlset [<!ENTITY x "boom">]>{urlset(u("http://h.example/&x;"))}'
BOMB = (
    '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    f'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>{urlset(u("http://h.example/&c;"))}'
)
EXTERNAL = (
    f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>{urlset(u("http://h/&x;"))}'
)


@pytest.mark.parametrize("document", [ENTITIES, BOMB, EXTERNAL], ids=["one", "bomb", "external"])
def test_a_doctype_that_declares_entities_is_invalid(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, InvalidSitemap)
    assert "entit" in sitemap.reason.lower()
    assert "boom" not in sitemap.reason


HTML = [
    "<!DOCTYPE html><html><head><title>404</title></head><body>No</body></html>",
    "<html><body><p>unclosed<br></body></html>",
    "<!doctype HTML>\n<HTML><BODY>",
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>',
    "<script>location.reload()</script>",
    "<script>x</script><noscript>Please enable JavaScript</noscript>",
    f"<script>x</script><html><body>{THREE}</body></html>",
    f"<script>document.write('{THREE}')",
    f"<script>x</script>{u(A)}",
]


@pytest.mark.parametrize("document", HTML)
def test_an_html_page_is_invalid_with_a_reason(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, InvalidSitemap)
    assert "HTML" in sitemap.reason


# Names and namespaces

PREFIXED = "".join(f"<sm:url><sm:loc>{url}</sm:loc></sm:url>" for url in (A, B))
NAMES = [
    ("upper case", f"<URLSET><URL><LOC>{A}</LOC></URL><Url><Loc>{B}</Loc></Url></URLSET>"),
    ("no namespace", f"<urlset>{u(A)}{u(B)}</urlset>"),
    ("a wrong namespace", f'<urlset xmlns="http://h.example/mine">{u(A)}{u(B)}</urlset>'),
    (
        "the legacy namespace",
        f'<urlset xmlns="http://www.google.com/schemas/sitemap/0.84">{u(A)}{u(B)}</urlset>',
    ),
    (
        "the https namespace",
        f'<urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9">{u(A)}{u(B)}</urlset>',
    ),
    (
        "a prefix",
        f'<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">{PREFIXED}</sm:urlset>',
    ),
    ("an undeclared prefix", f"<sm:urlset>{PREFIXED}</sm:urlset>"),
    ("an element between entries", f"<urlset {SM}>{u(A)}<x><y/>text</x>{u(B)}</urlset>"),
    ("an element inside an entry", f"<urlset {SM}>{u(A, '<x><y/>text</x>')}{u(B)}</urlset>"),
    ("text between entries", f"<urlset {SM}>hello{u(A)}there{u(B)}</urlset>"),
    ("attributes", f'<urlset {SM} id="1"><url n="1"><loc x="y">{A}</loc></url>{u(B)}</urlset>'),
]


@pytest.mark.parametrize(("what", "document"), NAMES, ids=[row[0] for row in NAMES])
def test_names_and_namespaces(what: str, document: str) -> None:
    assert urls(document) == [A, B], what


def test_undeclared_prefixes_have_their_usual_meaning() -> None:
    entry = u(
        A,
        "<image:image><image:loc>http://h/i</image:loc></image:image>"
        "<news:news><news:publication_date>2020-01-01</news:publication_date>"
        "<news:title>T</news:title></news:news>"
        '<xhtml:link rel="alternate" hreflang="de" href="http://h/de"/>'
        "<video:video><video:title>V</video:title></video:video>",
    )
    found = page(urlset(entry, namespaces=SM))
    assert found.images == [SitemapImage("http://h/i")]
    assert found.news_story is not None
    assert found.news_story.title == "T"
    assert found.alternates == [("de", "http://h/de")]


# Truncation


def test_a_truncated_document_gives_every_complete_entry() -> None:
    document = DECLARATION + urlset(u(A, "<priority>0.9</priority>"), u(B), u(C))
    for length in range(len(document)):
        truncated = document[:length]
        sitemap = sitemap_from_str(truncated)
        found = [entry.url for entry in sitemap.pages]
        assert found == [A, B, C][: truncated.count("</url>")], truncated[-40:]
        if found:
            assert not sitemap.complete


def test_a_truncated_document_has_a_problem_and_a_whole_one_is_complete() -> None:
    truncated = sitemap_from_str(THREE.removesuffix("</url></urlset>"))
    assert [found.url for found in truncated.pages] == [A, B]
    assert "SM207" in [problem.code for problem in truncated.problems]
    whole = sitemap_from_str(THREE)
    assert whole.complete
    assert whole.problems == ()


def test_a_truncated_index_keeps_each_child_with_a_complete_loc() -> None:
    document = DECLARATION + index(A, B, C)
    for length in range(document.index("<sitemap>"), len(document)):
        truncated = document[:length]
        assert children(truncated) == [A, B, C][: truncated.count("</loc>")], truncated[-40:]


UNCLOSED = [
    ("url not closed", f"<url><loc>{A}</loc>{u(B)}", [A, B]),
    ("loc not closed", f"<url><loc>{A}</url>{u(B)}", [A, B]),
    ("both not closed", f"<url><loc>{A}\n<url><loc>{B}</loc></url>", [A, B]),
    ("two urls not closed", f"<url><loc>{A}</loc><url><loc>{B}</loc>{u(C)}", [A, B, C]),
    ("closed twice", f"{u(A)}</url>{u(B)}", [A, B]),
    ("closed in the wrong order", f"<url><loc>{A}</url></loc>{u(B)}", [A, B]),
]


@pytest.mark.parametrize(("what", "inside", "expected"), UNCLOSED, ids=[row[0] for row in UNCLOSED])
def test_an_entry_that_is_not_closed_is_repaired(
    what: str, inside: str, expected: list[str]
) -> None:
    document = urlset(inside, u(f"{C}/last"))
    sitemap = sitemap_from_str(document)
    assert [found.url for found in sitemap.pages] == [*expected, f"{C}/last"], what
    assert sitemap.problems


STUMPS = {
    "in its URL": (f"<url><loc>{A[:-3]}", False),
    "in its URL, with a fault": (f"<url><loc>{A}?a&b", False),
    "in an empty URL": ("<url><loc>", False),
    "in another field": (f"<url><loc>{A}</loc><lastmod>202", False),
    "between two fields": (f"<url><loc>{A}</loc>", True),
}


@pytest.mark.parametrize("what", STUMPS)
@pytest.mark.parametrize("after", [f"{u(B)}</urlset>", "</urlset>"])
def test_a_document_with_an_entry_that_ends_in_its_url_is_not_complete(
    what: str, after: str
) -> None:
    stump, is_complete = STUMPS[what]
    sitemap = sitemap_from_str(f"<urlset {SM}>{u(C)}{stump}{after}")
    codes = [problem.code for problem in sitemap.problems]
    assert ("SM209" not in codes, sitemap.complete) == (is_complete, is_complete)


def test_an_item_that_ends_in_its_link_is_not_lost_silently() -> None:
    items = f"<item><title>a</title><link>{A}<item><title>b</title><link>{B}</link></item>"
    feed = sitemap_from_str(f"<rss><channel>{items}</channel></rss>")
    assert [found.url for found in feed.pages] == [A, B]
    assert [problem.code for problem in feed.problems] == ["SM209", "SM210"]


MALFORMED = [
    ("a bare <", u("http://h.example/1<2")),
    ("a tag without >", "<url><loc>http://h.example/x</loc"),
    ("an attribute without quotes", "<url x=1><loc>http://h.example/x</loc></url>"),
    ("a raw control character", u("http://h.example/\x01")),
    ("a bare &", u("http://h.example/?a&b")),
    ("an undefined entity", u("http://h.example/&nope;")),
    ("a reference beyond Unicode", u("http://h.example/&#x110000;")),
    ("a lone surrogate", u("http://h.example/&#xD800;")),
    ("]]> in text", u("http://h.example/]]>")),
    ("-- in a comment", f"<!-- a -- b -->{u('http://h.example/x')}"),
    ("an unclosed comment in an entry", "<url><!-- <loc>http://h.example/x</loc></url>"),
]


@pytest.mark.parametrize(("what", "malformed"), MALFORMED, ids=[row[0] for row in MALFORMED])
@pytest.mark.parametrize("index", [0, 1, 300])
def test_a_malformed_entry_does_not_affect_the_others(
    what: str, malformed: str, index: int
) -> None:
    valid = [f"{A}/{number}" for number in range(400)]
    entries = [u(url) for url in valid]
    document = urlset(*entries[:index], malformed, *entries[index:])
    sitemap = sitemap_from_str(document)
    found = [entry.url for entry in sitemap.pages]
    assert [url for url in found if url in set(valid)] == valid, what
    assert len(found) <= len(valid) + 1
    assert sitemap.problems


# Both kinds in one document


def test_sitemaps_in_a_urlset_and_pages_in_an_index() -> None:
    child = f"<sitemap><loc>{B}</loc></sitemap>"
    pages = sitemap_from_str(f"<urlset {SM}>{u(A)}{child}{u(C)}</urlset>")
    assert isinstance(pages, PagesXMLSitemap)
    assert [found.url for found in pages.pages] == [A, C]
    assert [found.url for found in pages.sub_sitemaps] == [B]
    listing = sitemap_from_str(f"<sitemapindex {SM}>{u(A)}{child}</sitemapindex>")
    assert isinstance(listing, IndexXMLSitemap)
    assert [found.url for found in listing.pages] == [A]
    assert [found.url for found in listing.sub_sitemaps] == [B]


# Anything

NONSENSE: list[str | bytes] = [
    "",
    b"",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "<",
    "<?xml",
    "<?xml version='1.0'?>",
    "<!DOCTYPE",
    "<!--",
    "<![CDATA[",
    "<urlset",
    "<urlset/>",
    f"<urlset {ALL}",
    "<>",
    "</urlset>",
    "<urlset><url><loc>",
    "\ud800",
    "{}",
    b"%PDF-1.4",
    "<" * 10_000,
    "<urlset>" * 10_000,
    b"\xff" * 10_000,
]


@pytest.mark.parametrize("document", NONSENSE, ids=lambda document: repr(document)[:24])
def test_nonsense_is_read_without_an_exception_and_is_not_complete(document: str | bytes) -> None:
    sitemap = sitemap_from_str(document)
    assert sitemap.pages == []
    assert sitemap.sub_sitemaps == []
    if document != "<urlset/>":
        assert not sitemap.complete


@pytest.mark.parametrize("document", ["", "words", '{"a": 1}'])
def test_a_text_without_urls_has_an_error(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, PagesTextSitemap)
    assert [problem.severity for problem in sitemap.problems] == ["error"]
