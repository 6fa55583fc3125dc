"""A bug in a client reaches the caller of the crawl, whichever driver runs it; nothing is left."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

import usp
from tests.loops import held_open, run
from tests.server import LoopbackServer, index, stall, urlset
from tests.waiting import fetchers, wait_until
from usp import aio
from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import AbstractWebClientResponse
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

SOON = 5.0
"""Far below the timeout of a request, far above what a slow machine needs."""
BUGS: list[type[Exception]] = [
    TypeError,
    AttributeError,
    NameError,
    UnboundLocalError,
    NotImplementedError,
    AssertionError,
]
FAILURES: list[type[Exception]] = [
    ValueError,
    KeyError,
    RuntimeError,
    RecursionError,
    OSError,
    ZeroDivisionError,
    StopIteration,
    MemoryError,
]
Crawl = Callable[[LoopbackServer, Callable[[], object]], Any]


def in_threads(server: LoopbackServer, bug: Callable[[], object]) -> Any:
    class Client(RequestsWebClient):
        thread_safe = True

        def get(self, url: str) -> AbstractWebClientResponse:
            if url.endswith("/bug.xml"):
                bug()
            return super().get(url)

    client = Client()
    try:
        return sitemap_tree_for_homepage(server.url, client, use_known_paths=False)
    finally:
        client.close()


def inline(server: LoopbackServer, bug: Callable[[], object]) -> Any:
    class Client(RequestsWebClient):
        def get(self, url: str) -> AbstractWebClientResponse:
            if url.endswith("/bug.xml"):
                bug()
            return super().get(url)

    client = Client()
    try:
        return sitemap_tree_for_homepage(server.url, client, use_known_paths=False)
    finally:
        client.close()


def in_asyncio(server: LoopbackServer, bug: Callable[[], object]) -> Any:
    class Client(AioWebClient):
        async def get(self, url: str) -> AbstractWebClientResponse:
            if url.endswith("/bug.xml"):
                bug()
            return await super().get(url)

    async def main() -> Any:
        async with Client() as client:
            return await aio.sitemap_tree_for_homepage(server.url, client, use_known_paths=False)

    return run(main())


every_driver = pytest.mark.parametrize("crawl", [in_threads, inline, in_asyncio])


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site with a sitemap that a broken client can't fetch."""
    server.robots("/a.xml", "/bug.xml", "/b.xml")
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in ("/a.xml", "/b.xml")}
    return server


def raising(error: Exception) -> Callable[[], object]:
    def bug() -> None:
        raise error

    return bug


@every_driver
@pytest.mark.parametrize("kind", BUGS)
def test_a_bug_reaches_the_caller(
    site: LoopbackServer, crawl: Crawl, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match="a bug"):
        crawl(site, raising(kind("a bug")))
    wait_until(lambda: not fetchers())  # get() of the caller's client is not waited for


@every_driver
@pytest.mark.parametrize("kind", FAILURES)
def test_any_other_exception_is_a_failed_fetch(
    site: LoopbackServer, crawl: Crawl, kind: type[Exception]
) -> None:
    if kind is StopIteration and crawl is in_asyncio:
        pytest.skip("Python makes a RuntimeError of it, in any coroutine")
    tree = crawl(site, raising(kind("no luck")))
    (invalid,) = [sub for sub in tree.all_sitemaps() if isinstance(sub, InvalidSitemap)]
    assert f"{kind.__name__}: " in invalid.reason
    assert "no luck" in invalid.reason
    assert len(list(tree.all_pages())) == 2


@pytest.mark.parametrize("crawl", [in_threads, in_asyncio])
def test_a_bug_ends_the_other_requests_at_once(server: LoopbackServer, crawl: Crawl) -> None:
    names = [f"/stall/{number}.xml" for number in range(4)]
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*map(server.at, [*names, "/bug.xml"]))
    server.site |= dict.fromkeys(names, stall)

    def bug() -> None:
        if crawl is in_threads:  # the loop has to run for the others
            wait_until(lambda: set(names) <= set(server.requested))
        raise TypeError("a bug")

    begun = time.monotonic()
    with pytest.raises(TypeError, match="a bug"):
        crawl(server, bug)
    assert time.monotonic() - begun < SOON
    wait_until(lambda: not fetchers())  # get() of the caller's client is not waited for
    wait_until(lambda: not held_open(server.port))


def test_a_bug_ends_a_stream(site: LoopbackServer) -> None:
    class Client(RequestsWebClient):
        thread_safe = True

        def get(self, url: str) -> AbstractWebClientResponse:
            if url.endswith("/bug.xml"):
                raise AttributeError("a bug")
            return super().get(url)

    client = Client()
    with (
        usp.iter_pages(site.url, web_client=client, use_known_paths=False) as pages,
        pytest.raises(AttributeError, match="a bug"),
    ):
        list(pages)
    client.close()
    wait_until(lambda: not fetchers())  # get() of the caller's client is not waited for


def test_several_bugs_at_once_in_asyncio_are_one_exception(server: LoopbackServer) -> None:
    class Client(AioWebClient):
        async def get(self, url: str) -> AbstractWebClientResponse:
            if url.endswith(".xml"):
                await asyncio.sleep(0.01)
                raise TypeError("a bug")
            return await super().get(url)

    async def main() -> None:
        async with Client() as client:
            with pytest.raises(TypeError, match="a bug"):
                await aio.sitemap_tree_for_homepage(server.url, client)

    server.robots(*(f"/{number}.xml" for number in range(8)))
    run(main())
