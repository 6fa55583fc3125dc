"""Both clients give the same result for one response: headers, encodings, redirects, rate limit."""

import asyncio
import gzip
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from typing import Any, Protocol

import pytest
import requests

import usp
from tests.loops import body, run, success
from tests.responses import error
from tests.server import Answer, Handler, LoopbackServer, redirect, urlset
from tests.servers import raw
from usp import Outcome, aio
from usp.web_client.abstract_client import AbstractWebClientSuccessResponse, WebClientErrorResponse
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

TEXT = urlset("http://h.example/1", "http://h.example/2")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Fetch(Protocol):
    """Fetches a URL with one of the clients; returns the body or the error."""

    def __call__(self, url: str, **settings: Any) -> bytes | WebClientErrorResponse: ...


def with_requests(url: str, **settings: Any) -> bytes | WebClientErrorResponse:
    with closing(RequestsWebClient(**settings)) as client:
        response = client.get(url)
        if isinstance(response, AbstractWebClientSuccessResponse):
            return b"".join(response.chunks())
        return error(response)


def with_aiohttp(url: str, **settings: Any) -> bytes | WebClientErrorResponse:
    async def main() -> bytes | WebClientErrorResponse:
        async with AioWebClient(**settings) as client:
            response = await client.get(url)
            if isinstance(response, WebClientErrorResponse):
                return response
            return b"".join([chunk async for chunk in success(response).chunks()])

    return run(main())


@pytest.fixture(params=[with_requests, with_aiohttp])
def fetch(request: pytest.FixtureRequest) -> Fetch:
    chosen: Fetch = request.param
    return chosen


# Headers


@pytest.mark.parametrize(
    "interim",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 199 Own\r\n\r\n",
    ],
    ids=["103", "100", "102", "several"],
)
@pytest.mark.parametrize("delayed", [True, False], ids=["delayed", "together"])
def test_interim_responses_are_skipped(
    server: LoopbackServer, fetch: Fetch, interim: bytes, delayed: bool
) -> None:
    def answer(handler: Handler) -> None:
        handler.wfile.write(interim)
        if delayed:
            handler.owner.closing.wait(0.05)
        handler.wfile.write(OK)

    server.otherwise = answer
    assert fetch(server.url) == b"hello"


def test_endless_interim_responses_are_an_error(server: LoopbackServer) -> None:
    server.otherwise = raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000)
    response = with_requests(server.url)
    assert isinstance(response, WebClientErrorResponse)
    assert "interim" in response.message()


def test_a_switch_of_protocols_is_an_error(server: LoopbackServer, fetch: Fetch) -> None:
    server.otherwise = raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
    assert isinstance(fetch(server.url), WebClientErrorResponse)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 17\r\n"


@pytest.mark.parametrize("length", [len(HEAD), len(HEAD) - 3, 40, 19, 17, 15])
def test_truncated_headers_are_a_retryable_error(
    server: LoopbackServer, fetch: Fetch, length: int
) -> None:
    server.otherwise = raw(HEAD[:length])
    response = fetch(server.url)
    assert isinstance(response, WebClientErrorResponse)
    assert "middle of the headers" in response.message()
    assert (response.retryable(), response.no_response()) == (True, True)


def test_truncated_headers_after_an_interim_response_are_a_retryable_error(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.otherwise = raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" + HEAD)
    response = fetch(server.url)
    assert isinstance(response, WebClientErrorResponse)
    assert response.retryable()


@pytest.mark.parametrize("crawl", [usp.sitemap_tree, aio.sitemap_tree])
def test_a_crawl_retries_a_response_with_truncated_headers(
    server: LoopbackServer, crawl: Callable[..., Any]
) -> None:
    def answer(handler: Handler) -> bytes | None:
        if len(server.requested) == 1:
            handler.wfile.write(HEAD)
            return None
        return TEXT

    server.site["/a.xml"] = answer
    tree = crawl(server.at("/a.xml"), backoff_initial=0.01)
    tree = run(tree) if asyncio.iscoroutine(tree) else tree
    assert len(list(tree.all_pages())) == 2
    assert tree.outcome is Outcome.FOUND
    assert server.requested == ["/a.xml"] * 2


# Content encodings


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "compress", "x", "gzip, br"])
def test_a_body_that_is_not_compressed_despite_its_content_encoding_is_read(
    server: LoopbackServer, fetch: Fetch, encoding: str
) -> None:
    server.otherwise = Answer(body=TEXT, headers={"Content-Encoding": encoding})
    assert fetch(server.url) == TEXT


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, BR"])
def test_a_content_encoding_that_was_not_requested_is_a_permanent_error(
    server: LoopbackServer, fetch: Fetch, encoding: str
) -> None:
    server.otherwise = Answer(body=b"\x0b\x02\x80<a/>\x03", headers={"Content-Encoding": encoding})
    response = fetch(server.url)
    assert isinstance(response, WebClientErrorResponse)
    assert "was not requested" in response.message()
    assert not response.retryable()
    assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    "text", [TEXT * 9000, b'{"items": []}', "überall".encode()], ids=["large", "JSON", "words"]
)
def test_raw_deflate_is_decompressed_if_its_content_encoding_says_so(
    server: LoopbackServer, fetch: Fetch, text: bytes
) -> None:
    server.otherwise = Answer(body=raw_deflate(text), headers={"Content-Encoding": "deflate"})
    assert fetch(server.url) == text


