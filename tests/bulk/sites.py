"""Loopback sites with every kind of outcome, each at an address of its own, and what they list.

One event loop in a thread answers for all addresses of 127.0.0.0/8 at one port. What a site has
depends on its number, so that a test knows which rows a crawl of any list must have.
"""

import asyncio
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import duckdb
import pytest

from tests.server import index, urlset

USER_AGENT: Final = "test/1.0 (+https://example.org/bot)"
ALLOWED: Final[Any] = {"private_addresses": "allow"}
"""The settings of a client that may connect to loopback addresses."""
KINDS: Final = ("two sitemaps", "text", "partial", "blocked", "large", "none", "unreachable")
OUTCOMES: Final = {
    "two sitemaps": "found",
    "text": "found",
    "partial": "partial",
    "blocked": "blocked",
    "large": "partial",
    "none": "none",
    "unreachable": "unreachable",
}
MAX_PAGES: Final = 50
"""The limit for each site: that of a large one is reached."""
QUICK: Final[Any] = {
    "user_agent": USER_AGENT,
    "client_settings": ALLOWED,
    "max_pages_per_site": MAX_PAGES,
    "max_attempts": 1,
    "use_homepage": False,
    "use_newer_paths": False,
    "use_known_paths": False,
    "scheme_fallback": False,
}
"""The keywords of a crawl that wastes no time on sites that have nothing."""
_REQUEST: Final = re.compile(rb"GET (\S+) HTTP/1\.1\r\n(?:.*\r\n)*?[Hh]ost: ([^\r\n]+)")


def _number(host: str) -> int:
    _, _, third, fourth = host.partition(":")[0].split(".")
    return int(third) * 250 + int(fourth) - 1


def kind_of(number: int) -> str:
    return KINDS[number % len(KINDS)]


def pages_of(number: int, home: str) -> list[str]:
    """The pages that a crawl must find on a site."""
    match kind_of(number):
        case "two sitemaps":
            return [f"{home}{name}/{page}" for name in "ab" for page in range(3)]
        case "text" | "partial":
            return [f"{home}text/{page}" for page in range(4)]
        case "large":
            return [f"{home}large/{page}" for page in range(MAX_PAGES)]
        case _:
            return []


def body_of(path: str, number: int, home: str) -> bytes | int:
    """The response to a request: a body, or a status."""
    kind = kind_of(number)
    if kind == "blocked":
        return 403
    if path == "/robots.txt":
        names = {
            "two sitemaps": ["index.xml"],
            "text": ["list.txt"],
            "partial": ["list.txt", "missing.xml"],
            "large": ["large.xml"],
        }
        return "".join(f"Sitemap: {home}{name}\n" for name in names.get(kind, ())).encode()
    bodies = {
        "/index.xml": index(f"{home}a.xml", f"{home}b.xml"),
        "/a.xml": urlset(*(f"{home}a/{page}" for page in range(3))),
        "/b.xml": urlset(*(f"{home}b/{page}" for page in range(3))),
        "/list.txt": "".join(f"{home}text/{page}\n" for page in range(4)).encode(),
        "/large.xml": urlset(*(f"{home}large/{page}" for page in range(3 * MAX_PAGES))),
    }
    return bodies.get(path, 404)


class _Connection(asyncio.Protocol):
    def __init__(self, sites: "ManySites") -> None:
        self._sites = sites
        self._received = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._sites.transports.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._sites.transports.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            found = _REQUEST.match(request)
            assert found
            path, host = found[1].decode(), found[2].decode()
            delay = self._sites.begin(path, host)
            asyncio.get_running_loop().call_later(delay, self._answer, path, host, request)

    def _answer(self, path: str, host: str, request: bytes) -> None:
        self._sites.in_flight -= Counter({host: 1})
        if not self._transport.is_closing():
            self._transport.write(self._sites.response(path, host, request))


