"""The caller's own clients, in threads and in asyncio, whose responses do odd things: a failed
fetch or a bug, and the response is closed in every case.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.loops import run
from usp import aio
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
)
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

HOME = "http://h.example/"
DOCUMENT = b"<urlset><url><loc>http://h.example/page</loc></url></urlset>"
Methods = dict[str, Callable[[str], Any]]
"""What a method of a response does instead of the usual, by its name; it gets the URL."""


class OddResponse:
    """A response with some methods replaced."""

    def __init__(self, url: str, methods: Methods) -> None:
        self._url = url
        self._methods = methods
        self.closed = 0

    def call(self, name: str, usual: object) -> Any:
        return self._methods[name](self._url) if name in self._methods else usual

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, case_insensitive_name: str) -> str | None:
        found: str | None = self.call("header", None)
        return found

    def url(self) -> str:
        found: str = self.call("url", self._url)
        return found


class SyncResponse(OddResponse, AbstractWebClientSuccessResponse):
    def raw_data(self) -> bytes:
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        found: Iterator[bytes] = self.call("chunks", [DOCUMENT])  # a list: any iterable will do
        return found

    def close(self) -> None:
        self.closed += 1


class AioResponse(OddResponse, AbstractAioWebClientSuccessResponse):
    def chunks(self) -> AsyncIterator[bytes]:
        found: AsyncIterator[bytes] = self.call("chunks", Chunks())
        return found

    async def close(self) -> None:
        self.closed += 1


class Chunks(AsyncIterator[bytes]):
    """An iterator that is not a generator: it has no ``aclose()``, like the bodies of aiohttp."""

    def __init__(self, *, error: BaseException | None = None) -> None:
        self._left = [DOCUMENT]
        self._error = error

    async def __anext__(self) -> bytes:
        if self._left:
            return self._left.pop()
        raise self._error or StopAsyncIteration


class SyncClient(AbstractWebClient):
    def __init__(self, methods: Methods) -> None:
        self.returned: list[OddResponse] = []
        self._methods = methods

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        if url != f"{HOME}robots.txt":
            return WebClientErrorResponse("404 Not Found", retryable=False)
        response = SyncResponse(url, self._methods)
        self.returned.append(response)
        return response


class AioClient(AbstractAioWebClient):
    def __init__(self, methods: Methods) -> None:
        self.returned: list[OddResponse] = []
        self._methods = methods

    async def get(self, url: str) -> AbstractWebClientResponse:
        if url != f"{HOME}robots.txt":
            return WebClientErrorResponse("404 Not Found", retryable=False)
        if "get" in self._methods:
            self._methods["get"](url)
        response = AioResponse(url, self._methods)
        self.returned.append(response)
        return response


Client = SyncClient | AioClient


def crawl(client: Client) -> IndexWebsiteSitemap:
    if isinstance(client, SyncClient):
        return sitemap_tree_for_homepage(HOME, client, use_known_paths=False)
    return run(aio.sitemap_tree_for_homepage(HOME, client, use_known_paths=False))


def raising(error: BaseException) -> Callable[[str], Any]:
    def raise_it(_url: str) -> None:
        raise error

    return raise_it


both = pytest.mark.parametrize("kind", [SyncClient, AioClient])


@both
def test_any_iterable_is_a_body(kind: type[Client]) -> None:
    client = kind({})
    tree = crawl(client)
    assert tree.tried[0].detail == "", "robots.txt was read"
    assert [response.closed for response in client.returned] == [1]


@both
@pytest.mark.parametrize(
    ("methods", "detail"),
    [
        ({"url": lambda _: "http://[::1"}, "ValueError: Invalid IPv6 URL"),
        ({"url": raising(KeyError("url"))}, "KeyError: 'url'"),
        ({"header": raising(OSError("gone"))}, "OSError: gone"),
        ({"chunks": raising(RuntimeError("no body"))}, "RuntimeError: no body"),
    ],
)
def test_a_response_that_raises_is_a_failed_fetch(
    kind: type[Client], methods: Methods, detail: str
) -> None:
    client = kind(methods)
    assert crawl(client).tried[0].detail.startswith(detail)
    assert [response.closed for response in client.returned] == [1]


@both
@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"url": raising(NotImplementedError("no URL"))}, "no URL"),
        ({"url": lambda _: None}, "must return a string, not None"),
        ({"header": raising(AttributeError("no headers"))}, "no headers"),
        ({"chunks": raising(AssertionError("no body"))}, "no body"),
        ({"chunks": lambda _: None}, "'NoneType' object is not"),
    ],
)
def test_a_bug_in_a_response_reaches_the_caller(
    kind: type[Client], methods: Methods, message: str
) -> None:
    client = kind(methods)
    with pytest.raises(Exception, match=message):
        crawl(client)
    assert [response.closed for response in client.returned] == [1]


@pytest.mark.parametrize("chunks", [["text"], [None], [5]])
def test_a_chunk_that_is_not_bytes_is_a_bug(chunks: list[Any]) -> None:
    client = SyncClient({"chunks": lambda _: iter(chunks)})
    with pytest.raises(TypeError, match="the body of a response must be bytes, not"):
        crawl(client)
    assert [response.closed for response in client.returned] == [1]


def test_a_cancellation_of_something_else_is_a_failed_fetch() -> None:
    client = AioClient({"get": raising(asyncio.CancelledError("something else"))})
    assert crawl(client).tried[0].detail == "CancelledError: something else"


def test_a_cancellation_of_something_else_truncates_a_body() -> None:
    client = AioClient({"chunks": lambda _: Chunks(error=asyncio.CancelledError())})
    assert crawl(client).sub_sitemaps[0].problems[0].code == "SM102"
    assert [response.closed for response in client.returned] == [1]
