"""Bodies that come slowly or never end, fetched with aiohttp."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest

from tests.loops import body, read, run, success
from tests.responses import error
from tests.server import Answer, Handler, LoopbackServer, redirect, stall
from tests.servers import drip, full_house
from usp.exceptions import DeadlineError
from usp.web_client._http.errors import is_transient
from usp.web_client.aio_client import AioWebClient

DEADLINE = 0.4
SOON = 2.5
"""Far below the 60 seconds for which bytes are waited for."""
LENGTH = "Content-Length: 1000\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "drop"),
    [(LENGTH, b"x"), ("Connection: close\r\n\r\n", b"x"), (CHUNKED, b"1\r\nx\r\n")],
)
def test_a_slow_drip_ends_at_the_deadline_with_what_came(
    server: LoopbackServer, head: str, drop: bytes
) -> None:
    server.site["/a"] = drip(head, drop)

    async def main() -> None:
        async with AioWebClient(document_deadline=DEADLINE) as client:
            begun = time.monotonic()
            came, fault = await read(client, server.at("/a"))
            assert DEADLINE <= time.monotonic() - begun < SOON
        assert isinstance(fault, DeadlineError)
        assert not is_transient(fault)
        assert set(came) == set(b"x")

    run(main())


@pytest.mark.parametrize("what", ["headers", "redirects", "silence"])
def test_no_answer_within_the_deadline(server: LoopbackServer, what: str) -> None:
    def slow(handler: Handler) -> Answer:
        handler.owner.closing.wait(0.1)
        return redirect("/a")

    server.site["/a"] = {"headers": drip("X: ", b"x"), "redirects": slow, "silence": stall}[what]

    async def main() -> None:
        async with AioWebClient(document_deadline=DEADLINE) as client:
            begun = time.monotonic()
            answer = error(await client.get(server.at("/a")))
            assert time.monotonic() - begun < SOON
        assert "before its deadline" in answer.message()
        assert not answer.retryable()

    run(main())


def test_silence_ends_at_the_time_out_and_may_pass(server: LoopbackServer) -> None:
    server.site |= {"/a": drip(LENGTH, b"x", pause=30), "/b": stall}

    async def main() -> None:
        async with AioWebClient(timeout=(5, 0.2)) as client:
            came, fault = await read(client, server.at("/a"))
            assert came == b"x"
            assert fault is not None
            assert is_transient(fault)
            answer = error(await client.get(server.at("/b")))
            assert answer.retryable()
            assert answer.no_response()

    run(main())


def test_a_host_that_takes_no_connections_is_left_in_time() -> None:
    async def main(url: str) -> None:
        async with AioWebClient(timeout=(0.2, 60)) as client:
            answer = error(await client.get(url))
            assert answer.no_response()
            assert answer.retryable()

    with full_house() as url:
        begun = time.monotonic()
        run(main(url))
        assert time.monotonic() - begun < SOON


def test_without_time_limits(server: LoopbackServer) -> None:
    server.otherwise = b"x"

    async def main() -> None:
        async with AioWebClient(timeout=None, document_deadline=None) as client:
            assert await body(client, server.url) == b"x"

    run(main())


def test_the_wait_for_a_place_is_no_time_of_the_document(server: LoopbackServer) -> None:
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
def test_a_dripping_body_that_nobody_wants_is_left(
    server: LoopbackServer, status: int, head: str
) -> None:
    location = "Location: /b\r\n" if status == 302 else ""
    server.site |= {"/a": drip(location + head, b"0", status=status), "/b": b"there"}

    async def main() -> None:
        async with AioWebClient() as client:
            begun = time.monotonic()
            answer = await client.get(server.at("/a"))
            if status == 302:
                await success(answer).close()
            assert time.monotonic() - begun < SOON

    run(main())
    assert server.requested == (["/a", "/b"] if status == 302 else ["/a"])


def test_a_response_that_is_closed_early_gives_its_place_back(server: LoopbackServer) -> None:
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