@dataclass
class ManySites:
    """Serves sites inside of a ``with`` block."""

    delay: float = 0.0
    """Seconds before each response."""
    changed: set[str] = field(default_factory=set)
    """Paths that have another ETag than at first."""
    gone: set[str] = field(default_factory=set)
    """Paths that are missing now."""
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    """Host, path and status, in order."""
    in_flight: Counter[str] = field(default_factory=Counter)
    transports: set[Any] = field(default_factory=set)
    peak: int = 0
    """The most requests that were in flight at once."""
    peak_of_a_host: int = 0

    def __enter__(self) -> Self:
        listening = socket.socket()
        try:
            option = getattr(socket, "SO_BINDTODEVICE", -1)
            listening.setsockopt(socket.SOL_SOCKET, option, b"lo")  # only this machine may reach it
            listening.bind(("0.0.0.0", 0))  # noqa: S104 -- on the loopback device only
            listening.listen(1024)
        except OSError as error:
            listening.close()
            pytest.skip(f"one socket can't have all loopback addresses here: {error}")
        self.port = listening.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            serve = self._loop.create_server(lambda: _Connection(self), sock=listening)
            self._server = self._loop.run_until_complete(serve)
            ready.set()
            self._loop.run_forever()

        self._thread = threading.Thread(target=run)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async def close() -> None:
            self._server.close()
            for transport in self.transports:
                transport.abort()
            await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def begin(self, path: str, host: str) -> float:
        del path
        self.in_flight[host] += 1
        self.peak = max(self.peak, self.in_flight.total())
        self.peak_of_a_host = max(self.peak_of_a_host, self.in_flight[host])
        return self.delay

    def response(self, path: str, host: str, request: bytes) -> bytes:
        found = 404 if path in self.gone else body_of(path, _number(host), f"http://{host}/")
        status, body = (found, b"") if isinstance(found, int) else (200, found)
        etag = b'"2"' if path in self.changed else b'"1"'
        if status == 200 and b"If-None-Match: " + etag in request:
            status, body = 304, b""
        self.requests.append((host, path, status))
        head = (
            f"HTTP/1.1 {status} X\r\nETag: {etag.decode()}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def homepage(self, number: int) -> str:
        """The homepage of a site; nothing listens at that of an unreachable one."""
        port = 1 if kind_of(number) == "unreachable" else self.port
        return f"http://127.1.{number // 250}.{number % 250 + 1}:{port}/"

    def homepages(self, count: int) -> list[str]:
        return [self.homepage(number) for number in range(count)]


@dataclass(frozen=True)
class Tables:
    """The tables of a crawl, read by DuckDB."""

    folder: Path

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query; ``{pages}`` stands for the files of a table."""
        names = ("sites", "sitemaps", "pages", "problems")
        files = {name: f"'{self.folder}/{name}/*.parquet'" for name in names}
        with duckdb.connect() as connection:
            return connection.execute(sql.format(**files)).fetchall()

    def outcomes(self) -> dict[int, str]:
        """The outcome of each line; a line that has two rows fails the test."""
        rows = self.query("SELECT line, outcome FROM {sites}")
        assert len(rows) == len({line for line, _ in rows})
        return dict(rows)

    def pages(self) -> Counter[str]:
        return Counter(url for (url,) in self.query("SELECT url FROM {pages}"))


def expected_pages(sites: ManySites, numbers: Iterable[int]) -> Counter[str]:
    return Counter(url for number in numbers for url in pages_of(number, sites.homepage(number)))


def expected_outcomes(numbers: Iterable[int]) -> dict[int, str]:
    """The outcomes of a list of these sites, by line."""
    return {line: OUTCOMES[kind_of(number)] for line, number in enumerate(numbers, 1)}


def files_below(folder: Path) -> Iterator[str]:
    return (str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


def assert_whole(folder: Path, shards: int) -> None:
    """Nothing is in a folder but the files of its shards."""
    expected = {"_crawl.json"} | {f"_done/{shard:05}.json" for shard in range(shards)}
    for table in ("sites", "sitemaps", "pages", "problems"):
        expected |= {f"{table}/part-{shard:05}.parquet" for shard in range(shards)}
    assert set(files_below(folder)) == expected
    assert [one.name for one in folder.iterdir() if one.name.startswith(".")] == []
