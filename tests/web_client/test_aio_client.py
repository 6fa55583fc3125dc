"""The client on aiohttp, against real servers: requests, responses, redirects, concurrency."""

import asyncio
import gc
import gzip
import time
import warnings
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.loops import body, message, read, run, success
from tests.responses import error
from tests.server import Answer, Handler, LoopbackServer, redirect, reset
from tests.servers import raw
from usp import __version__
from usp.exceptions import SitemapException
from usp.web_client._http.address_guard import AddressRule
from usp.web_client._http.errors import is_transient
from usp.web_client.abstract_client import (
    RETRYABLE_HTTP_STATUS_CODES,
    AbstractWebClientResponse,
)
from usp.web_client.aio_client import AioWebClient

TEXT = b"http://h.example/a\n" * 1000


async def fetched(url: str) -> bytes:
    async with AioWebClient() as client:
        return await body(client, url)


async def error_message(url: str) -> str:
    async with AioWebClient() as client:
        return await message(client, url)


def test_a_document_is_fetched(server: LoopbackServer) -> None:
    server.site["/a"] = Answer(body=b"hello", headers={"Content-Type": "text/plain"})

    async def main() -> None:
        async with AioWebClient() as client:
            response = success(await client.get(server.at("/a")))
            assert (response.status_code(), response.url()) == (200, server.at("/a"))
            assert response.header("content-TYPE") == "text/plain"
            assert response.header("X-None") is None
            assert [chunk async for chunk in response.chunks()] == [b"hello"]

    run(main())
    headers = server.requests[0].headers
    assert headers["user-agent"] == f"ultimate_sitemap_parser/{__version__}"
    assert headers["accept-encoding"] == "gzip, deflate"


def test_headers_of_the_caller_replace_ours(server: LoopbackServer) -> None:
    server.otherwise = b"x"

    async def main() -> None:
        async with AioWebClient(headers={"user-agent": "mine/1", "X-Key": "k"}) as client:
            await body(client, server.url)

    run(main())
    assert server.requests[0].headers["user-agent"] == "mine/1"
    assert server.requests[0].headers["x-key"] == "k"


@pytest.mark.parametrize("status", [404, 403, 429, 500, 503, 520])
def test_an_error_status_is_an_error_response(server: LoopbackServer, status: int) -> None:
    server.site["/a"] = status

    async def main() -> None:
        async with AioWebClient() as client:
            response = error(await client.get(server.at("/a")))
        assert response.status_code() == status
        assert response.message().startswith(f"{status} ")
        assert response.retryable() == (status in RETRYABLE_HTTP_STATUS_CODES)
        assert not response.no_response()

    run(main())


def test_retry_after_has_seconds_or_a_date(server: LoopbackServer) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.site |= {
        "/a": Answer(status=429, headers={"Retry-After": "7"}),
        "/b": Answer(status=503, headers={"Retry-After": soon}),
    }

    async def main() -> None:
        async with AioWebClient() as client:
            assert error(await client.get(server.at("/a"))).retry_after() == 7
            assert 90 < (error(await client.get(server.at("/b"))).retry_after() or 0) <= 100

    run(main())


# Content encodings


@pytest.mark.parametrize(
    ("encodings", "data"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
        ("deflate, gzip", gzip.compress(zlib.compress(TEXT))),
    ],
    ids=["gzip", "x-gzip", "zlib", "gzip twice", "zlib in gzip"],  # compressed bytes vary with time
)
def test_gzip_and_zlib_stay_on_the_body(
    server: LoopbackServer, encodings: str, data: bytes
) -> None:
    server.site["/a"] = Answer(body=data, headers={"Content-Encoding": encodings})
    assert run(fetched(server.at("/a"))) == data


@pytest.mark.parametrize("encodings", ["deflate", "gzip", "identity", "UTF-8", "none", ""])
def test_a_wrong_content_encoding_is_ignored(server: LoopbackServer, encodings: str) -> None:
    data = b"<urlset></urlset>"
    server.site["/a"] = Answer(body=data, headers={"Content-Encoding": encodings})
    assert run(fetched(server.at("/a"))) == data


