"""Responses that break the rules of HTTP: the clients differ as the table in the docs says."""

import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp import http_parser

import usp
from tests.loops import run
from tests.server import LoopbackServer, urlset
from tests.servers import raw
from usp import aio

DOCS = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "asyncio.md"
TEXT = urlset("http://h.example/1", "http://h.example/2")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = len(TEXT)
FAULTS = {
    "two equal `Content-Length` headers": [
        b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (b"Content-Length: %d\r\n" % LENGTH * 2, TEXT)
    ],
    "a `Content-Length` that is not a number": [
        b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n%b" % (length, TEXT)
        for length in (b"", b"-1", b"x")
    ],
    "a `Content-Length` of more than 19 digits": [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1%b\r\n\r\n%b" % (b"0" * 22, TEXT)
    ],
    "`Content-Length` with `Transfer-Encoding`": [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"%x\r\n%b\r\n0\r\n\r\n" % (LENGTH, TEXT)
    ],
    "a header line without a colon, or with a space before it": [
        b"HTTP/1.1 200 OK\r\n%b\r\nContent-Length: %d\r\n\r\n%b" % (line, LENGTH, TEXT)
        for line in (b"line", b"name : value")
    ],
    "a header with a forbidden character": [
        b"HTTP/1.1 200 OK\r\na: b\0c\r\nContent-Length: %d\r\n\r\n%b" % (LENGTH, TEXT)
    ],
    "a chunk size with `+` or `0x`": [
        b"%b%b%x\r\n%b\r\n0\r\n\r\n" % (CHUNKED, sign, LENGTH, TEXT) for sign in (b"+", b"0x")
    ],
    "a chunk size that is negative or has more than 16 digits": [
        b"%b%b\r\n%b\r\n0\r\n\r\n" % (CHUNKED, size, TEXT) for size in (b"-5", b"f" * 20)
    ],
    "a last chunk without its empty line": [b"%b%x\r\n%b\r\n0\r\n" % (CHUNKED, LENGTH, TEXT)],
    "an empty line before the status line": [
        b"\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (LENGTH, TEXT)
    ],
    "`HTTP/1.2` in the status line": [b"HTTP/1.2 200 OK\r\n\r\n%b" % TEXT],
    "`HTTP/2.0` in the status line": [b"HTTP/2.0 200 OK\r\n\r\n%b" % TEXT],
}
"""Responses that the clients take differently, by their rows in the docs."""
FAULTS_SECTION = DOCS.read_text(encoding="utf-8").partition("\n### Malformed responses\n")[2]
FAULT_ROWS = {
    row: (in_threads, in_asyncio)
    for row, in_threads, in_asyncio in re.findall(
        r"^\| (.+) \| (.+) \| (.+) \|$", FAULTS_SECTION.partition("\n## ")[0], re.MULTILINE
    )
}
"""What the docs say of each: by the client on requests, and by the one on aiohttp."""


def test_the_docs_list_these_faults() -> None:
    assert list(FAULT_ROWS)[1:] == list(FAULTS)


@pytest.mark.skipif(
    http_parser.HttpResponseParser is http_parser.HttpResponseParserPy,
    reason="aiohttp has no parser in C here",
)
@pytest.mark.parametrize(
    ("row", "response"), [(row, each) for row, several in FAULTS.items() for each in several]
)
def test_malformed_responses_are_taken_as_the_docs_say(
    server: LoopbackServer, row: str, response: bytes
) -> None:
    server.site["/a.xml"] = raw(response)
    options: dict[str, Any] = {"max_attempts": 1, "scheme_fallback": False}
    in_threads = usp.sitemap_tree(server.at("/a.xml"), **options)
    in_asyncio = run(aio.sitemap_tree(server.at("/a.xml"), **options))
    words = {"found": "read", "partial": "truncated", "unreachable": "rejected"}
    for tree, said in zip((in_threads, in_asyncio), FAULT_ROWS[row], strict=True):
        assert words[str(tree.outcome)] == said.split()[0]
        assert len(list(tree.all_pages())) == (0 if said == "rejected" else 2)
