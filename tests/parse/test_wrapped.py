"""What stands around URLs and documents is no part of them, and all else stays as it is written."""

from __future__ import annotations

import gzip
import html
import json
import zlib

import pytest

import usp
from tests.parse.reading import SM, children, index, problems, rss, u, urls, urlset
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Source, inspect
from usp._parse.input.decompress import decompress
from usp._parse.input.unescape import ESCAPES, unescape
from usp.objects.sitemap import InvalidSitemap, PagesTextSitemap

A, B, C = "http://h/a", "http://h/b", "http://h/c"
TWO = urlset(u(A), u(B), namespaces=SM)
MESSAGE = "Notice: Undefined index: x in /srv/x.php on line 3"
MARKED_UP = "<br />\n<b>Warning</b>:  x in <b>/srv/x.php</b> on line <b>3</b><br />\n"

# URLs

WRAPPED = [
    f"{MESSAGE} {B}",
    f"{MESSAGE}{B}",
    f"\n{MESSAGE}\n{MESSAGE}\n{B}",
    f"{B}\n{MESSAGE}",
    MARKED_UP + B,
    MARKED_UP + MARKED_UP + B,
    B + MARKED_UP,
    f"Warning: fopen(http://h/x): failed in /x.php on line 3 {B}",
    f"Deprecated: no more of this\n{B}",
    f"PHP Fatal error: x {B}",
    f"URL: {B}",
    f'"{B}"',
    f"'{B}'",
    f"`{B}`",
    f"({B})",
    f"[{B}]",
    f"&lt;{B}&gt;",
    f"\u201c{B}\u201d",
    f"\u201d{B}\u201d",
    f"\u201e{B}\u201c",
    f"\u00ab {B} \u00bb",
    f"&amp;quot;{B}&amp;quot;",
    f'"{B}',
    f">{B}",
    f"={B}",
    f"<![CDATA[<p>{B}</p>]]>",
    f"[CDATA[{B}]]",
    f"&lt;![CDATA[{B}]]&gt;",
    f"{B}&lt;/loc&gt;",
    f"{B}&lt;br /&gt;",
]
AS_WRITTEN = [
    "http://h/a b c",
    "http://h/a_(b)",
    "http://h/a'b'",
    'http://h/b"',
    "http://h/b)",
    "http://h/&lt;id&gt;",
    "http://h/?q=Notice: x",
    "http://h/on line 3",
    "http://web/2020/http://h/b",
    "my page.html",
    "(my page).html",
    "/go?to=http://h/b",
    "go to?u=http://h/b",
    "words http://h/b and more",
    "http://h/b is the page",
    "('words')",
]


@pytest.mark.parametrize("text", WRAPPED)
def test_what_stands_around_a_url_is_taken_off_and_told(text: str) -> None:
    document = urlset(u(A), f"\n{u(text)}", u(C))
    assert urls(document) == [A, B, C]
    (told,) = (problem for problem in problems(document) if problem.code == "SM311")
    assert (told.line, told.offset) == (2, document.index("\n") + 1)
    assert children(index(A, text, C)) == [A, B, C]
    item = f"<item><title>T</title><link>{text}</link></item>"
    assert urls(rss(item)) == [B]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_what_may_be_meant_stays_as_it_is_written(text: str) -> None:
    document = urlset(u(A), u(text), u(C))
    assert urls(document) == [A, html.unescape(text), C]
    assert "SM311" not in {problem.code for problem in problems(document)}


def test_a_text_longer_than_any_url_is_left_alone() -> None:
    text = f"{'x ' * 5000}{B}"
    assert urls(urlset(u(text))) == [text]


QUOTED_LINES = [f'"{B}"', f"'{B}'", f"<{B}>", f"({B})", f"`{B}`", f"\u2018{B}\u2019"]


