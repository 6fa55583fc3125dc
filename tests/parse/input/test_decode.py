"""Charsets: byte order marks, HTTP charsets, XML declarations, and invalid bytes."""

from __future__ import annotations

import pytest

from tests.parse.reading import problems, read, u, urls, urlset
from tests.server import Answer, LoopbackServer
from usp._parse.document import Source, inspect
from usp.fetch_parse import SitemapFetcher

A, B = "http://h.example/a", "http://h.example/b"
TWO = urlset(u(A), u(B))
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

LATIN_URL = "http://h.example/é"
ENCODED = [
    ("UTF-8", DECLARATION, "utf-8", LATIN_URL),
    ("UTF-8 with BOM", DECLARATION, "utf-8-sig", LATIN_URL),
    ("UTF-8 undeclared", "", "utf-8", LATIN_URL),
    ("Latin 1", '<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1", LATIN_URL),
    ("Latin 2", '<?xml version="1.0" encoding="iso-8859-2"?>', "iso-8859-2", "http://h.example/č"),
    ("Latin 15", "<?xml version='1.0' encoding='iso-8859-15'?>", "iso-8859-15", "http://h/€"),
    ("Windows", '<?xml version="1.0" encoding="windows-1251"?>', "cp1251", "http://h.example/ж"),
    ("Shift_JIS", '<?xml version="1.0" encoding="Shift_JIS"?>', "shift_jis", "http://h/日本"),
    ("GB2312", '<?xml version="1.0" encoding="gb2312"?>', "gb2312", "http://h.example/中文"),
    ("GBK", '<?xml version="1.0" encoding="GBK"?>', "gbk", "http://h.example/中文"),
    ("Big5", '<?xml version="1.0" encoding="big5"?>', "big5", "http://h.example/中文"),
    ("EUC-JP", '<?xml version="1.0" encoding="euc-jp"?>', "euc-jp", "http://h.example/日本"),
    ("EUC-KR", '<?xml version="1.0" encoding="euc-kr"?>', "euc-kr", "http://h.example/한국"),
    ("UTF-16 with BOM", '<?xml version="1.0" encoding="UTF-16"?>', "utf-16", LATIN_URL),
    ("UTF-16 LE", '<?xml version="1.0" encoding="UTF-16"?>', "utf-16-le", LATIN_URL),
    ("UTF-16 BE", '<?xml version="1.0" encoding="UTF-16"?>', "utf-16-be", LATIN_URL),
    ("UTF-16 undeclared", "", "utf-16-le", LATIN_URL),
    ("UTF-8 declared as UTF-16", '<?xml version="1.0" encoding="UTF-16"?>', "utf-8", LATIN_URL),
    ("an unknown name", '<?xml version="1.0" encoding="no-such-thing"?>', "utf-8", LATIN_URL),
    ("an empty name", '<?xml version="1.0" encoding=""?>', "utf-8", LATIN_URL),
]


@pytest.mark.parametrize(
    ("what", "declaration", "codec", "url"), ENCODED, ids=[row[0] for row in ENCODED]
)
def test_declared_encodings(what: str, declaration: str, codec: str, url: str) -> None:
    data = (declaration + urlset(u(A), u(url), u(B))).encode(codec)
    assert urls(data) == [A, url, B], what


def test_the_declaration_of_a_string_is_ignored() -> None:
    for name in ("ISO-8859-1", "UTF-16", "shift_jis", "no-such-thing"):
        document = f'<?xml version="1.0" encoding="{name}"?>{urlset(u(LATIN_URL))}'
        assert urls(document) == [LATIN_URL]


def test_invalid_bytes_are_replaced() -> None:
    data = urlset(u(A), u("http://h.example/@"), u(B)).encode().replace(b"@", b"\xff\xfe")
    first, replaced, last = urls(data)
    assert (first, last) == (A, B)
    assert replaced.startswith("http://h.example/\ufffd")
    assert "SM212" in [problem.code for problem in problems(data)]


def fetched(server: LoopbackServer, body: bytes, content_type: str, path: str = "/s") -> list[str]:
    server.site[path] = Answer(body=body, headers={"Content-Type": content_type})
    return [found.url for found in SitemapFetcher(server.at(path), 0).sitemap().pages]


CHARSETS = [
    ("HTTP only", "cp1251", "application/xml; charset=windows-1251", ""),
    ("HTTP precedes the declaration", "cp1251", 'text/xml; charset="windows-1251"', DECLARATION),
    ("a byte order mark precedes HTTP", "utf-8-sig", "text/xml; charset=windows-1251", ""),
    ("an unknown charset", "utf-8", "text/xml; charset=nonsense", ""),
    ("no charset", "utf-8", "text/xml", ""),
]


@pytest.mark.parametrize(
    ("what", "codec", "content_type", "declaration"), CHARSETS, ids=[row[0] for row in CHARSETS]
)
def test_precedence(
    server: LoopbackServer, what: str, codec: str, content_type: str, declaration: str
) -> None:
    url = "http://h.example/ж"
    body = (declaration + urlset(u(url))).encode(codec)
    assert fetched(server, body, content_type) == [url], what


def test_text_in_utf_16() -> None:
    assert urls(f"{A}\n{B}\n".encode("utf-16")) == [A, B]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("before", ["", "\r\n\n", f"{A}?\u00e9\r\n", f"{A}\n" * 300])
def test_the_offset_of_a_line_is_that_in_the_document_as_received(codec: str, before: str) -> None:
    before = f"{A}\n{before}"
    body = f"{before}not a URL\n{B}\n".encode(codec)
    found = read(body, url="http://h/s.txt", charset="cp1252" if codec == "cp1252" else None)
    (problem,) = [one for one in found.problems if one.code == "SM309"]
    position = before.count("\n") + 1, len(before.encode(codec))
    assert (problem.line, problem.offset) == position


@pytest.mark.parametrize("invalid", [b"\xff", b"\xff\xfe\xfd"])
def test_an_invalid_byte_counts_as_one(invalid: bytes) -> None:
    lines = A.encode() + invalid + b"\nnot a URL\n" + B.encode()
    (problem,) = [one for one in read(lines).problems if one.code == "SM309"]
    assert problem.offset == lines.index(b"not")


def test_the_byte_of_a_line_feed_in_another_character_ends_no_line() -> None:
    body = "\u0a0a\u0a0a\n".encode("utf-16") + b"\x00\xdc" + f"\n{A}".encode("utf-16-le")
    (problem,) = [one for one in read(body).problems if one.code == "SM212"]
    assert (problem.line, problem.offset) == (2, 8)


@pytest.mark.parametrize("name", ["utf-16le", "utf-16be", "utf-16", "utf-32le", "utf-32"])
@pytest.mark.parametrize("before", ["", "\u00e9\n", "\u65e5\u672c\n"])
def test_utf_16_and_utf_32_of_http_are_used_if_the_bytes_decode(name: str, before: str) -> None:
    codec = name if name.endswith(("le", "be")) else f"{name}le"
    found = inspect(Source([(before + TWO).encode(codec)], charset=name))
    assert [page.url for page in found.pages] == [A, B]


@pytest.mark.parametrize("name", ["utf-16le", "utf-16", "utf-32"])
@pytest.mark.parametrize("blanks", ["", " "])
def test_utf_16_and_utf_32_of_http_are_ignored_for_utf_8(name: str, blanks: str) -> None:
    found = inspect(Source([(TWO + blanks).encode()], charset=name))
    assert [page.url for page in found.pages] == [A, B]