def raw_deflate(text: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(text) + compressor.flush()


WHOLE = raw_deflate(b"".join(b"http://h.example/%d\n" % number**9 for number in range(20_000)))


@pytest.mark.parametrize(
    "damaged",
    [WHOLE[:-5], WHOLE[:200_000] + b"\xff" * 1000],
    ids=["truncated", "corrupt"],
)
@pytest.mark.parametrize("crawl", [usp.sitemap_tree, aio.sitemap_tree])
def test_raw_deflate_that_is_not_whole_is_a_truncated_document(
    server: LoopbackServer, crawl: Callable[..., Any], damaged: bytes
) -> None:
    server.site["/a.txt"] = Answer(body=damaged, headers={"Content-Encoding": "deflate"})
    tree = crawl(server.at("/a.txt"))
    tree = run(tree) if asyncio.iscoroutine(tree) else tree
    (sitemap,) = tree.sub_sitemaps
    list(tree.all_pages())
    assert tree.outcome is Outcome.PARTIAL
    assert "SM102" in [problem.code for problem in sitemap.problems]
    assert server.requested == ["/a.txt"], "another request would bring the same"


@pytest.mark.parametrize(
    ("encoding", "compressed"),
    [("deflate", zlib.compress(TEXT)), ("gzip", gzip.compress(TEXT)), ("deflate", b"x")],
    ids=["zlib", "gzip", "one byte"],
)
def test_a_body_with_a_magic_number_is_left_for_the_parser_to_decompress(
    server: LoopbackServer, fetch: Fetch, encoding: str, compressed: bytes
) -> None:
    server.otherwise = Answer(body=compressed, headers={"Content-Encoding": encoding})
    assert fetch(server.url) == compressed


def test_a_body_that_is_not_deflate_is_left_as_it_is(server: LoopbackServer, fetch: Fetch) -> None:
    text = "\ufeff<urlset/>".encode("utf-16-le")
    server.otherwise = Answer(body=text, headers={"Content-Encoding": "deflate"})
    assert fetch(server.url) == text


def test_a_wrong_content_encoding_is_accepted_with_a_session_of_the_caller_too(
    server: LoopbackServer,
) -> None:
    server.otherwise = Answer(body=TEXT, headers={"Content-Encoding": "deflate"})
    with requests.Session() as session:
        assert with_requests(server.url, session=session) == TEXT


# The wait between requests


class RecordedTimes:
    """Records when requests arrive, and answers them; the path gives the number of redirects."""

    def __init__(self, server: LoopbackServer) -> None:
        self.times: list[float] = []
        self.server = server
        server.otherwise = self

    def __call__(self, handler: Handler) -> Answer:
        self.times.append(time.monotonic())
        step, _, name = handler.path.strip("/").partition("/")
        left = int(step or 0)
        return redirect(f"/{left - 1}/{name}") if left else Answer(body=b"hello")

    @property
    def average_interval(self) -> float:
        """On a busy machine one request may be late, and the next in time."""
        return (max(self.times) - min(self.times)) / (len(self.times) - 1)


WAIT = 0.12
NEARLY = WAIT * 0.7
"""The first request may be late."""


def test_redirects_are_followed_at_the_wait(server: LoopbackServer, fetch: Fetch) -> None:
    recorded = RecordedTimes(server)
    assert fetch(server.at("/3/a"), wait=WAIT) == b"hello"
    assert len(recorded.times) == 4
    assert recorded.average_interval > NEARLY


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/\u00fcber é.xml".encode(), "/%C3%BCber%20%C3%A9.xml"),
        (b"/\xfcber.xml?\xe9", "/%FCber.xml?%E9"),
    ],
    ids=["UTF-8", "Latin-1"],
)
def test_bytes_of_a_location_are_percent_encoded_as_browsers_do(
    server: LoopbackServer, fetch: Fetch, location: bytes, path: str
) -> None:
    head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: "
    server.site["/a"] = raw(head + location + b"\r\n\r\n")
    server.site[path] = "hello"
    assert fetch(server.at("/a")) == b"hello"


def with_session(url: str, **settings: Any) -> bytes | WebClientErrorResponse:
    with requests.Session() as session:
        return with_requests(url, session=session, **settings)


LOCATED = b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nConnection: close\r\n%b\r\n"