@pytest.mark.parametrize("encodings", ["br", "zstd", "gzip, BR"])
def test_an_undecodable_content_encoding_is_an_error(
    server: LoopbackServer, encodings: str
) -> None:
    server.site["/a"] = Answer(body=b"\x0b\x02\x80", headers={"Content-Encoding": encodings})
    assert "can't be decoded" in run(error_message(server.at("/a")))


# Redirects


def test_redirects_are_followed_and_listed(server: LoopbackServer) -> None:
    server.site |= {
        "/a": redirect("b?x=1#part", 301),
        "/b": redirect(server.at("/c"), 308),
        "/c": b"there",
    }

    async def main() -> None:
        async with AioWebClient() as client:
            response = success(await client.get(server.at("/a")))
            assert response.url() == server.at("/c")
            assert response.redirects() == (server.at("/a"), server.at("/b?x=1#part"))
            await response.close()

    run(main())
    assert server.requested == ["/a", "/b?x=1", "/c"]


def test_odd_urls_are_quoted_as_requests_quotes_them(server: LoopbackServer) -> None:
    server.otherwise = b"x"
    server.site["/r"] = redirect("/\u00e9t\u00e9 1".encode().decode("latin-1"))

    async def main() -> None:
        async with AioWebClient() as client:
            for path in ("/a b", "/%7Ea%2Fb", "/\u00fc?q=\u00fc&r=a+b", "/r"):
                await body(client, server.at(path))

    run(main())
    sent = ["/a%20b", "/~a%2Fb", "/%C3%BC?q=%C3%BC&r=a+b", "/r", "/%C3%A9t%C3%A9%201"]
    assert server.requested == sent


def test_a_redirect_loop_is_a_permanent_error(server: LoopbackServer) -> None:
    server.site |= {"/a": redirect("/b"), "/b": redirect("/a")}

    async def main() -> None:
        async with AioWebClient() as client:
            response = error(await client.get(server.at("/a")))
        assert "30 redirects" in response.message()
        assert not response.retryable()

    run(main())
    assert len(server.requested) == 31


@pytest.mark.parametrize(
    "target", ["ftp://h.example/", "file:///etc/hostname", "javascript:x", "http://[x"]
)
def test_a_redirect_to_another_scheme_is_not_followed(server: LoopbackServer, target: str) -> None:
    server.site["/a"] = redirect(target)

    async def main() -> None:
        async with AioWebClient() as client:
            response = error(await client.get(server.at("/a")))
            assert not response.retryable()

    run(main())
    assert server.requested == ["/a"]


@pytest.mark.parametrize("url", ["", "ftp://h/x", "http://", "http://[x", "http://h:99999/", "a b"])
def test_an_invalid_url_is_an_error_and_does_not_raise(url: str) -> None:
    assert run(error_message(url))


# Connections


def test_one_connection_serves_many_requests(server: LoopbackServer) -> None:
    ports = set()

    def note(handler: Handler) -> Answer:
        ports.add(handler.client_address[1])
        status = 404 if handler.path == "/404" else 200
        return Answer(status=status, body=b"x" * 65536)

    server.otherwise = note

    async def main() -> None:
        async with AioWebClient() as client:
            for _ in range(3):
                await body(client, server.url)
                await message(client, server.at("/404"))

    run(main())
    assert len(ports) == 1, "a small error page is read, so its connection is kept"