@pytest.mark.parametrize("line", QUOTED_LINES)
def test_quotes_around_lines(line: str) -> None:
    text = usp.parse(f"{A}\n{line}\n{C}\n")
    assert [page.url for page in text.pages] == [A, B, C]
    assert [(problem.code, problem.line) for problem in text.problems] == [("SM311", 2)]
    robots = usp.parse(f"User-agent: *\nSitemap: {line}\n", url="http://h/robots.txt")
    assert [child.url for child in robots.sub_sitemaps] == [B]
    assert [(problem.code, problem.line) for problem in robots.problems] == [("SM607", 2)]


@pytest.mark.parametrize("line", [f'["{A}"]', f'"{A}","2020"', f"- {A}", f"see {A}", f"{A}<br>"])
def test_a_line_that_says_more_than_a_url_is_none(line: str) -> None:
    text = usp.parse(f"{line}\n")
    assert isinstance(text, PagesTextSitemap)
    assert list(text.pages) == []


# Documents

ESCAPED = {
    "html": html.escape(TWO),
    "html without quotes": html.escape(TWO, quote=False),
    "numbers": TWO.replace("<", "&#60;").replace(">", "&#x3E;"),
    "in a service": f'<?xml version="1.0"?><string xmlns="x">{html.escape(TWO)}</string>',
    "json": json.dumps(TWO),
    "json with slashes": json.dumps(TWO).replace("/", "\\/"),
    "json without brackets": json.dumps(TWO).replace("<", "\\u003c").replace(">", "\\u003E"),
    "json in an object": json.dumps({"sitemap": TWO}),
    "python": repr(f"\n{TWO}\n".encode()),
    "cdata": f"<string><![CDATA[{TWO}]]></string>",
}


@pytest.mark.parametrize("what", ESCAPED)
def test_a_document_escaped_whole(what: str) -> None:
    sitemap = usp.parse(ESCAPED[what])
    assert [page.url for page in sitemap.pages] == [A, B]
    assert "SM222" in {problem.code for problem in sitemap.problems}
    assert sitemap.complete


def test_an_index_and_double_escapes_in_a_document_escaped_whole() -> None:
    assert children(html.escape(index(A, B))) == [A, B]
    assert urls(html.escape(urlset(u("http://h/?a=1&amp;b=2")))) == ["http://h/?a=1&b=2"]
    mixed = urlset(u(A), f"<sitemap><loc>{B}</loc></sitemap>")
    assert children(html.escape(mixed)) == [B]


def test_problems_of_an_escaped_document_tell_its_own_places() -> None:
    escaped = html.escape(f"<urlset {SM}>\n{u('http://h/x y')}</urlset>", quote=False)
    (whole, blank) = problems(escaped)
    assert (whole.code, whole.line, whole.offset) == ("SM222", 1, 0)
    assert (blank.code, blank.line, blank.offset) == ("SM308", 2, escaped.index("\n") + 1)


@pytest.mark.parametrize("escape", ESCAPES)
def test_escapes_are_decoded_however_the_chunks_fall(escape: object) -> None:
    kind = next(known for known in ESCAPES if known is escape)
    for document in ("a &lt;&amp;lt; &#60;", "\\\\n \\n \\\\\\n \\u003c \\/ \\"):
        whole = document.encode()
        expected = b"".join(unescape(kind, [whole]))
        for size in range(1, len(whole)):
            chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
            assert b"".join(unescape(kind, chunks)) == expected


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
def test_a_page_that_shows_a_sitemap_is_none(page: str) -> None:
    assert isinstance(usp.parse(page), InvalidSitemap)


def test_an_escaped_root_behind_lines_of_urls_is_no_document() -> None:
    sitemap = usp.parse(f"{A}\n&lt;urlset&gt;&lt;url&gt;&lt;loc&gt;{B}&lt;/loc&gt;\n")
    assert [page.url for page in sitemap.pages] == [A]


# Bytes

PACKED = gzip.compress(TWO.encode())


