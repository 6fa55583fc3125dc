"""Decompression: gzip, zlib and raw deflate, detected by their first bytes, with a limit."""

from __future__ import annotations

import gzip
import zlib

import pytest

import usp
from tests.parse.reading import SM, u, urls, urlset
from tests.server import Answer, LoopbackServer
from usp._parse.diagnostics import Diagnostics
from usp._parse.input.decompress import decompress
from usp.fetch_parse import SitemapFetcher
from usp.tree import sitemap_from_str

A, B, C = "http://h.example/a", "http://h.example/b", "http://h.example/c"
TWO = urlset(u(A), u(B), namespaces=SM)
THREE = urlset(u(A), u(B), u(C))


def fetched(server: LoopbackServer, body: bytes, content_type: str, path: str = "/s") -> list[str]:
    server.site[path] = Answer(body=body, headers={"Content-Type": content_type})
    return [page.url for page in SitemapFetcher(server.at(path), 0).sitemap().pages]


def test_gzip_is_detected_by_its_first_bytes(server: LoopbackServer) -> None:
    compressed = gzip.compress(THREE.encode())
    for path in ("/s.xml.gz", "/s.xml", "/s"):
        for content_type in ("application/gzip", "text/xml", "text/html"):
            assert fetched(server, compressed, content_type, path) == [A, B, C]


def test_a_gz_that_is_not_gzip_is_read_as_it_is(server: LoopbackServer) -> None:
    assert fetched(server, THREE.encode(), "application/gzip", "/s.xml.gz") == [A, B, C]


def test_gzip_without_fetching() -> None:
    assert urls(gzip.compress(THREE.encode())) == [A, B, C]


def test_several_gzip_members_are_one_document() -> None:
    half = len(THREE) // 2
    compressed = gzip.compress(THREE[:half].encode()) + gzip.compress(THREE[half:].encode())
    assert urls(compressed) == [A, B, C]


def test_junk_after_gzip_is_ignored() -> None:
    assert urls(gzip.compress(THREE.encode()) + b"junk\0\0") == [A, B, C]


