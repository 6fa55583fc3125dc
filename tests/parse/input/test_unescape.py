"""Documents that were escaped as a whole, as HTML, JSON, Python or CDATA."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
from collections.abc import Callable

import pytest

import usp
from tests.parse.reading import SM, children, index, problems, u, urls, urlset
from usp._parse.document import Pages, Source, inspect
from usp._parse.input.unescape import ESCAPES, Escape, unescape
from usp.objects.sitemap import InvalidSitemap

A, B = "http://h/a", "http://h/b"
TWO = urlset(u(A), u(B), namespaces=SM)

ESCAPED = {
    "html": html.escape(TWO),
    "html without quotes": html.escape(TWO, quote=False),
    "numbers": TWO.replace("<", "&#60;").replace(">", "&#x3E;"),
    "in a web service": f'<?xml version="1.0"?><string xmlns="x">{html.escape(TWO)}</string>',
    "json": json.dumps(TWO),
    "json with slashes": json.dumps(TWO).replace("/", "\\/"),
    "json without brackets": json.dumps(TWO).replace("<", "\\u003c").replace(">", "\\u003E"),
    "json in an object": json.dumps({"sitemap": TWO}),
    "python": repr(f"\n{TWO}\n".encode()),
    "cdata": f"<string><![CDATA[{TWO}]]></string>",
}


@pytest.mark.parametrize("what", ESCAPED)
def test_an_escaped_document_is_read(what: str) -> None:
    sitemap = usp.parse(ESCAPED[what])
    assert [page.url for page in sitemap.pages] == [A, B]
    assert "SM222" in {problem.code for problem in sitemap.problems}
    assert sitemap.complete


def test_an_escaped_index_and_double_escapes() -> None:
    assert children(html.escape(index(A, B))) == [A, B]
    assert urls(html.escape(urlset(u("http://h/?a=1&amp;b=2")))) == ["http://h/?a=1&b=2"]
    mixed = urlset(u(A), f"<sitemap><loc>{B}</loc></sitemap>")
    assert children(html.escape(mixed)) == [B]


def test_problems_have_positions_in_the_escaped_document() -> None:
    escaped = html.escape(f"<urlset {SM}>\n{u('http://h/x y')}</urlset>", quote=False)
    (whole, space) = problems(escaped)
    assert (whole.code, whole.line, whole.offset) == ("SM222", 1, 0)
    assert (space.code, space.line, space.offset) == ("SM308", 2, escaped.index("\n") + 1)


@pytest.mark.parametrize("escape", ESCAPES)
def test_any_chunking_gives_the_same_text(escape: Escape) -> None:
    for document in ("a &lt;&amp;lt; &#60;", "\\\\n \\n \\\\\\n \\u003c \\/ \\"):
        whole = document.encode()
        expected = b"".join(unescape(escape, [whole]))
        for size in range(1, len(whole)):
            chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
            assert b"".join(unescape(escape, chunks)) == expected


@pytest.mark.parametrize(
    "page",
    [
        f"<html><body><pre>{html.escape(TWO)}</pre></body></html>",
        f"<meta/><body>{TWO}</body>",
        "<Error><Message>no &lt;urlset&gt;</Message></Error>",
        "<opml><body><outline/></body></opml>",
        "<p>Not found</p>",
    ],
)
def test_an_html_page_that_shows_a_sitemap_is_invalid(page: str) -> None:
    assert isinstance(usp.parse(page), InvalidSitemap)


def test_an_escaped_root_after_lines_of_urls_is_ignored() -> None:
    sitemap = usp.parse(f"{A}\n&lt;urlset&gt;&lt;url&gt;&lt;loc&gt;{B}&lt;/loc&gt;\n")
    assert [page.url for page in sitemap.pages] == [A]


def numbered(count: int, more: str) -> str:
    # URLs that hardly shrink: the compressed document has several chunks.
    names = (hashlib.sha256(b"%d" % at).hexdigest()[:20] for at in range(count))
    return f"<urlset {SM}>{''.join(u(f'http://h/{name}') for name in names)}{more}</urlset>"


@pytest.mark.parametrize("count", [10, 500, 1000, 6000])
@pytest.mark.parametrize("escape", [html.escape, json.dumps, "<x><![CDATA[{}]]></x>".format])
def test_a_large_escaped_document_is_whole_however_it_comes(
    count: int, escape: Callable[[str], str]
) -> None:
    data = escape(numbered(count, f"<sitemap><loc>{B}</loc></sitemap>")).encode()
    sizes = [1000, 64 * 1024, 256 * 1024, len(data)]
    pieces = [[data[at : at + size] for at in range(0, len(data), size)] for size in sizes]
    for chunks in (*pieces, [gzip.compress(data)]):
        document = inspect(Source(chunks, "http://h/s.xml"))
        assert isinstance(document.pages, Pages)
        assert document.known_errors == ()
        assert [child.url for child in document.children] == [B]
        assert len(list(document.pages)) == count
        assert document.pages.complete


@pytest.mark.parametrize("more", [f"<sitemap><loc>{B}</loc></sitemap>", ""])
@pytest.mark.parametrize("count", [1, 1500, 1600, 1700, 1800, 7000])
def test_a_document_of_any_size_is_whole(count: int, more: str) -> None:
    document = numbered(count, more)
    padded = [" " * (64 * 1024 - len(document) + by) + document for by in (-1, 0, 1)]
    for text in (document, *padded):
        for data in (text.encode(), gzip.compress(text.encode()), text.encode("utf-16")):
            sitemap = usp.parse(data)
            assert len(sitemap.pages) == count
            assert [child.url for child in sitemap.sub_sitemaps] == ([B] if more else [])
            assert sitemap.complete
