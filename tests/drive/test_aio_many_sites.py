"""Many sites at once in one process, under one bound."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.loops import other_tasks, run, until_closed
from tests.server import Handler, LoopbackServer, Plain, stall, urlset
from tests.servers import ServerEverywhere
from usp import Outcome, aio
from usp._crawl.core import Crawl
from usp.objects.events import CrawlFinished, Event
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.web_client.aio_client import AioWebClient

SITES = 1000


class Gauge:
    """Answers for any number of sites, each at its own address, and counts what is under way."""

    def __init__(self) -> None:
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> Plain:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        handler.owner.closing.wait(0.001)
        site = f"http://{handler.headers['Host']}"
        with self._lock:
            self._now -= 1
        if handler.path == "/robots.txt":
            return f"Sitemap: {site}/a.xml\n"
        return urlset(f"{site}/page") if handler.path == "/a.xml" else 404


def files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.timeout(300)
def test_a_thousand_sites_at_once() -> None:
    drawn = 0

    def homepages(server: ServerEverywhere) -> Iterator[str]:
        nonlocal drawn
        for drawn in range(1, SITES + 1):
            yield server.homepage(drawn)

    async def main(server: ServerEverywhere) -> None:
        before, most_files, done = files(), 0, 0
        async with AioWebClient(concurrency=20) as client:
            trees = aio.sitemap_trees(
                homepages(server), sites_at_once=50, web_client=client, use_known_paths=False
            )
            async for homepage, tree in trees:
                done += 1
                assert [page.url for page in tree.all_pages()] == [f"{homepage}page"]
                assert drawn <= done + 50, "homepages are taken as they are needed"
                most_files = max(most_files, files())
        assert done == SITES
        assert most_files - before < 300, "sites that are done keep no connection"
        await until_closed(server.port)

    with ServerEverywhere() as server:
        gauge = Gauge()
        server.otherwise = gauge
        run(main(server))
        assert len(server.asked) == 2 * SITES
        assert 2 <= gauge.most <= 20
    gc.collect()
    assert [each for each in gc.get_objects() if isinstance(each, Crawl)] == []


def test_homepages_may_come_one_by_one_and_be_wrong(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: {server.at('/a.xml')}"
    server.site["/a.xml"] = urlset(server.at("/page"))

    async def given() -> AsyncIterator[str]:
        yield "http://"
        yield server.url
        yield "ftp://h.example/"

    async def main() -> dict[str, IndexWebsiteSitemap]:
        async with aio.sitemap_trees(given()) as trees:
            return {homepage: tree async for homepage, tree in trees}

    found = run(main())
    assert found[server.url].outcome is Outcome.FOUND
    for wrong in ("http://", "ftp://h.example/"):
        assert [problem.code for problem in found[wrong].problems] == ["SM604"]
        assert found[wrong].outcome is Outcome.UNREACHABLE


def test_a_source_that_waits_does_not_hold_back_what_is_there(server: LoopbackServer) -> None:
    async def main() -> None:
        more = asyncio.Event()

        async def given() -> AsyncIterator[str]:
            yield server.url
            await more.wait()
            yield server.url

        trees = aio.sitemap_trees(given(), use_known_paths=False)
        assert (await anext(trees))[0] == server.url
        more.set()
        assert len([each async for each in trees]) == 1

    run(main())


@pytest.mark.parametrize("sites_at_once", [1, 3, 10**9])
def test_there_are_no_more_tasks_than_sites(server: LoopbackServer, sites_at_once: int) -> None:
    most = 0

    async def main() -> int:
        nonlocal most

        async def given() -> AsyncIterator[str]:
            for _ in range(7):
                yield server.url

        def count(_: Event) -> None:
            nonlocal most
            names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]  # type: ignore[union-attr]
            most = max(most, sum("as_they_finish" in name for name in names))

        trees = aio.sitemap_trees(given(), sites_at_once=sites_at_once, observer=count)
        return len([each async for each in trees])

    assert run(main()) == 7
    assert 1 <= most <= min(sites_at_once, 7)


def test_a_stream_of_trees_that_is_closed_leaves_no_task(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = stall

    async def main() -> None:
        async def given() -> AsyncIterator[str]:
            yield "http://"
            yield server.url
            await asyncio.Event().wait()

        async with aio.sitemap_trees(given()) as trees:
            assert (await anext(trees))[0] == "http://"
            await asyncio.sleep(0.05)
        assert other_tasks() == set()

    run(main())


def test_callbacks_and_observers_are_for_all_crawls(server: LoopbackServer) -> None:
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
    assert "/b.xml" not in server.asked
    assert [type(event) for event in events].count(CrawlFinished) == 2


def test_what_a_source_raises_reaches_the_caller(server: LoopbackServer) -> None:
    def given() -> Iterator[str]:
        yield server.url
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            async for _ in aio.sitemap_trees(given()):
                pass

    run(main())


def test_crawls_of_the_callers_share_a_client(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: {server.at('/a.xml')}"
    server.site["/a.xml"] = urlset(server.at("/page"))

    async def main() -> None:
        async with AioWebClient(concurrency=5) as client:
            crawls = [aio.sitemap_tree_for_homepage(server.url, client) for _ in range(10)]
            trees = await asyncio.gather(*crawls)
        assert [len(list(tree.all_pages())) for tree in trees] == [1] * 10

    run(main())
