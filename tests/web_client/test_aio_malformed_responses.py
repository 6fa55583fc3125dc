"""Malformed responses, fetched with the client on aiohttp."""

import pytest

from tests.loops import body, message, read, run
from tests.responses import error
from tests.server import Answer, LoopbackServer, redirect
from tests.servers import raw
from usp.exceptions import ConnectionDroppedError
from usp.web_client.aio_client import AioWebClient


def test_a_malformed_chunk_ends_the_body_with_what_was_received(server: LoopbackServer) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.site["/a"] = raw(head + b"5\r\nhello\r\nzz\r\n")

    async def main() -> tuple[bytes, Exception | None]:
        async with AioWebClient() as client:
            return await read(client, server.at("/a"))

    received, failure = run(main())
    assert received == b"hello"
    assert isinstance(failure, ConnectionDroppedError), "it is transient, and not the deadline"


def test_a_dead_kept_connection_is_replaced(server: LoopbackServer) -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
    server.site |= {"/a": raw(head), "/b": b"there"}

    async def main() -> bytes:
        async with AioWebClient() as client:
            return await body(client, server.at("/a"))

    assert run(main()) == b"there"


def test_a_new_connection_that_is_dropped_is_not_retried(server: LoopbackServer) -> None:
    server.site["/a"] = raw(b"")

    async def main() -> None:
        async with AioWebClient() as client:
            assert error(await client.get(server.at("/a"))).retryable()

    run(main())
    assert server.requested == ["/a"]


def test_truncated_headers_are_a_transient_error(server: LoopbackServer) -> None:
    server.site["/a"] = raw(b"HTTP/1.1 200 OK\r\nContent-")

    async def main() -> None:
        async with AioWebClient() as client:
            response = error(await client.get(server.at("/a")))
            assert response.message() == "the connection was dropped in the middle of the headers"
            assert response.retryable()

    run(main())
    assert server.requested == ["/a"]


def test_an_empty_location_is_not_followed(server: LoopbackServer) -> None:
    server.site["/a"] = redirect("")

    async def main() -> str:
        async with AioWebClient() as client:
            return await message(client, server.at("/a"))

    assert run(main()) == "302 Found"
    assert server.requested == ["/a"]


@pytest.mark.parametrize(
    "plain", [b"", b"<urlset/>", b"\xef\xbb\xbf<a>" + b"x" * 99, b"\x1f\x8b\0"]
)
def test_a_wrong_content_encoding_is_ignored(server: LoopbackServer, plain: bytes) -> None:
    server.site["/a"] = Answer(body=plain, headers={"Content-Encoding": "br"})

    async def main() -> bytes:
        async with AioWebClient(concurrency=1) as client:
            assert await body(client, server.at("/a")) == plain
            return await body(client, server.at("/a"))

    assert run(main()) == plain
