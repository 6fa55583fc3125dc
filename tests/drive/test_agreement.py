"""Both clients of ours say the same of what a server does: heads, labels, redirects, distances."""

import asyncio
import gzip
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
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
    """Fetches a URL, and returns the body or the error."""

    def __call__(self, url: str, **settings: Any) -> bytes | WebClientErrorResponse: ...


def with_requests(url: str, **settings: Any) -> bytes | WebClientErrorResponse:
    with closing(RequestsWebClient(**settings)) as client:
        answer = client.get(url)
        if isinstance(answer, AbstractWebClientSuccessResponse):
            return b"".join(answer.chunks())
        return error(answer)


def with_aiohttp(url: str, **settings: Any) -> bytes | WebClientErrorResponse:
    async def main() -> bytes | WebClientErrorResponse:
        async with AioWebClient(**settings) as client:
            answer = await client.get(url)
            if isinstance(answer, WebClientErrorResponse):
                return answer
            return b"".join([chunk async for chunk in success(answer).chunks()])

    return run(main())


@pytest.fixture(params=[with_requests, with_aiohttp])
def fetch(request: pytest.FixtureRequest) -> Fetch:
    chosen: Fetch = request.param
    return chosen


# Heads


@pytest.mark.parametrize(
    "before",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 199 Own\r\n\r\n",
    ],
    ids=["103", "100", "102", "several"],
)
@pytest.mark.parametrize("apart", [True, False], ids=["in pieces", "in one"])
def test_interim_answers_are_passed_over(
    server: LoopbackServer, fetch: Fetch, before: bytes, apart: bool
) -> None:
    def answer(handler: Handler) -> None:
        handler.wfile.write(before)
        if apart:
            handler.owner.closing.wait(0.05)
        handler.wfile.write(OK)

    server.otherwise = answer
    assert fetch(server.url) == b"hello"


def test_interim_answers_without_end_are_a_failure(server: LoopbackServer) -> None:
    server.otherwise = raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000)
    said = with_requests(server.url)
    assert isinstance(said, WebClientErrorResponse)
    assert "interim" in said.message()


def test_a_switch_of_protocols_is_no_document(server: LoopbackServer, fetch: Fetch) -> None:
    server.otherwise = raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
    assert isinstance(fetch(server.url), WebClientErrorResponse)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 17\r\n"


@pytest.mark.parametrize("length", [len(HEAD), len(HEAD) - 3, 40, 19, 17, 15])
def test_a_head_that_breaks_off_is_no_document(
    server: LoopbackServer, fetch: Fetch, length: int
) -> None:
    server.otherwise = raw(HEAD[:length])
    said = fetch(server.url)
    assert isinstance(said, WebClientErrorResponse)
    assert "middle of the headers" in said.message()
    assert (said.retryable(), said.no_response()) == (True, True)


def test_a_head_that_breaks_off_behind_an_interim_answer(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.otherwise = raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" + HEAD)
    said = fetch(server.url)
    assert isinstance(said, WebClientErrorResponse)
    assert said.retryable()


@pytest.mark.parametrize("crawl", [usp.sitemap_tree, aio.sitemap_tree])
def test_a_head_that_breaks_off_is_tried_again(
    server: LoopbackServer, crawl: Callable[..., Any]
) -> None:
    broken = iter([True])

    def answer(handler: Handler) -> bytes | None:
        if next(broken, False):
            handler.wfile.write(HEAD)
            return None
        return TEXT

    server.site["/a.xml"] = answer
    tree = crawl(server.at("/a.xml"), backoff_initial=0.01)
    tree = run(tree) if asyncio.iscoroutine(tree) else tree
    assert len(list(tree.all_pages())) == 2
    assert tree.outcome is Outcome.FOUND
    assert server.asked == ["/a.xml"] * 2


# Labels of packings


@pytest.mark.parametrize("label", ["gzip", "deflate", "br", "zstd", "compress", "x", "gzip, br"])
def test_what_is_only_labelled_as_packed_is_read(
    server: LoopbackServer, fetch: Fetch, label: str
) -> None:
    server.otherwise = Answer(body=TEXT, headers={"Content-Encoding": label})
    assert fetch(server.url) == TEXT


@pytest.mark.parametrize("label", ["br", "zstd", "gzip, BR"])
def test_a_packing_that_nobody_asked_for_is_a_failure(
    server: LoopbackServer, fetch: Fetch, label: str
) -> None:
    server.otherwise = Answer(body=b"\x0b\x02\x80<a/>\x03", headers={"Content-Encoding": label})
    said = fetch(server.url)
    assert isinstance(said, WebClientErrorResponse)
    assert "was not requested" in said.message()
    assert not said.retryable()
    assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    "text", [TEXT * 9000, b'{"items": []}', "überall".encode()], ids=["large", "JSON", "words"]
)
def test_bare_deflate_is_known_by_its_label(
    server: LoopbackServer, fetch: Fetch, text: bytes
) -> None:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = packer.compress(text) + packer.flush()
    server.otherwise = Answer(body=packed, headers={"Content-Encoding": "deflate"})
    assert fetch(server.url) == text


