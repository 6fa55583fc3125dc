"""``aio.sitemap_trees``: many sites at once in one process, with limited concurrency."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.loops import other_tasks, run, until_closed
from tests.open_files import open_files
from tests.server import Handler, LoopbackServer, Plain, stall, urlset
from tests.servers import ServerEverywhere
from usp import Outcome, aio
from usp._crawl.core import Crawl
from usp.objects.events import CrawlFinished, Event
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap
from usp.web_client.aio_client import AioWebClient


class CountedSites:
    """Answers for any number of sites, each at its own address, and counts concurrent requests."""

    def __init__(self) -> None:
        self.peak = 0
        self._in_flight = 0
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> Plain:
        with self._lock:
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
        handler.owner.closing.wait(0.001)
        site = f"http://{handler.headers['Host']}"
        with self._lock:
            self._in_flight -= 1
        if handler.path == "/robots.txt":
            return f"Sitemap: {site}/a.xml\n"
        return urlset(f"{site}/page") if handler.path == "/a.xml" else 404


def crawls_in_memory() -> set[Crawl]:
    gc.collect()
    return {each for each in gc.get_objects() if isinstance(each, Crawl)}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [300, pytest.param(1000, marks=pytest.mark.thorough)])
def test_many_sites_are_crawled_with_few_connections_and_tasks(number: int) -> None:
    taken = 0
    kept: list[AbstractSitemap] = []
    earlier = crawls_in_memory()  # an exception that a test raised may still hold one

    def homepages(server: ServerEverywhere) -> Iterator[str]:
        nonlocal taken
        for taken in range(1, number + 1):
            yield server.homepage(taken)

    async def main(server: ServerEverywhere) -> None:
        before, most_files, done = len(open_files()), 0, 0
        async with AioWebClient(concurrency=20) as client:
            trees = aio.sitemap_trees(
                homepages(server), sites_at_once=50, web_client=client, use_known_paths=False
            )
            async for homepage, tree in trees:
                done += 1
                kept.append(tree)
                assert [page.url for page in tree.all_pages()] == [f"{homepage}page"]
                assert taken <= done + 50, "homepages are taken when they are needed"
                most_files = max(most_files, len(open_files()))
        assert done == number
        assert most_files - before < 300, "finished sites keep no connection open"
        await until_closed(server.port)

    with ServerEverywhere() as server:
        sites = CountedSites()
        server.otherwise = sites
        run(main(server))
        assert len(server.requested) == 2 * number
        assert 2 <= sites.peak <= 20
    assert crawls_in_memory() - earlier == set(), "a tree doesn't keep its crawl in memory"


def test_homepages_may_come_from_an_async_iterator_and_be_wrong(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: {server.at('/a.xml')}"
    server.site["/a.xml"] = urlset(server.at("/page"))

    async def homepages() -> AsyncIterator[str]:
        yield "http://"
        yield server.url
        yield "ftp://h.example/"

    async def main() -> dict[str, IndexWebsiteSitemap]:
        async with aio.sitemap_trees(homepages()) as trees:
            return {homepage: tree async for homepage, tree in trees}

    found = run(main())
    assert found[server.url].outcome is Outcome.FOUND
    for wrong in ("http://", "ftp://h.example/"):
        assert [problem.code for problem in found[wrong].problems] == ["SM604"]
        assert found[wrong].outcome is Outcome.UNREACHABLE


def test_an_iterator_that_waits_does_not_delay_finished_trees(server: LoopbackServer) -> None:
    async def main() -> None:
        more = asyncio.Event()

        async def homepages() -> AsyncIterator[str]:
            yield server.url
            await more.wait()
            yield server.url

        trees = aio.sitemap_trees(homepages(), use_known_paths=False)
        assert (await anext(trees))[0] == server.url
        more.set()
        assert len([each async for each in trees]) == 1

    run(main())


@pytest.mark.parametrize("sites_at_once", [1, 3, 10**9])
def test_there_are_no_more_tasks_than_sites_at_once(
    server: LoopbackServer, sites_at_once: int
) -> None:
    peak = 0

    async def main() -> int:
        nonlocal peak

        async def homepages() -> AsyncIterator[str]:
            for _ in range(7):
                yield server.url

        def count(_: Event) -> None:
            nonlocal peak
            names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]  # type: ignore[union-attr]
            peak = max(peak, sum("as_they_finish" in name for name in names))

        trees = aio.sitemap_trees(homepages(), sites_at_once=sites_at_once, observer=count)
        return len([each async for each in trees])

    assert run(main()) == 7
    assert 1 <= peak <= min(sites_at_once, 7)


def test_closing_the_stream_of_trees_leaves_no_task(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = stall

    async def main() -> None:
        async def homepages() -> AsyncIterator[str]:
            yield "http://"
            yield server.url
            await asyncio.Event().wait()

        async with aio.sitemap_trees(homepages()) as trees:
            assert (await anext(trees))[0] == "http://"
            await asyncio.sleep(0.05)
        assert other_tasks() == set()

    run(main())


def test_callbacks_and_observers_apply_to_every_site(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site |= {f"/{name}.xml": urlset(server.at(f"/{name}")) for name in "abc"}
    events: list[Event] = []
    homepages = [server.url, server.url.replace("127.0.0.1", "localhost")]

    async def main() -> list[list[str]]:
        trees = aio.sitemap_trees(
            homepages,
            recurse_callback=lambda url, *_: not url.endswith("/b.xml"),
            stop_callback=lambda page: page.url.endswith("/c"),
            extra_known_paths={"c.xml"},
            observer=events.append,
        )
        return [[page.url for page in tree.all_pages()] async for _, tree in trees]

    assert run(main()) == [[server.at("/a")]] * 2
    assert "/b.xml" not in server.requested
    assert [type(event) for event in events].count(CrawlFinished) == 2


def test_an_exception_in_the_iterator_of_homepages_reaches_the_caller(
    server: LoopbackServer,
) -> None:
    def homepages() -> Iterator[str]:
        yield server.url
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            async for _ in aio.sitemap_trees(homepages()):
                pass

    run(main())


def test_concurrent_crawls_can_share_a_client(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: {server.at('/a.xml')}"
    server.site["/a.xml"] = urlset(server.at("/page"))

    async def main() -> None:
        async with AioWebClient(concurrency=5) as client:
            crawls = [aio.sitemap_tree_for_homepage(server.url, client) for _ in range(10)]
            trees = await asyncio.gather(*crawls)
        assert [len(list(tree.all_pages())) for tree in trees] == [1] * 10

    run(main())
