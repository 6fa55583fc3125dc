"""A list of sites to crawl, each at an address of its own: what a crawl of many sites needs.

One server process answers for all addresses of 127.0.0.0/8, at one port; what it serves depends on
the host. A site has robots.txt, an index and sub-sitemaps. A response is made from a body that is
the same for all sites but for the host, so that the server is never what a crawler waits for.
"""

import asyncio
import re
import socket
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from functools import cache
from http.client import HTTPConnection
from random import Random
from typing import Final

from bench.documents import SITEMAPS
from bench.site import server_process

CHILDREN: Final = 3
CHILD_PAGES: Final = 200
REQUESTS: Final = 2 + CHILDREN
PAGES: Final = CHILDREN * CHILD_PAGES
_HOST: Final = b"$HOST"
_CPU_TIME: Final = b"/cpu-time"
"""A path that no crawl requests."""
_REQUEST: Final = re.compile(rb"GET (\S+) HTTP/1\.1\r\n(?:.*\r\n)*?[Hh]ost: ([^\r\n]+)")
_VARIANTS: Final = 400
"""Sites that differ in their pages: more than a compressor can remember."""
_FOLDERS: Final = ("blog", "news", "shop", "en", "archive")
_WORDS: Final = tuple(
    f"{first}{last}"
    for first in ("gar", "win", "mar", "let", "har", "sil")
    for last in ("den", "ter", "ket", "bour", "ver", "low", "mer", "ton", "ble", "ning")
)


@contextmanager
def listed_sites() -> Iterator[str]:
    """Serve sites inside of a ``with`` block, whose value is the port of all of them."""
    with server_process("bench.listed_sites", "") as port:
        yield port


def server_seconds(port: str) -> float:
    """Return the CPU time that the server has taken so far."""
    connection = HTTPConnection("127.0.0.1", int(port))
    with closing(connection):
        connection.request("GET", _CPU_TIME.decode())
        return float(connection.getresponse().read())


def homepages(count: int, port: str) -> Iterator[str]:
    """Yield the homepages of so many sites."""
    for number in range(count):
        yield f"http://127.{number // 62_500 + 1}.{number // 250 % 250}.{number % 250 + 1}:{port}/"


@cache
def _body(path: bytes, variant: int) -> bytes | None:
    if path == b"/robots.txt":
        return b"User-agent: *\nDisallow: /admin/\nSitemap: http://$HOST/index.xml\n"
    if path == b"/index.xml":
        entries = "".join(
            f"<sitemap><loc>http://$HOST/child-{number}.xml</loc></sitemap>\n"
            for number in range(CHILDREN)
        )
        return f"<sitemapindex {SITEMAPS}>\n{entries}</sitemapindex>\n".encode()
    child = re.fullmatch(rb"/child-(\d+)\.xml", path)
    number = variant * CHILDREN + int(child[1]) if child else 0
    return _child(Random(number)) if child else None  # noqa: S311 -- the same in every run


def _child(rng: Random) -> bytes:
    """Return a sub-sitemap as a blog has it: slugs of words and an id, the newest pages first."""
    day = date(2026, 11, 1)
    number = rng.randrange(50_000, 100_000)
    folder = rng.choice(_FOLDERS)
    entries = []
    for _ in range(CHILD_PAGES):
        day -= timedelta(rng.randrange(3))
        number -= rng.randrange(1, 20)
        slug = "-".join(rng.sample(_WORDS, 3))
        entries.append(
            f"<url><loc>http://$HOST/{folder}/{slug}-{number}.html</loc>"
            f"<lastmod>{day}</lastmod><changefreq>weekly</changefreq>"
            f"<priority>0.{rng.randrange(5, 9)}</priority></url>\n"
        )
    return f"<urlset {SITEMAPS}>\n{''.join(entries)}</urlset>\n".encode()


_NOT_MODIFIED: Final = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'


class _Connection(asyncio.Protocol):
    """Answers the requests of one connection; none of them has a body."""

    def __init__(self) -> None:
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            found = _REQUEST.match(request)
            if found and self._transport is not None:
                is_known = b'If-None-Match: "1"' in request
                self._transport.write(_NOT_MODIFIED if is_known else _response(found[1], found[2]))


def _response(path: bytes, host: bytes) -> bytes:
    body = _body(path, zlib.crc32(host) % _VARIANTS)
    if path == _CPU_TIME:
        body = str(time.process_time()).encode()
    if body is None:
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    body = body.replace(_HOST, host)
    head = b'HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nETag: "1"\r\nContent-Length: %d\r\n\r\n'
    return head % len(body) + body


async def main() -> None:
    """Serve until standard input is closed."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")  # this machine only
    listening.bind(("0.0.0.0", 0))  # noqa: S104 -- on the loopback device only
    listening.listen(1024)
    await asyncio.get_running_loop().create_server(_Connection, sock=listening)
    print(listening.getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
