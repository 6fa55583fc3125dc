"""Bytes before they are text: which encoding, which compression, and what a cut one still gives.

Rules of this room: documents are bytes, read from memory or fetched from a loopback server where
HTTP headers have a say.
"""

from __future__ import annotations

import gzip
import zlib

import pytest

from tests.parse.reading import problems, u, urls, urlset
from tests.server import Answer, LoopbackServer
from usp.fetch_parse import SitemapFetcher
from usp.tree import sitemap_from_str

A, B, C = "http://h.example/a", "http://h.example/b", "http://h.example/c"
THREE = urlset(u(A), u(B), u(C))
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

# Encodings

WORDS = "http://h.example/é"
ENCODED = [
    ("UTF-8", DECLARATION, "utf-8", WORDS),
    ("UTF-8 with BOM", DECLARATION, "utf-8-sig", WORDS),
    ("UTF-8 undeclared", "", "utf-8", WORDS),
    ("Latin 1", '<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1", WORDS),
    ("Latin 2", '<?xml version="1.0" encoding="iso-8859-2"?>', "iso-8859-2", "http://h.example/č"),
    ("Latin 15", "<?xml version='1.0' encoding='iso-8859-15'?>", "iso-8859-15", "http://h/€"),
    ("Windows", '<?xml version="1.0" encoding="windows-1251"?>', "cp1251", "http://h.example/ж"),
    ("Shift_JIS", '<?xml version="1.0" encoding="Shift_JIS"?>', "shift_jis", "http://h/日本"),
    ("GB2312", '<?xml version="1.0" encoding="gb2312"?>', "gb2312", "http://h.example/中文"),
    ("GBK", '<?xml version="1.0" encoding="GBK"?>', "gbk", "http://h.example/中文"),
    ("Big5", '<?xml version="1.0" encoding="big5"?>', "big5", "http://h.example/中文"),
    ("EUC-JP", '<?xml version="1.0" encoding="euc-jp"?>', "euc-jp", "http://h.example/日本"),
    ("EUC-KR", '<?xml version="1.0" encoding="euc-kr"?>', "euc-kr", "http://h.example/한국"),
    ("UTF-16 with BOM", '<?xml version="1.0" encoding="UTF-16"?>', "utf-16", WORDS),
    ("UTF-16 LE", '<?xml version="1.0" encoding="UTF-16"?>', "utf-16-le", WORDS),
    ("UTF-16 BE", '<?xml version="1.0" encoding="UTF-16"?>', "utf-16-be", WORDS),
    ("UTF-16 undeclared", "", "utf-16-le", WORDS),
    ("UTF-8 said to be UTF-16", '<?xml version="1.0" encoding="UTF-16"?>', "utf-8", WORDS),
    ("an unknown name", '<?xml version="1.0" encoding="no-such-thing"?>', "utf-8", WORDS),
    ("an empty name", '<?xml version="1.0" encoding=""?>', "utf-8", WORDS),
]


@pytest.mark.parametrize(
    ("what", "declaration", "codec", "url"), ENCODED, ids=[row[0] for row in ENCODED]
)
def test_encodings(what: str, declaration: str, codec: str, url: str) -> None:
    data = (declaration + urlset(u(A), u(url), u(B))).encode(codec)
    assert urls(data) == [A, url, B], what


def test_a_string_is_taken_as_it_is_whatever_its_declaration_says() -> None:
    for name in ("ISO-8859-1", "UTF-16", "shift_jis", "no-such-thing"):
        document = f'<?xml version="1.0" encoding="{name}"?>{urlset(u(WORDS))}'
        assert urls(document) == [WORDS]


def test_bytes_that_do_not_fit_are_replaced() -> None:
    data = urlset(u(A), u("http://h.example/@"), u(B)).encode().replace(b"@", b"\xff\xfe")
    first, odd, last = urls(data)
    assert (first, last) == (A, B)
    assert odd.startswith("http://h.example/\ufffd")
    assert "SM212" in [problem.code for problem in problems(data)]


def fetched(server: LoopbackServer, body: bytes, content_type: str, path: str = "/s") -> list[str]:
    server.site[path] = Answer(body=body, headers={"Content-Type": content_type})
    return [found.url for found in SitemapFetcher(server.at(path), 0).sitemap().pages]


CHARSETS = [
    ("HTTP alone", "cp1251", "application/xml; charset=windows-1251", ""),
    ("HTTP before the declaration", "cp1251", 'text/xml; charset="windows-1251"', DECLARATION),
    ("BOM before HTTP", "utf-8-sig", "text/xml; charset=windows-1251", ""),
    ("an unknown charset", "utf-8", "text/xml; charset=nonsense", ""),
    ("no charset", "utf-8", "text/xml", ""),
]


@pytest.mark.parametrize(
    ("what", "codec", "content_type", "declaration"), CHARSETS, ids=[row[0] for row in CHARSETS]
)
def test_the_order_of_belief(
    server: LoopbackServer, what: str, codec: str, content_type: str, declaration: str
) -> None:
    url = "http://h.example/ж"
    body = (declaration + urlset(u(url))).encode(codec)
    assert fetched(server, body, content_type) == [url], what


def test_text_and_robots_in_utf_16() -> None:
    assert urls(f"{A}\n{B}\n".encode("utf-16")) == [A, B]


# Compression


def test_gzip_is_known_by_its_first_bytes(server: LoopbackServer) -> None:
    packed = gzip.compress(THREE.encode())
    for path in ("/s.xml.gz", "/s.xml", "/s"):
        for content_type in ("application/gzip", "text/xml", "text/html"):
            assert fetched(server, packed, content_type, path) == [A, B, C]


def test_a_gz_that_is_no_gzip_is_read_as_it_is(server: LoopbackServer) -> None:
    assert fetched(server, THREE.encode(), "application/gzip", "/s.xml.gz") == [A, B, C]


def test_gzip_in_a_string_of_bytes() -> None:
    assert urls(gzip.compress(THREE.encode())) == [A, B, C]


def test_several_gzip_members_are_one_document() -> None:
    half = len(THREE) // 2
    packed = gzip.compress(THREE[:half].encode()) + gzip.compress(THREE[half:].encode())
    assert urls(packed) == [A, B, C]


def test_junk_after_gzip_costs_nothing() -> None:
    assert urls(gzip.compress(THREE.encode()) + b"junk\0\0") == [A, B, C]


def test_a_truncated_gzip_gives_all_that_came_out() -> None:
    sound = [f"http://h.example/{zlib.crc32(str(n).encode())}" for n in range(3000)]
    packed = gzip.compress(urlset(*map(u, sound)).encode())
    cut = sitemap_from_str(packed[: len(packed) // 2])
    found = [entry.url for entry in cut.pages]
    assert found == sound[: len(found)]
    assert len(found) > 1000
    assert not cut.complete
    assert "SM214" in [problem.code for problem in cut.problems]


def test_content_encoding_and_gz_together(server: LoopbackServer) -> None:
    packed = gzip.compress(gzip.compress(THREE.encode()))
    server.site["/s.xml.gz"] = Answer(body=packed, headers={"Content-Encoding": "gzip"})
    sitemap = SitemapFetcher(server.at("/s.xml.gz"), 0).sitemap()
    assert [found.url for found in sitemap.pages] == [A, B, C]
