"""Conditional requests of both clients: validators are sent, and a 304 is "not modified"."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
import requests

from tests.loops import run
from tests.server import Answer, Handler, LoopbackServer, Plain, redirect, urlset
from tests.servers import ServerAt
from usp._crawl import Crawl
from usp._crawl.messages import FetchRequest, NotModified
from usp._drive.aio import AioFetcher
from usp._drive.fetch import Fetcher
from usp._drive.time_limit import TimeLimit
from usp._parse import Document
from usp._store import Store
from usp.objects.fetch_info import Validators
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
)
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
    WebClientNotModifiedResponse,
)
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")

ETAG = '"abc"'
DATE = "Mon, 01 Jan 2024 00:00:00 GMT"
BOTH = Validators(ETAG, DATE)
Ask: TypeAlias = tuple[str, Validators | None]
FetchAll: TypeAlias = Callable[..., list[AbstractWebClientResponse]]


def with_requests(home: str, *asks: Ask, session: Any = None) -> list[AbstractWebClientResponse]:
    """The responses of one client in one crawl, one after the other; their bodies are read."""
    found: list[AbstractWebClientResponse] = []
    client = RequestsWebClient(session=session)
    with client.for_crawl(home) as scope:
        for url, validators in asks:
            response = scope.get(url, validators)
            if isinstance(response, AbstractWebClientSuccessResponse):
                response.raw_data()
            found.append(response)
    client.close()
    return found


def with_session(home: str, *asks: Ask) -> list[AbstractWebClientResponse]:
    with requests.Session() as session:
        return with_requests(home, *asks, session=session)


def with_aiohttp(home: str, *asks: Ask) -> list[AbstractWebClientResponse]:
    async def main() -> list[AbstractWebClientResponse]:
        found: list[AbstractWebClientResponse] = []
        async with AioWebClient() as client, client.for_crawl(home) as scope:
            for url, validators in asks:
                response = await scope.get(url, validators)
                if isinstance(response, AbstractAioWebClientSuccessResponse):
                    async for _ in response.chunks():
                        pass
                found.append(response)
        return found

    return run(main())


@pytest.fixture(params=[with_requests, with_session, with_aiohttp])
def fetch(request: pytest.FixtureRequest) -> FetchAll:
    chosen: FetchAll = request.param
    return chosen


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A server on another host."""
    with ServerAt("127.0.0.2") as running:
        yield running


class Conditional:
    """A document that answers conditional requests, and notes its connections."""

    def __init__(self, body: bytes = b"hello", head: str = "", after: bytes = b"") -> None:
        self.body = body
        self.not_modified = f"HTTP/1.1 304 Not Modified\r\nETag: {ETAG}\r\n{head}\r\n".encode()
        self.not_modified += after
        self.ports: list[int] = []

    def __call__(self, handler: Handler) -> Plain | None:
        self.ports.append(handler.client_address[1])
        sent = handler.headers
        if sent["If-None-Match"] == ETAG or sent["If-Modified-Since"] == DATE:
            handler.wfile.write(self.not_modified)
            handler.keep_open = True
            return None
        return Answer(body=self.body, headers={"ETag": ETAG, "Last-Modified": DATE})


def conditions(server: LoopbackServer) -> list[tuple[str | None, str | None]]:
    """The conditions that a server got with each request."""
    headers = [request.headers for request in server.requests]
    return [(each.get("if-none-match"), each.get("if-modified-since")) for each in headers]


@pytest.mark.parametrize("validators", [Validators(ETAG), Validators(None, DATE), BOTH])
def test_a_304_is_not_modified(
    server: LoopbackServer, fetch: FetchAll, validators: Validators
) -> None:
    server.site["/a"] = Conditional()
    (response,) = fetch(server.url, (server.at("/a"), validators))
    assert isinstance(response, WebClientNotModifiedResponse)
    assert (response.status_code(), response.url()) == (304, server.at("/a"))
    assert (response.header("etag"), response.header("X-None")) == (ETAG, None)
    assert response.redirects() == ()
    assert conditions(server) == [(validators.etag, validators.last_modified)]


@pytest.mark.parametrize("validators", [None, Validators(), Validators('"old"')])
def test_without_a_match_the_document_comes(
    server: LoopbackServer, fetch: FetchAll, validators: Validators | None
) -> None:
    server.site["/a"] = Conditional()
    (response,) = fetch(server.url, (server.at("/a"), validators))
    assert not isinstance(response, WebClientNotModifiedResponse | WebClientErrorResponse)
    assert conditions(server) == [(validators.etag if validators else None, None)]


def test_a_server_that_ignores_conditions_sends_the_document(
    server: LoopbackServer, fetch: FetchAll
) -> None:
    server.site["/a"] = b"hello"
    (response,) = fetch(server.url, (server.at("/a"), BOTH))
    assert not isinstance(response, WebClientNotModifiedResponse | WebClientErrorResponse)


def test_a_304_to_an_unconditional_request_is_an_error(
    server: LoopbackServer, fetch: FetchAll
) -> None:
    server.site["/a"] = 304
    (response,) = fetch(server.url, (server.at("/a"), None))
    assert isinstance(response, WebClientErrorResponse)
    assert (response.status_code(), response.retryable()) == (304, False)