@pytest.mark.parametrize(
    ("label", "packed"),
    [("deflate", zlib.compress(TEXT)), ("gzip", gzip.compress(TEXT)), ("deflate", b"x")],
    ids=["zlib", "gzip", "one byte"],
)
def test_what_has_a_mark_is_left_to_the_reader(
    server: LoopbackServer, fetch: Fetch, label: str, packed: bytes
) -> None:
    server.otherwise = Answer(body=packed, headers={"Content-Encoding": label})
    assert fetch(server.url) == packed


def test_what_does_not_inflate_is_left_as_it_is(server: LoopbackServer, fetch: Fetch) -> None:
    text = "\ufeff<urlset/>".encode("utf-16-le")
    server.otherwise = Answer(body=text, headers={"Content-Encoding": "deflate"})
    assert fetch(server.url) == text


def test_a_label_on_a_session_of_the_callers(server: LoopbackServer) -> None:
    server.otherwise = Answer(body=TEXT, headers={"Content-Encoding": "deflate"})
    with requests.Session() as session:
        assert with_requests(server.url, session=session) == TEXT


# The distance between requests


class Starts:
    """Notes when requests arrive, and answers them."""

    def __init__(self, server: LoopbackServer) -> None:
        self.moments: list[float] = []
        self.server = server
        server.otherwise = self

    def __call__(self, handler: Handler) -> Answer:
        self.moments.append(time.monotonic())
        step, _, name = handler.path.strip("/").partition("/")
        left = int(step or 0)
        return redirect(f"/{left - 1}/{name}") if left else Answer(body=b"hello")

    @property
    def least(self) -> float:
        return min(after - before for before, after in pairwise(self.moments))


WAIT = 0.12
NEARLY = WAIT * 0.7
"""Requests leave at their distance; on a busy machine they arrive a little closer."""


def test_a_wait_holds_between_the_hops_of_a_redirect(server: LoopbackServer, fetch: Fetch) -> None:
    starts = Starts(server)
    assert fetch(server.at("/3/a"), wait=WAIT) == b"hello"
    assert len(starts.moments) == 4
    assert starts.least > NEARLY


def test_a_wait_is_no_time_of_the_document(server: LoopbackServer) -> None:
    Starts(server)
    with closing(RequestsWebClient(wait=WAIT)) as client:
        client.set_document_deadline(WAIT * 2)
        assert client.get(server.at("/4/a")).raw_data() == b"hello"  # type: ignore[attr-defined]
    settings = {"wait": WAIT, "document_deadline": WAIT * 2}
    assert with_aiohttp(server.at("/4/a"), **settings) == b"hello"


def test_a_polite_wait_between_hops_can_be_ended(server: LoopbackServer) -> None:
    starts = Starts(server)

    def end() -> None:
        while not starts.moments:
            time.sleep(0.005)
        client.abort()

    with closing(RequestsWebClient(wait=600)) as client:
        ending = threading.Thread(target=end)
        ending.start()
        assert error(client.get(server.at("/1/a"))).message() == "the request was cancelled"
        ending.join()
    assert len(starts.moments) == 1


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_redirects_under_a_bound_do_not_wait_for_one_another(
    server: LoopbackServer, concurrency: int
) -> None:
    starts = Starts(server)

    async def main() -> list[bytes]:
        async with AioWebClient(concurrency=concurrency, wait=0.03) as client, asyncio.timeout(30):
            urls = [server.at(f"/2/{name}") for name in "abcd"]
            return await asyncio.gather(*(body(client, url) for url in urls))

    assert run(main()) == [b"hello"] * 4
    assert len(starts.moments) == 12
    assert starts.least > 0.03 * 0.5


def test_crawls_of_one_host_keep_their_distance_from_one_another(server: LoopbackServer) -> None:
    starts = Starts(server)

    async def main() -> None:
        async with AioWebClient(wait=WAIT) as client:
            await asyncio.gather(
                *(aio.sitemap_tree(server.at(f"/1/{name}"), web_client=client) for name in "ab")
            )

    run(main())
    assert len(starts.moments) == 4
    assert starts.least > NEARLY