def test_a_large_error_page_is_not_downloaded(server: LoopbackServer) -> None:
    sent: list[int] = []

    def endless(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 404 Endless\r\n\r\n")
        while not handler.owner.closing.is_set():
            sent.append(handler.wfile.write(b"x" * 65536))

    server.otherwise = endless
    assert run(error_message(server.url)).startswith("404")
    assert sum(sent) < 30_000_000, "what the system's buffers hold"


@pytest.mark.parametrize(
    "response",
    [
        b"Content-Length: 10\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nA\r\nhello",
    ],
)
def test_what_was_received_is_yielded_before_the_error(
    server: LoopbackServer, response: bytes
) -> None:
    server.site["/a"] = raw(b"HTTP/1.1 200 OK\r\n" + response)

    async def main() -> None:
        async with AioWebClient() as client:
            for _ in range(5):  # sometimes the error arrives with the data
                received, failure = await read(client, server.at("/a"))
                assert received == b"hello"
                assert failure is not None
                assert is_transient(failure)

    run(main())


@pytest.mark.parametrize(
    "response",
    [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nxxx", b"\x00" * 100],
)
def test_a_response_that_is_not_http_is_an_error(server: LoopbackServer, response: bytes) -> None:
    server.site["/a"] = raw(response)

    async def main() -> None:
        async with AioWebClient() as client:
            none = error(await client.get(server.at("/a")))
            assert none.status_code() is None
            assert none.message().startswith("the response is malformed: ")
            assert none.no_response()

    run(main())


def test_a_reset_is_transient_and_a_closed_port_is_permanent(server: LoopbackServer) -> None:
    server.site["/a"] = reset
    with LoopbackServer() as gone:
        closed = gone.url

    async def main() -> None:
        async with AioWebClient() as client:
            dropped = error(await client.get(server.at("/a")))
            assert dropped.retryable()
            assert dropped.no_response()
            dead = error(await client.get(closed))
            assert not dead.retryable()
            assert dead.no_response()
            nameless = error(await client.get(f"http://{'x' * 70}/"))
            assert not nameless.retryable()

    run(main())


# Concurrency and intervals


def test_concurrency_is_limited(server: LoopbackServer) -> None:
    now, most = 0, 0

    def slow(handler: Handler) -> bytes:
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.02)
        now -= 1
        return b"x"

    server.otherwise = slow

    async def main() -> None:
        async with AioWebClient(concurrency=3) as client:
            await asyncio.gather(*(body(client, server.url) for _ in range(20)))

    run(main())
    assert most == 3


def test_requests_of_a_crawl_keep_their_interval(server: LoopbackServer) -> None:
    times: list[float] = []

    def note(handler: Handler) -> bytes:
        times.append(time.monotonic())
        return b"x"

    server.otherwise = note

    async def main() -> None:
        async with AioWebClient(wait=0.05) as client, client.for_crawl(server.url) as own:
            await asyncio.gather(*(body(own, server.url) for _ in range(4)))

    begun = time.monotonic()
    run(main())
    assert len(times) == 4
    for number, at in enumerate(times):  # a busy machine may make it later, never sooner
        assert at - begun >= number * 0.05


def test_a_crawl_calls_get_of_a_subclass(server: LoopbackServer) -> None:
    server.otherwise = b"x"

    class Counting(AioWebClient):
        requested = 0

        async def get(self, url: str) -> AbstractWebClientResponse:
            self.requested += 1
            return await super().get(f"{url}?counted")

    async def main() -> None:
        async with Counting() as client, AioWebClient() as other:
            async with client.for_crawl(server.url) as own, other.for_crawl(server.url) as its:
                await asyncio.gather(*(body(each, server.url) for each in (own, own, its)))
            await body(client, server.url)
            assert client.requested == 3

    run(main())
    assert sorted(server.requested) == ["/", "/?counted", "/?counted", "/?counted"]


# Misuse


def test_a_closed_client_raises(server: LoopbackServer) -> None:
    async def main() -> None:
        client = AioWebClient()
        await message(client, server.url)
        await client.close()
        await client.close()
        with pytest.raises(SitemapException, match="closed"):
            client.for_crawl(server.url)
        with pytest.raises(SitemapException, match="closed"):
            await client.get(server.url)

    run(main())


def test_a_client_belongs_to_one_event_loop(server: LoopbackServer) -> None:
    held = [AioWebClient()]
    run(message(held[0], server.url))

    async def second() -> None:
        with pytest.raises(SitemapException, match="another event loop"):
            held[0].for_crawl(server.url)

    run(second())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        held.clear()
        gc.collect()
    assert "an AioWebClient was not closed" in {str(each.message) for each in caught}


def test_an_unknown_rule_raises() -> None:
    wrong: AddressRule = "never"  # type: ignore[assignment]
    with pytest.raises(SitemapException, match="never"):
        AioWebClient(private_addresses=wrong)
