"""Slow and endless bodies, fetched with the client on aiohttp."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest

from tests.loops import body, read, run, success
from tests.responses import error
from tests.server import Answer, Handler, LoopbackServer, redirect, stall
from tests.servers import drip, server_at_capacity
from usp.exceptions import DeadlineError
from usp.web_client._http.errors import is_transient
from usp.web_client.aio_client import AioWebClient

DEADLINE = 0.4
SOON = 10
"""Far below the timeout of 60 seconds."""
LENGTH = "Content-Length: 1000\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "drop"),
    [(LENGTH, b"x"), ("Connection: close\r\n\r\n", b"x"), (CHUNKED, b"1\r\nx\r\n")],
)
def test_a_dripping_body_ends_at_the_deadline_with_what_was_received(
    server: LoopbackServer, head: str, drop: bytes
) -> None:
    server.site["/a"] = drip(head, drop)

    async def main() -> None:
        async with AioWebClient(document_deadline=DEADLINE) as client:
            begun = time.monotonic()
            received, failure = await read(client, server.at("/a"))
            assert DEADLINE <= time.monotonic() - begun < SOON
        assert isinstance(failure, DeadlineError)
        assert not is_transient(failure)
        assert set(received) == set(b"x")

    run(main())


@pytest.mark.parametrize("what", ["headers", "redirects", "silence"])
def test_no_response_before_the_deadline_is_an_error(server: LoopbackServer, what: str) -> None:
    def slow(handler: Handler) -> Answer:
        handler.owner.closing.wait(0.1)
        return redirect("/a")

    server.site["/a"] = {"headers": drip("X: ", b"x"), "redirects": slow, "silence": stall}[what]

    async def main() -> None:
        async with AioWebClient(document_deadline=DEADLINE) as client:
            begun = time.monotonic()
            response = error(await client.get(server.at("/a")))
            assert time.monotonic() - begun < SOON
        assert "before its deadline" in response.message()
        assert not response.retryable()

    run(main())


def test_a_timeout_is_transient(server: LoopbackServer) -> None:
    server.site |= {"/a": drip(LENGTH, b"x", pause=30), "/b": stall}

    async def main() -> None:
        async with AioWebClient(timeout=(5, 0.2)) as client:
            received, failure = await read(client, server.at("/a"))
            assert received == b"x"
            assert failure is not None
            assert is_transient(failure)
            response = error(await client.get(server.at("/b")))
            assert response.retryable()
            assert response.no_response()

    run(main())


def test_a_connect_timeout_is_transient() -> None:
    async def main(url: str) -> None:
        async with AioWebClient(timeout=(0.2, 60)) as client:
            response = error(await client.get(url))
            assert response.no_response()
            assert response.retryable()

    with server_at_capacity() as url:
        begun = time.monotonic()
        run(main(url))
        assert time.monotonic() - begun < SOON


def test_there_may_be_no_timeout_and_no_deadline(server: LoopbackServer) -> None:
    server.otherwise = b"x"

    async def main() -> None:
        async with AioWebClient(timeout=None, document_deadline=None) as client:
            assert await body(client, server.url) == b"x"

    run(main())


def test_waiting_for_a_slot_does_not_count_towards_the_deadline(server: LoopbackServer) -> None:
    def slow(handler: Handler) -> bytes:
        handler.owner.closing.wait(DEADLINE * 0.6)
        return b"x"

    server.otherwise = slow

    async def main() -> None:
        async with AioWebClient(concurrency=1, document_deadline=DEADLINE) as client:
            bodies = await asyncio.gather(*(body(client, server.url) for _ in range(3)))
        assert bodies == [b"x"] * 3

    run(main())


@pytest.mark.parametrize("status", [404, 302])
@pytest.mark.parametrize("head", [LENGTH, CHUNKED])
def test_an_unwanted_dripping_body_is_not_read(
    server: LoopbackServer, status: int, head: str
) -> None:
    location = "Location: /b\r\n" if status == 302 else ""
    server.site |= {"/a": drip(location + head, b"0", status=status), "/b": b"there"}

    async def main() -> None:
        async with AioWebClient() as client:
            begun = time.monotonic()
            response = await client.get(server.at("/a"))
            if status == 302:
                await success(response).close()
            assert time.monotonic() - begun < SOON

    run(main())
    assert server.requested == (["/a", "/b"] if status == 302 else ["/a"])


def test_a_response_that_is_closed_early_frees_its_slot(server: LoopbackServer) -> None:
    server.site["/a"] = drip(LENGTH, b"x")

    async def main() -> None:
        async with AioWebClient(concurrency=1) as client:
            for _ in range(3):
                response = success(await client.get(server.at("/a")))
                chunks = response.chunks()
                assert isinstance(chunks, AsyncGenerator)
                assert await anext(chunks) == b"x"
                await chunks.aclose()
                await response.close()

    run(main())
