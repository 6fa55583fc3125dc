"""Clients of the caller's own, plain and in asyncio, that do odd things: each is a failed fetch,
and whatever they handed over is closed.
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
Says = dict[str, Callable[[str], Any]]
"""What a response says when it is asked, by the name of the method; it is told its URL."""


class Head:
    """What is odd about a response."""

    def __init__(self, url: str, says: Says) -> None:
        self._url = url
        self._says = says
        self.closed = 0

    def said(self, name: str, usual: object) -> Any:
        return self._says[name](self._url) if name in self._says else usual

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, case_insensitive_name: str) -> str | None:
        found: str | None = self.said("header", None)
        return found

    def url(self) -> str:
        return str(self.said("url", self._url))


class Plain(Head, AbstractWebClientSuccessResponse):
    def raw_data(self) -> bytes:
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        found: Iterator[bytes] = self.said("chunks", [DOCUMENT])  # a list: whatever is iterable
        return found

    def close(self) -> None:
        self.closed += 1


class Aio(Head, AbstractAioWebClientSuccessResponse):
    def chunks(self) -> AsyncIterator[bytes]:
        found: AsyncIterator[bytes] = self.said("chunks", Pieces())
        return found

    async def close(self) -> None:
        self.closed += 1


class Pieces(AsyncIterator[bytes]):
    """No generator: it has no ``aclose()``, as the bodies of aiohttp have none."""

    def __init__(self, *, fault: BaseException | None = None) -> None:
        self._left = [DOCUMENT]
        self._fault = fault

    async def __anext__(self) -> bytes:
        if self._left:
            return self._left.pop()
        raise self._fault or StopAsyncIteration


class PlainClient(AbstractWebClient):
    def __init__(self, says: Says) -> None:
        self.given: list[Head] = []
        self._says = says

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        if url != f"{HOME}robots.txt":
            return WebClientErrorResponse("404 Not Found", retryable=False)
        response = Plain(url, self._says)
        self.given.append(response)
        return response


class AioClient(AbstractAioWebClient):
    def __init__(self, says: Says) -> None:
        self.given: list[Head] = []
        self._says = says

    async def get(self, url: str) -> AbstractWebClientResponse:
        if url != f"{HOME}robots.txt":
            return WebClientErrorResponse("404 Not Found", retryable=False)
        if "get" in self._says:
            self._says["get"](url)
        response = Aio(url, self._says)
        self.given.append(response)
        return response


Crawl = Callable[[Says], tuple[IndexWebsiteSitemap, list[Head]]]


def crawled(says: Says) -> tuple[IndexWebsiteSitemap, list[Head]]:
    client = PlainClient(says)
    return sitemap_tree_for_homepage(HOME, client, use_known_paths=False), client.given


def crawled_in_asyncio(says: Says) -> tuple[IndexWebsiteSitemap, list[Head]]:
    client = AioClient(says)
    tree = run(aio.sitemap_tree_for_homepage(HOME, client, use_known_paths=False))
    return tree, client.given


def raising(error: BaseException) -> Callable[[str], Any]:
    def raise_it(_url: str) -> None:
        raise error

    return raise_it


both = pytest.mark.parametrize("crawl", [crawled, crawled_in_asyncio])


@both
def test_whatever_can_be_iterated_is_a_body(crawl: Crawl) -> None:
    tree, given = crawl({})
    assert tree.tried[0].detail == "", "robots.txt was read"
    assert [response.closed for response in given] == [1]


@both
@pytest.mark.parametrize(
    ("says", "detail"),
    [
        ({"url": lambda _: "http://[::1"}, "ValueError: Invalid IPv6 URL"),
        ({"url": raising(KeyError("url"))}, "KeyError: 'url'"),
        ({"header": raising(OSError("gone"))}, "OSError: gone"),
        ({"chunks": raising(RuntimeError("no body"))}, "RuntimeError: no body"),
    ],
)
def test_a_response_that_can_not_say_what_it_is_is_a_failed_fetch(
    crawl: Crawl, says: Says, detail: str
) -> None:
    tree, given = crawl(says)
    assert tree.tried[0].detail.startswith(detail)
    assert [response.closed for response in given] == [1]


def test_a_cancellation_of_something_else_is_a_failed_fetch() -> None:
    tree, _ = crawled_in_asyncio({"get": raising(asyncio.CancelledError("something else"))})
    assert tree.tried[0].detail == "CancelledError: something else"


def test_a_cancellation_of_something_else_ends_a_body() -> None:
    tree, given = crawled_in_asyncio({"chunks": lambda _: Pieces(fault=asyncio.CancelledError())})
    assert tree.sub_sitemaps[0].problems[0].name == "body-truncated"
    assert [response.closed for response in given] == [1]