def test_a_truncated_gzip_keeps_what_was_decompressed() -> None:
    valid = [f"http://h.example/{zlib.crc32(str(n).encode())}" for n in range(3000)]
    compressed = gzip.compress(urlset(*map(u, valid)).encode())
    truncated = sitemap_from_str(compressed[: len(compressed) // 2])
    found = [entry.url for entry in truncated.pages]
    assert found == valid[: len(found)]
    assert len(found) > 1000
    assert not truncated.complete
    assert "SM214" in [problem.code for problem in truncated.problems]


def test_gzip_inside_a_gzip_content_encoding(server: LoopbackServer) -> None:
    compressed = gzip.compress(gzip.compress(THREE.encode()))
    server.site["/s.xml.gz"] = Answer(body=compressed, headers={"Content-Encoding": "gzip"})
    sitemap = SitemapFetcher(server.at("/s.xml.gz"), 0).sitemap()
    assert [found.url for found in sitemap.pages] == [A, B, C]


GZIPPED = gzip.compress(TWO.encode())


def raw_deflate(data: bytes, level: int = 6) -> bytes:
    deflater = zlib.compressobj(level, wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


COMPRESSED = {
    "raw": raw_deflate(TWO.encode()),
    "raw, uncompressed": raw_deflate(TWO.encode(), 0),
    "raw, in UTF-16": raw_deflate(TWO.encode("utf-16")),
    "raw, JSON": raw_deflate(
        b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "%s", '
        b'"title": "T"}, {"id": "2", "url": "%s", "title": "T"}]}' % (A.encode(), B.encode())
    ),
    "raw, text": raw_deflate(f"{A}\n{B}\n".encode()),
    "raw in gzip": gzip.compress(raw_deflate(TWO.encode())),
    "gzip after a byte order mark": b"\xef\xbb\xbf" + GZIPPED,
    "gzip after byte order marks and whitespace": b"\n\xef\xbb\xbf \xef\xbb\xbf" + GZIPPED,
    "gzip after 4,000 line breaks": b"\n" * 4000 + GZIPPED,
    "gzip after a warning": b"<br />\n<b>Warning</b>: x\n" + GZIPPED,
    "zlib after whitespace": b" \n" + zlib.compress(TWO.encode()),
    "gzip after zlib": zlib.compress(TWO[:40].encode()) + gzip.compress(TWO[40:].encode()),
}


@pytest.mark.parametrize("what", COMPRESSED)
def test_compressed_documents(what: str) -> None:
    assert urls(COMPRESSED[what]) == [A, B]


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
def test_bytes_that_give_no_document_stay_as_they_are(data: bytes) -> None:
    assert b"".join(decompress([data], Diagnostics())) == data


def test_truncated_raw_deflate_is_not_complete() -> None:
    assert not usp.parse(raw_deflate(TWO.encode())[:-20]).complete


def test_a_decompression_bomb_stops_at_the_limit() -> None:
    bomb = raw_deflate(b"<urlset>" + bytes(50_000_000))
    diagnostics = Diagnostics()
    size = sum(map(len, decompress([bomb], diagnostics, 1_000_000)))
    assert size == 1_000_000
    assert [problem.code for problem in diagnostics.problems] == ["SM701"]


def layered(data: bytes, limit: int) -> tuple[bytes, list[str]]:
    diagnostics = Diagnostics()
    found = b"".join(decompress([data], diagnostics, limit))
    return found, [problem.code for problem in diagnostics.problems]


def test_layers_count_together_against_the_limit() -> None:
    document = TWO.encode()
    inner = gzip.compress(document)
    outer = gzip.compress(inner)
    assert layered(outer, len(inner) + len(document)) == (document, [])
    found, codes = layered(outer, len(inner) + len(document) - 1)
    assert (found, codes) == (document[:-1], ["SM701"])
    assert layered(outer, len(inner) - 1) == (b"", ["SM701"])


def test_a_document_may_expand_as_far_as_the_limit() -> None:
    document = b"<urlset>" + bytes(3_000_000)
    once = gzip.compress(document)
    assert layered(once, len(document)) == (document, [])
    assert layered(gzip.compress(once), len(document) + len(once)) == (document, [])


def test_compressed_data_that_expands_to_compressed_data_is_not_read_further() -> None:
    inner = gzip.compress(THREE.encode()) + gzip.compress(b"") * 100_000
    found, codes = layered(gzip.compress(inner), 100_000_000)
    assert found == THREE.encode()
    assert codes == ["SM701"]


LINES = ["".join(f"http://h.example/{part}{n}\n" for n in range(100)) for part in "ab"]
FIRST, SECOND = (gzip.compress(text.encode(), mtime=0) for text in LINES)
DAMAGED_MEMBERS = {
    "cut after the first byte of a member": FIRST + SECOND[:1],
    "a flipped bit in the signature of a later member": FIRST + b"\x1f\x8a" + SECOND[2:],
    "a flipped bit in the signature of the first member": b"\x1f\x8a" + FIRST[2:] + SECOND,
}


@pytest.mark.parametrize("body", DAMAGED_MEMBERS.values(), ids=DAMAGED_MEMBERS)
def test_a_member_of_gzip_that_is_lost_is_told(body: bytes) -> None:
    sitemap = usp.parse(body, url="http://h.example/s.txt")
    assert len(list(sitemap.all_pages())) < 200
    assert not sitemap.complete
    assert "SM214" in {problem.code for problem in sitemap.problems}


def test_the_line_at_which_a_member_of_gzip_is_lost_is_no_page() -> None:
    body = gzip.compress(LINES[0].encode()[:-3]) + b"\x1f\x8a" + SECOND[2:]
    pages = list(usp.parse(body, url="http://h.example/s.txt").all_pages())
    assert [page.url for page in pages] == LINES[0].split()[:-1]
