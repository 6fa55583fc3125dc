"""Damage: whatever is broken in a document never costs the rest.

Rules of this room: tables. Nothing raises, and what came before and after the damage is all there,
in order, with a problem that says what happened.
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
    ("many blanks", " \t\r\n" * 3000),
    ("a byte order mark", "\ufeff"),
    ("two byte order marks", "\ufeff\ufeff"),
    ("a newline and a byte order mark", "\n\ufeff"),
    ("a comment", "<!-- made by hand -->"),
    ("a PHP warning", "<br />\n<b>Warning</b>: Undefined index in <b>/x.php</b> on line <b>3</b>"),
    ("a PHP notice", "Notice: Undefined variable: x in /x.php on line 3\n"),
    ("a stylesheet", '<?xml-stylesheet type="text/xsl" href="/x.xsl"?>'),
    ("a plain DOCTYPE", "<!DOCTYPE urlset>"),
    (
        "a DOCTYPE with an address",
        '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/never-fetched.dtd">',
    ),
]


@pytest.mark.parametrize("declaration", ["", DECLARATION], ids=["bare", "declared"])
@pytest.mark.parametrize(("what", "junk"), BEFORE, ids=[row[0] for row in BEFORE])
def test_something_before_the_xml(what: str, junk: str, declaration: str) -> None:
    # A stylesheet or DOCTYPE belongs after the declaration; here it stands before it as well.
    sitemap = sitemap_from_str(junk + declaration + THREE)
    assert isinstance(sitemap, PagesXMLSitemap), what
    assert [found.url for found in sitemap.pages] == [A, B, C]


@pytest.mark.parametrize("junk", ["words", "<br/>", "<!-- x -->", "</urlset>", "\0\0", "<urlset>"])
def test_something_after_the_root_element(junk: str) -> None:
    assert urls(THREE + junk) == [A, B, C]


def test_junk_around_the_root_is_a_problem() -> None:
    assert "SM205" in [problem.code for problem in problems("Warning: x\n" + THREE)]
    assert "SM206" in [problem.code for problem in problems(THREE + "words")]


ENTITIES = f'<!DOCTYPE urlset [<!ENTITY x "boom">]>{urlset(u("http://h.example/&x;"))}'
BOMB = (
    '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    f'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>{urlset(u("http://h.example/&c;"))}'
)
OUTSIDE = (
    f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>{urlset(u("http://h/&x;"))}'
)


@pytest.mark.parametrize("document", [ENTITIES, BOMB, OUTSIDE], ids=["one", "bomb", "outside"])
def test_a_doctype_that_declares_entities_is_refused(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, InvalidSitemap)
    assert "entit" in sitemap.reason.lower()
    assert "boom" not in sitemap.reason


HTML = [
    "<!DOCTYPE html><html><head><title>404</title></head><body>No</body></html>",
    "<html><body><p>unclosed<br></body></html>",
    "<!doctype HTML>\n<HTML><BODY>",
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>',
]


@pytest.mark.parametrize("document", HTML)
def test_an_html_page_is_invalid_and_the_reason_says_so(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, InvalidSitemap)
    assert "HTML" in sitemap.reason


# NamespaceScope and namespaces

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
    ("a prefix that is never declared", f"<sm:urlset>{PREFIXED}</sm:urlset>"),
    ("an element between", f"<urlset {SM}>{u(A)}<x><y/>text</x>{u(B)}</urlset>"),
    ("an element inside", f"<urlset {SM}>{u(A, '<x><y/>text</x>')}{u(B)}</urlset>"),
    ("text between", f"<urlset {SM}>hello{u(A)}there{u(B)}</urlset>"),
    ("attributes", f'<urlset {SM} id="1"><url n="1"><loc x="y">{A}</loc></url>{u(B)}</urlset>'),
]


@pytest.mark.parametrize(("what", "document"), NAMES, ids=[row[0] for row in NAMES])
def test_names_and_namespaces(what: str, document: str) -> None:
    assert urls(document) == [A, B], what


def test_usual_prefixes_that_are_never_declared() -> None:
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


# Cuts


def test_a_file_cut_off_anywhere_gives_every_complete_entry() -> None:
    document = DECLARATION + urlset(u(A, "<priority>0.9</priority>"), u(B), u(C))
    for length in range(len(document)):
        cut = document[:length]
        sitemap = sitemap_from_str(cut)
        found = [entry.url for entry in sitemap.pages]
        assert found == [A, B, C][: cut.count("</url>")], cut[-40:]
        if found:
            assert not sitemap.complete


def test_a_cut_document_has_a_problem_and_a_whole_one_is_complete() -> None:
    cut = sitemap_from_str(THREE.removesuffix("</url></urlset>"))
    assert [found.url for found in cut.pages] == [A, B]
    assert "SM207" in [problem.code for problem in cut.problems]
    whole = sitemap_from_str(THREE)
    assert whole.complete
    assert whole.problems == ()


def test_an_index_cut_off_keeps_each_child_whose_loc_was_complete() -> None:
    document = DECLARATION + index(A, B, C)
    for length in range(document.index("<sitemap>"), len(document)):
        cut = document[:length]
        assert children(cut) == [A, B, C][: cut.count("</loc>")], cut[-40:]


UNCLOSED = [
    ("url never closed", f"<url><loc>{A}</loc>{u(B)}", [A, B]),
    ("loc never closed", f"<url><loc>{A}</url>{u(B)}", [A, B]),
    ("both never closed", f"<url><loc>{A}\n<url><loc>{B}</loc></url>", [A, B]),
    ("two never closed", f"<url><loc>{A}</loc><url><loc>{B}</loc>{u(C)}", [A, B, C]),
    ("closed twice", f"{u(A)}</url>{u(B)}", [A, B]),
    ("closed crosswise", f"<url><loc>{A}</url></loc>{u(B)}", [A, B]),
]


@pytest.mark.parametrize(("what", "inside", "expected"), UNCLOSED, ids=[row[0] for row in UNCLOSED])
def test_an_entry_never_closed_is_damage_not_the_end(
    what: str, inside: str, expected: list[str]
) -> None:
    document = urlset(inside, u(f"{C}/last"))
    sitemap = sitemap_from_str(document)
    assert [found.url for found in sitemap.pages] == [*expected, f"{C}/last"], what
    assert sitemap.problems


BROKEN = [
    ("a bare <", u("http://h.example/1<2")),
    ("a tag that never ends", "<url><loc>http://h.example/x</loc"),
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


@pytest.mark.parametrize(("what", "broken"), BROKEN, ids=[row[0] for row in BROKEN])
@pytest.mark.parametrize("place", [0, 1, 300])
def test_a_broken_entry_never_costs_the_rest(what: str, broken: str, place: int) -> None:
    sound = [f"{A}/{number}" for number in range(400)]
    entries = [u(url) for url in sound]
    document = urlset(*entries[:place], broken, *entries[place:])
    sitemap = sitemap_from_str(document)
    found = [entry.url for entry in sitemap.pages]
    assert [url for url in found if url in set(sound)] == sound, what
    assert len(found) <= len(sound) + 1
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


# Anything at all

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
def test_nonsense_never_raises_and_never_looks_whole(document: str | bytes) -> None:
    sitemap = sitemap_from_str(document)
    assert sitemap.pages == []
    assert sitemap.sub_sitemaps == []
    if document != "<urlset/>":
        assert not sitemap.complete


@pytest.mark.parametrize("document", ["", "words", '{"a": 1}'])
def test_bytes_that_were_not_understood_are_a_problem(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, PagesTextSitemap)
    assert [problem.severity for problem in sitemap.problems] == ["error"]
