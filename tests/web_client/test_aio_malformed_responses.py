"""Servers that break the rules of HTTP, fetched with aiohttp: it ends at once, in plain words."""

import pytest

from tests.loops import body, message, read, run
from tests.responses import error
from tests.server import Answer, LoopbackServer, redirect
from tests.servers import raw
from usp.exceptions import ConnectionDroppedError
from usp.web_client.aio_client import AioWebClient


def test_a_garbled_chunk_ends_the_body_with_what_came(server: LoopbackServer) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.site["/a"] = raw(head + b"5\r\nhello\r\nzz\r\n")

    async def main() -> tuple[bytes, Exception | None]:
        async with AioWebClient() as client:
            return await read(client, server.at("/a"))

    came, fault = run(main())
    assert came == b"hello"
    assert isinstance(fault, ConnectionDroppedError), "not the deadline, and it may pass"


def test_a_kept_connection_that_is_dead_is_replaced(server: LoopbackServer) -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
    server.site |= {"/a": raw(head), "/b": b"there"}

    async def main() -> bytes:
        async with AioWebClient() as client:
            return await body(client, server.at("/a"))

    assert run(main()) == b"there"


def test_a_new_connection_that_is_dropped_is_not_tried_again(server: LoopbackServer) -> None:
    server.site["/a"] = raw(b"")

    async def main() -> None:
        async with AioWebClient() as client:
            assert error(await client.get(server.at("/a"))).retryable()

    run(main())
    assert server.requested == ["/a"]


def test_headers_that_are_cut_off_are_a_failure_that_may_pass(server: LoopbackServer) -> None:
    server.site["/a"] = raw(b"HTTP/1.1 200 OK\r\nContent-")

    async def main() -> None:
        async with AioWebClient() as client:
            answer = error(await client.get(server.at("/a")))
            assert answer.message() == "the connection was dropped in the middle of the headers"
            assert answer.retryable()

    run(main())
    assert server.requested == ["/a"]


def test_an_empty_location_leads_nowhere(server: LoopbackServer) -> None:
    server.site["/a"] = redirect("")

    async def main() -> str:
        async with AioWebClient() as client:
            return await message(client, server.at("/a"))

    assert run(main()) == "302 Found"
    assert server.requested == ["/a"]


@pytest.mark.parametrize(
    "plain", [b"", b"<urlset/>", b"\xef\xbb\xbf<a>" + b"x" * 99, b"\x1f\x8b\0"]
)
def test_what_is_labelled_as_packed_and_is_not_is_read(
    server: LoopbackServer, plain: bytes
) -> None:
    server.site["/a"] = Answer(body=plain, headers={"Content-Encoding": "br"})

    async def main() -> bytes:
        async with AioWebClient(concurrency=1) as client:
            assert await body(client, server.at("/a")) == plain
            return await body(client, server.at("/a"))

    assert run(main()) == plain
