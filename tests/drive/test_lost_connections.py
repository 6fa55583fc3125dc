"""The end of a connection is the end of a body without a length only if the host closed it."""

import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.drive.ways import WAYS, Finding
from tests.loops import run
from tests.server import Handler, LoopbackServer, reset
from tests.servers import Certificate, TLSServer
from usp import Outcome, aio

PAGES = [f"http://h.example/page-{number}" for number in range(20)]
TEXT = "".join(f"{url}\n" for url in PAGES).encode()
HALF = "".join(f"{url}\n" for url in PAGES[:10]).encode()
"""Whole lines: nothing but the connection shows that some are missing."""
VERSIONS = ["HTTP/1.1", "HTTP/1.0"]

Way = Callable[..., Finding]


def until_the_end(
    body: bytes, end: Callable[[Handler], None], version: str = "HTTP/1.1"
) -> Callable[[Handler], None]:
    """Respond without Content-Length."""

    def respond(handler: Handler) -> None:
        head = f"{version} 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        handler.wfile.write(head.encode() + body)
        handler.wfile.flush()
        handler.close_connection = True
        end(handler)

    return respond


def close(_: Handler) -> None:
    """Leave it to the server, which closes connections as it should."""


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_reset_is_not_the_end_of_a_body(server: LoopbackServer, way: Way, version: str) -> None:
    server.robots("/s.txt")
    server.site["/s.txt"] = until_the_end(HALF, reset, version)
    found = way(server.url, use_known_paths=False, max_attempts=1)
    assert found.outcome is Outcome.PARTIAL
    assert {problem.code for problem in found.problems} == {"SM102"}
    assert found.pages == PAGES[: len(found.pages)]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_reset_is_not_the_end_of_robots_txt(server: LoopbackServer, way: Way) -> None:
    robots = f"Sitemap: {server.at('/s.txt')}\n".encode()
    server.site["/robots.txt"] = until_the_end(robots, reset)
    server.site["/s.txt"] = TEXT
    found = way(server.url, use_known_paths=False, max_attempts=1)
    assert (found.outcome, found.pages) == (Outcome.PARTIAL, PAGES)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_close_is_the_end_of_a_body(server: LoopbackServer, way: Way, version: str) -> None:
    server.robots("/s.txt")
    server.site["/s.txt"] = until_the_end(TEXT, close, version)
    found = way(server.url, use_known_paths=False)
    assert (found.outcome, found.pages, found.problems) == (Outcome.FOUND, PAGES, ())


def say_goodbye(handler: Handler) -> None:
    """End TLS as it should be, and drop the connection after that."""
    handler.connection.setblocking(False)
    with suppress(ssl.SSLError):  # the client has not said it yet
        handler.connection.unwrap()
    reset(handler)


@pytest.mark.parametrize("end", [close, say_goodbye])
def test_a_close_is_the_end_of_a_body_with_tls(
    certificate: Certificate, end: Callable[[Handler], None]
) -> None:
    async def pages(url: str) -> tuple[Outcome | None, list[str]]:
        async with (
            aio.AioWebClient(verify=str(certificate.file)) as client,
            aio.iter_pages(url, web_client=client, max_attempts=1) as found,
        ):
            urls = [page.url async for page in found]
        return found.outcome, urls

    with TLSServer(certificate.context()) as secure:
        secure.site["/s.txt"] = until_the_end(TEXT, end)
        assert run(pages(secure.at("/s.txt"))) == (Outcome.FOUND, PAGES)


def test_a_sync_in_asyncio_takes_nothing_away_after_a_reset(
    server: LoopbackServer, tmp_path: Path
) -> None:
    async def changes() -> list[object]:
        url = server.at("/s.txt")
        async with aio.sync(
            url, state=tmp_path / "state.db", confirm=1, max_removed=1, max_attempts=1
        ) as found:
            return [change async for change in found]

    server.site["/s.txt"] = until_the_end(TEXT, close)
    assert run(changes()) == []
    server.site["/s.txt"] = until_the_end(HALF, reset)
    assert run(changes()) == []