@pytest.mark.parametrize("fetch_with", [with_requests, with_session, with_aiohttp])
@pytest.mark.parametrize("second", [b"/b.xml", b"/c.xml", b""])
def test_of_several_locations_the_first_counts(
    server: LoopbackServer, fetch_with: Fetch, second: bytes
) -> None:
    lines = b"".join(b"Location: %b\r\n" % path for path in (b"/b.xml", second))
    server.site |= {"/a.xml": raw(LOCATED % lines), "/b.xml": "hello", "/c.xml": "wrong"}
    assert fetch_with(server.at("/a.xml")) == b"hello"
    assert server.requested == ["/a.xml", "/b.xml"]


@pytest.mark.parametrize("fetch_with", [with_requests, with_session, with_aiohttp])
def test_a_first_location_that_is_empty_leads_nowhere(
    server: LoopbackServer, fetch_with: Fetch
) -> None:
    server.site["/a.xml"] = raw(LOCATED % b"Location:\r\nLocation: /b.xml\r\n")
    response = fetch_with(server.at("/a.xml"))
    assert isinstance(response, WebClientErrorResponse)
    assert (response.status_code(), server.requested) == (301, ["/a.xml"])


def test_a_location_that_a_hook_of_the_session_has_changed_counts(server: LoopbackServer) -> None:
    def change(response: requests.Response, **_: object) -> None:
        if response.is_redirect:
            response.headers["Location"] = "/b.xml"

    server.site |= {"/a.xml": redirect("/c.xml"), "/b.xml": "hello"}
    with requests.Session() as session:
        session.hooks["response"].append(change)
        assert with_requests(server.at("/a.xml"), session=session) == b"hello"


@pytest.mark.slow
def test_the_wait_does_not_count_for_the_document_deadline(server: LoopbackServer) -> None:
    RecordedTimes(server)
    with closing(RequestsWebClient(wait=WAIT)) as client:
        client.set_document_deadline(WAIT * 2)
        assert client.get(server.at("/4/a")).raw_data() == b"hello"  # type: ignore[attr-defined]
    settings = {"wait": WAIT, "document_deadline": WAIT * 2}
    assert with_aiohttp(server.at("/4/a"), **settings) == b"hello"


def test_a_wait_between_redirects_can_be_cancelled(server: LoopbackServer) -> None:
    recorded = RecordedTimes(server)

    def abort() -> None:
        while not recorded.times:
            time.sleep(0.005)
        client.abort()

    with closing(RequestsWebClient(wait=600)) as client:
        thread = threading.Thread(target=abort)
        thread.start()
        assert error(client.get(server.at("/1/a"))).message() == "the request was cancelled"
        thread.join()
    assert len(recorded.times) == 1


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_redirects_with_limited_concurrency_do_not_block_one_another(
    server: LoopbackServer, concurrency: int
) -> None:
    recorded = RecordedTimes(server)

    async def main() -> list[bytes]:
        async with AioWebClient(concurrency=concurrency, wait=0.03) as client, asyncio.timeout(30):
            urls = [server.at(f"/2/{name}") for name in "abcd"]
            return await asyncio.gather(*(body(client, url) for url in urls))

    assert run(main()) == [b"hello"] * 4
    assert len(recorded.times) == 12
    assert recorded.average_interval > 0.03 * 0.7


def test_crawls_that_share_a_client_share_its_wait_per_host(server: LoopbackServer) -> None:
    recorded = RecordedTimes(server)

    async def main() -> None:
        async with AioWebClient(wait=WAIT) as client:
            await asyncio.gather(
                *(aio.sitemap_tree(server.at(f"/1/{name}"), web_client=client) for name in "ab")
            )

    run(main())
    assert len(recorded.times) == 4
    assert recorded.average_interval > NEARLY


# Proxies


def crawl_in_threads(url: str, proxy: str) -> usp.objects.sitemap.IndexWebsiteSitemap:
    with closing(RequestsWebClient(proxies={"http": proxy})) as client:
        return usp.sitemap_tree_for_homepage(url, client)


def crawl_in_asyncio(url: str, proxy: str) -> usp.objects.sitemap.IndexWebsiteSitemap:
    async def main() -> usp.objects.sitemap.IndexWebsiteSitemap:
        async with AioWebClient(proxies={"http": proxy}) as client:
            return await aio.sitemap_tree_for_homepage(url, client)

    return run(main())


@pytest.mark.parametrize("crawl", [crawl_in_threads, crawl_in_asyncio])
def test_the_refusal_of_a_proxy_is_not_the_sites(server: LoopbackServer, crawl: Any) -> None:
    server.otherwise = raw(b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n")
    tree = crawl("http://far.example/", server.url)
    assert tree.outcome is Outcome.UNREACHABLE
    assert tree.tried[0].result == "unreachable"
    assert tree.tried[0].detail == "the proxy responded 407 Who are you?"