def raw_deflate(data: bytes, level: int = 6) -> bytes:
    packer = zlib.compressobj(level, wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


BYTES = {
    "raw": raw_deflate(TWO.encode()),
    "raw, stored": raw_deflate(TWO.encode(), 0),
    "raw, in UTF-16": raw_deflate(TWO.encode("utf-16")),
    "raw, text": raw_deflate(f"{A}\n{B}\n".encode()),
    "raw in gzip": gzip.compress(raw_deflate(TWO.encode())),
    "gzip behind a mark": b"\xef\xbb\xbf" + PACKED,
    "gzip behind marks and blanks": b"\n\xef\xbb\xbf \xef\xbb\xbf" + PACKED,
    "gzip behind 4,000 blanks": b"\n" * 4000 + PACKED,
    "gzip behind a warning": b"<br />\n<b>Warning</b>: x\n" + PACKED,
    "zlib behind blanks": b" \n" + zlib.compress(TWO.encode()),
    "gzip behind zlib": zlib.compress(TWO[:40].encode()) + gzip.compress(TWO[40:].encode()),
}


@pytest.mark.parametrize("what", BYTES)
def test_packed_bytes(what: str) -> None:
    assert urls(BYTES[what]) == [A, B]


@pytest.mark.parametrize(
    "data",
    [
        raw_deflate(b"\x89PNG\r\n" + bytes(200)),
        raw_deflate(b"words, and no document"),
        b"\x05\x00\x00\x00",
        "\u00e9t\u00e9".encode("latin-1"),
        b"\x01" * 5000,
    ],
)
def test_bytes_that_inflate_to_no_document_stay_as_they_are(data: bytes) -> None:
    assert b"".join(decompress([data], Diagnostics())) == data


def test_raw_deflate_that_is_cut_off_and_one_that_is_a_bomb() -> None:
    cut = usp.parse(raw_deflate(TWO.encode())[:-20])
    assert not cut.complete
    bomb = raw_deflate(b"<urlset>" + bytes(50_000_000))
    diagnostics = Diagnostics()
    size = sum(map(len, decompress([bomb], diagnostics, 1_000_000)))
    assert size == 1_000_000
    assert [problem.code for problem in diagnostics.problems] == ["SM701"]


@pytest.mark.parametrize("name", ["utf-16le", "utf-16be", "utf-16", "utf-32le", "utf-32"])
@pytest.mark.parametrize("lead", ["", "\u00e9\n", "\u65e5\u672c\n"])
def test_a_wide_charset_of_http_holds_where_the_bytes_decode(name: str, lead: str) -> None:
    codec = name if name.endswith(("le", "be")) else f"{name}le"
    found = inspect(Source([(lead + TWO).encode(codec)], charset=name))
    assert [page.url for page in found.pages] == [A, B]


@pytest.mark.parametrize("name", ["utf-16le", "utf-16", "utf-32"])
@pytest.mark.parametrize("blanks", ["", " "])
def test_a_wide_charset_of_http_does_not_hold_for_utf_8(name: str, blanks: str) -> None:
    found = inspect(Source([(TWO + blanks).encode()], charset=name))
    assert [page.url for page in found.pages] == [A, B]


# Sizes

MIB = 1024 * 1024
SHELLS = {
    "text": ("<url><loc>http://h/b</loc><x>", "</x></url>"),
    "an attribute": ('<url><loc>http://h/b</loc><x y="', '"/></url>'),
    "a comment": ("<url><loc>http://h/b</loc><!--", "--></url>"),
    "damage": ("<url><loc>http://h/b</loc><x>", "&</x></url>"),
}


@pytest.mark.parametrize("what", SHELLS)
@pytest.mark.parametrize("lead", [0, 100_000, 262_100])
@pytest.mark.parametrize(("size", "expected"), [(MIB, [A, B, C]), (MIB + 1, [A, C])])
def test_an_entry_is_read_or_refused_by_its_size_alone(
    what: str, lead: int, size: int, expected: list[str]
) -> None:
    begin, end = SHELLS[what]
    entry = begin + "y" * (size - len(begin) - len(end)) + end
    assert urls(urlset(u(A), " " * lead, entry, u(C))) == expected
