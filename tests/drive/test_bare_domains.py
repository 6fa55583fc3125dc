"""A bare domain works wherever a homepage does, and means https; one word alone is rejected.

The clients record what is requested and answer 404, so no TLS server is needed.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import usp
from tests.loops import run
from usp import aio
from usp.exceptions import SitemapException, UsageError
from usp.objects.events import Event, RequestStarted
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    WebClientErrorResponse,
)

Observer = Callable[[Event], None]


class MissingEverywhere(AbstractWebClient):
    """A client for which every URL is missing."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        return WebClientErrorResponse("404 Not Found", retryable=False)


class AioMissingEverywhere(AbstractAioWebClient):
    """The same, in asyncio."""

    async def get(self, url: str) -> AbstractWebClientResponse:
        return WebClientErrorResponse("404 Not Found", retryable=False)


async def read_all(stream: AsyncIterator[Any]) -> None:
    async for _ in stream:
        pass


def options(observer: Observer) -> dict[str, Any]:
    return {"web_client": MissingEverywhere(), "observer": observer}


def aio_options(observer: Observer) -> dict[str, Any]:
    return {"web_client": AioMissingEverywhere(), "observer": observer}


CRAWLS: dict[str, Callable[[str, Observer], object]] = {
    "sitemap_tree_for_homepage": lambda site, observer: usp.sitemap_tree_for_homepage(
        site, **options(observer)
    ),
    "sitemap_tree": lambda site, observer: usp.sitemap_tree(site, **options(observer)),
    "iter_pages": lambda site, observer: list(usp.iter_pages(site, **options(observer))),
    "aio.sitemap_tree_for_homepage": lambda site, observer: run(
        aio.sitemap_tree_for_homepage(site, **aio_options(observer))
    ),
    "aio.sitemap_tree": lambda site, observer: run(aio.sitemap_tree(site, **aio_options(observer))),
    "aio.iter_pages": lambda site, observer: run(
        read_all(aio.iter_pages(site, **aio_options(observer)))
    ),
    "aio.sitemap_trees": lambda site, observer: run(
        read_all(aio.sitemap_trees([site], **aio_options(observer)))
    ),
}


def requested(crawl: str, site: str) -> list[str]:
    """Return the URLs that a crawl requests."""
    events: list[Event] = []
    CRAWLS[crawl](site, events.append)
    return [event.url for event in events if isinstance(event, RequestStarted)]


@pytest.mark.parametrize("crawl", CRAWLS)
@pytest.mark.parametrize(
    ("site", "homepage"),
    [
        ("h.example", "https://h.example/"),
        ("www.h.example", "https://www.h.example/"),
        ("h.example/", "https://h.example/"),
        ("h.example:8443", "https://h.example:8443/"),
        ("localhost", "https://localhost/"),
        ("localhost:8080", "https://localhost:8080/"),
        ("127.0.0.1:8080", "https://127.0.0.1:8080/"),
    ],
)
def test_a_bare_domain_is_crawled_by_https(crawl: str, site: str, homepage: str) -> None:
    urls = requested(crawl, site)
    assert urls[0] == f"{homepage}robots.txt"
    assert f"{homepage}sitemap.xml" in urls
    assert all(url.startswith(homepage) for url in urls)


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_homepage_with_a_scheme_keeps_it(crawl: str) -> None:
    assert requested(crawl, "http://h.example")[0] == "http://h.example/robots.txt"


@pytest.mark.parametrize("crawl", ["sitemap_tree", "iter_pages", "aio.sitemap_tree"])
def test_a_domain_with_a_path_is_the_url_of_a_sitemap(crawl: str) -> None:
    assert requested(crawl, "h.example/maps/a.xml") == ["https://h.example/maps/a.xml"]


def test_a_crawl_of_the_callers_own_driver_starts_by_https() -> None:
    (request,) = usp.Crawl.for_site("localhost:8080").take(0.0, limit=1)
    assert request.url == "https://localhost:8080/robots.txt"


@pytest.mark.parametrize("crawl", [name for name in CRAWLS if name != "aio.sitemap_trees"])
@pytest.mark.parametrize("word", ["foo", "sitemap", "two words"])
def test_a_word_that_is_not_a_domain_is_rejected_in_one_line(crawl: str, word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        requested(crawl, word)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, SitemapException)


def test_a_word_among_many_homepages_gives_an_unreachable_tree() -> None:
    async def read() -> list[tuple[str, str]]:
        trees = aio.sitemap_trees(["foo"], web_client=AioMissingEverywhere())
        return [(homepage, str(tree.outcome)) async for homepage, tree in trees]

    assert run(read()) == [("foo", "unreachable")]
