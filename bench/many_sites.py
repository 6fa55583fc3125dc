"""Many small sites to crawl: robots.txt, an index and its sub-sitemaps, each on a port of its own.

Like that of ``site``, the server is a separate process. It does as little as a server can, so that
it is never what a crawler waits for: a response is built once, and found by the request line.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from bench.documents import SITEMAPS
from bench.shapes import ONE_SHAPE, document
from bench.site import server_process

CHILDREN: Final = 3
REQUESTS: Final = 2 + CHILDREN
"""The requests that one site takes: robots.txt, the index, and its sub-sitemaps."""
_END_OF_REQUEST: Final = b"\r\n\r\n"


@contextmanager
def many_sites(count: int) -> Iterator[list[str]]:
    """Serve this many sites inside of a ``with`` block, whose value are the homepages."""
    with server_process("bench.many_sites", str(count)) as line:
        yield json.loads(line)


def _responses(home: str) -> dict[bytes, bytes]:
    """Return the responses of a site by path."""
    children = [f"{home}child-{number}.xml" for number in range(CHILDREN)]
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in children)
    page = document("plain", ONE_SHAPE, range(1))
    bodies = {
        "/robots.txt": ("text/plain", f"User-agent: *\nSitemap: {home}index.xml\n"),
        "/index.xml": ("text/xml", f"<sitemapindex {SITEMAPS}>\n{entries}</sitemapindex>\n"),
        **{f"/child-{number}.xml": ("text/xml", page) for number in range(CHILDREN)},
    }
    return {path.encode(): _response("200 OK", kind, text) for path, (kind, text) in bodies.items()}


def _response(status: str, kind: str, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


_NOT_FOUND: Final = _response("404 Not Found", "text/plain", "")


class _Connection(asyncio.Protocol):
    """Answers the requests of one connection; none of them has a body."""

    def __init__(self, responses: dict[bytes, bytes]) -> None:
        self._responses = responses
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(_END_OF_REQUEST)
        for request in requests:
            if self._transport is not None:
                self._transport.write(self._responses.get(request.split(b" ", 2)[1], _NOT_FOUND))


async def main(count: int) -> None:
    """Serve until standard input is closed."""
    loop = asyncio.get_running_loop()
    homepages: list[str] = []
    for _ in range(count):
        responses: dict[bytes, bytes] = {}
        server = await loop.create_server(partial(_Connection, responses), "127.0.0.1", 0)
        homepages.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        responses |= _responses(homepages[-1])
    print(json.dumps(homepages), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