@pytest.mark.parametrize(
    "head",
    ["", "Content-Length: 0\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"],
)
def test_after_a_304_the_connection_is_used_again(
    server: LoopbackServer, fetch: FetchAll, head: str
) -> None:
    # A 304 has no body, whatever its headers say of the document (RFC 9110 8.6, RFC 9112 6.1).
    page = server.site["/a"] = Conditional(head=head)
    url = server.at("/a")
    begun = time.monotonic()
    responses = fetch(server.url, (url, None), (url, BOTH), (url, None), (url, BOTH), (url, None))
    assert time.monotonic() - begun < 20, "nothing waits for a body"
    is_304 = [isinstance(each, WebClientNotModifiedResponse) for each in responses]
    assert is_304 == [False, True, False, True, False]
    if fetch is not with_session or "chunked" not in head:  # http.client expects chunks
        assert len(set(page.ports)) == 1


def test_a_304_with_a_body_does_not_disturb_the_next_response(
    server: LoopbackServer, fetch: FetchAll
) -> None:
    body = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    server.site["/a"] = Conditional(head=f"Content-Length: {len(body)}\r\n", after=body)
    url = server.at("/a")
    responses = fetch(server.url, (url, BOTH), (url, None), (url, BOTH), (url, None))
    is_304 = [isinstance(each, WebClientNotModifiedResponse) for each in responses]
    assert is_304 == [True, False, True, False]
    for response in (responses[1], responses[3]):
        assert not isinstance(response, WebClientErrorResponse)
        assert response.header("ETag") == ETAG  # type: ignore[attr-defined]


def test_validators_stay_on_redirects_within_a_host(
    server: LoopbackServer, fetch: FetchAll
) -> None:
    server.site |= {"/a": redirect("/b"), "/b": redirect("/c", 301), "/c": Conditional()}
    (response,) = fetch(server.url, (server.at("/a"), BOTH))
    assert isinstance(response, WebClientNotModifiedResponse)
    assert response.url() == server.at("/c")
    assert response.redirects() == (server.at("/a"), server.at("/b"))
    assert conditions(server) == [(ETAG, DATE)] * 3


def test_validators_are_not_sent_to_another_host(
    server: LoopbackServer, other: LoopbackServer, fetch: FetchAll
) -> None:
    server.site |= {"/a": redirect(other.at("/b")), "/d": Conditional()}
    other.site |= {"/b": redirect("/c"), "/c": redirect(server.at("/d"))}
    (response,) = fetch(server.url, (server.at("/a"), BOTH))
    assert not isinstance(response, WebClientNotModifiedResponse | WebClientErrorResponse)
    assert conditions(server) == [(ETAG, DATE), (None, None)], "nor when it leads back"
    assert conditions(other) == [(None, None)] * 2


def test_a_304_from_another_host_is_an_error(
    server: LoopbackServer, other: LoopbackServer, fetch: FetchAll
) -> None:
    server.site["/a"] = redirect(other.at("/b"))
    other.site["/b"] = 304
    (response,) = fetch(server.url, (server.at("/a"), BOTH))
    assert isinstance(response, WebClientErrorResponse)
    assert response.status_code() == 304


def test_validators_belong_to_one_url(server: LoopbackServer) -> None:
    class LogsIn(RequestsWebClient):
        def get(self, url: str) -> AbstractWebClientResponse:
            super().get(server.at("/login"))
            return super().get(url)

    class AioLogsIn(AioWebClient):
        async def get(self, url: str) -> AbstractWebClientResponse:
            await super().get(server.at("/login"))
            return await super().get(url)

    async def main() -> AbstractWebClientResponse:
        async with AioLogsIn() as client, client.for_crawl(server.url) as scope:
            return await scope.get(server.at("/a"), BOTH)

    server.site["/a"] = Conditional()
    client = LogsIn()
    with client.for_crawl(server.url) as scope:
        assert isinstance(scope.get(server.at("/a"), BOTH), WebClientNotModifiedResponse)
    client.close()
    assert isinstance(run(main()), WebClientNotModifiedResponse)
    assert server.requested == ["/login", "/a"] * 2
    assert conditions(server) == [(None, None), (ETAG, DATE)] * 2


# What the drivers make of it


REQUEST = FetchRequest("http://h.example/a.xml", attempt=3, validators=BOTH)


def fetched(request: FetchRequest, client: AbstractWebClient | AbstractAioWebClient) -> object:
    """What the fetcher of a driver makes of a request."""
    ended = TimeLimit(Crawl(request.url))
    if isinstance(client, AbstractWebClient):
        with client.for_crawl(request.url) as scope:
            return Fetcher(scope, Store(), 10_000, ended)(request)

    async def main() -> object:
        async with client, client.for_crawl(request.url) as scope:
            return await AioFetcher(scope, Store(), 10_000, ended)(request)

    return asyncio.run(main())


@pytest.mark.parametrize("kind", [RequestsWebClient, AioWebClient])
def test_a_fetcher_returns_not_modified(
    server: LoopbackServer, kind: type[AbstractWebClient | AbstractAioWebClient]
) -> None:
    server.site["/a.xml"] = Conditional(urlset(server.at("/1")))
    client = kind()
    url = server.at("/a.xml")
    result = fetched(FetchRequest(url, attempt=3, validators=BOTH), client)
    if isinstance(client, RequestsWebClient):
        client.close()
    assert isinstance(result, NotModified)
    info = result.fetch_info
    assert (info.status, info.etag, info.attempts, info.bytes_received) == (304, ETAG, 3, 0)
    assert info.not_modified
    assert info.fetched_at is not None
    assert info.seconds is not None


def test_a_client_that_ignores_validators_returns_the_document() -> None:
    class Ignores(AbstractWebClient):
        def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
            pass

        def get(self, url: str) -> AbstractWebClientResponse:
            return LocalWebClientSuccessResponse(url, urlset("http://h.example/1").decode())

    result = fetched(REQUEST, Ignores())
    assert isinstance(result, Document)
    assert len(list(result.pages)) == 1
