"""The event loop is never blocked for long, however large a document is.

A task that only sleeps shows how much the loop's thread computes between two of its turns. CPU time
of that thread is measured: on a busy machine, the clock also counts what other processes do.
"""

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cost import cost
from tests.server import Handler, LoopbackServer, index, urlset
from usp import Outcome, aio
from usp._tables.aio import read_tables
from usp.objects.sitemap import IndexWebsiteSitemap

MAX_STALL: Final = 0.1
LEGAL: Final = 50_000
"""The number of sitemaps that an index may list, and of pages in a sitemap (sitemaps.org)."""


async def longest_stall(work: Coroutine[Any, Any, object]) -> float:
    """Return how long the loop's thread computed at most before it let another task run."""
    stalls: list[float] = []

    async def watch() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            stalls.append(time.thread_time() - before)

    watching = asyncio.create_task(watch())
    try:
        await work
    finally:
        watching.cancel()
    return max(stalls)


def assert_no_stall(work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Run some work, at most three times: other tests leave objects to the garbage collector."""
    gc.collect()
    gc.freeze()
    stalls = []
    for _ in range(3):
        stalls.append(asyncio.run(longest_stall(work())))
        if stalls[-1] < MAX_STALL:
            return
    pytest.fail(f"the event loop was blocked for {min(stalls):.2f} s of CPU time")


def children_on_a_dead_host(count: int) -> bytes:
    """Return an index whose sitemaps are on a host that refuses connections: all of them fail."""
    with LoopbackServer() as stopped:
        host = stopped.url
    return index(*(f"{host}{number}.xml" for number in range(count)))


def many_pages(count: int) -> bytes:
    return urlset(*(f"http://h.example/{number}" for number in range(count)))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"recurse_callback": lambda *_: True}, marks=pytest.mark.thorough)],
)
def test_a_legal_index_does_not_block_the_loop(
    server: LoopbackServer, options: dict[str, Any]
) -> None:
    server.site["/index.xml"] = children_on_a_dead_host(LEGAL)
    found: list[IndexWebsiteSitemap] = []

    async def crawl() -> None:
        found.append(await aio.sitemap_tree(server.at("/index.xml"), **options))

    assert_no_stall(crawl)
    (sitemap,) = found[-1].sub_sitemaps
    assert len(sitemap.sub_sitemaps) == LEGAL
    assert found[-1].outcome is Outcome.PARTIAL


@pytest.mark.thorough  # the tree shows most of it
def test_a_legal_index_does_not_block_the_loop_while_it_is_streamed(server: LoopbackServer) -> None:
    server.site["/index.xml"] = children_on_a_dead_host(LEGAL)

    async def crawl() -> None:
        assert [page async for page in aio.iter_pages(server.at("/index.xml"))] == []

    assert_no_stall(crawl)


def test_a_limit_of_time_in_a_legal_index_does_not_block_the_loop(server: LoopbackServer) -> None:
    server.site["/index.xml"] = children_on_a_dead_host(LEGAL)

    async def crawl() -> None:
        tree = await aio.sitemap_tree(server.at("/index.xml"), max_seconds=0.7)
        assert tree.outcome is Outcome.PARTIAL

    assert_no_stall(crawl)


@pytest.mark.parametrize(
    "options", [{}, {"limit": LEGAL - 1}, {"stop_callback": lambda page: page.url.endswith("/-")}]
)
def test_a_large_sitemap_does_not_block_the_loop(
    server: LoopbackServer, options: dict[str, Any]
) -> None:
    server.site["/s.xml"] = many_pages(LEGAL)

    async def crawl() -> None:
        await aio.sitemap_tree(server.at("/s.xml"), **options)
        async for _ in aio.iter_pages(server.at("/s.xml"), include="h.example", **options):
            pass

    assert_no_stall(crawl)


def test_a_large_file_does_not_block_the_loop(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(many_pages(LEGAL) + b" " * 10_000_000)

    async def crawl() -> None:
        assert (await aio.sitemap_tree(file)).outcome is Outcome.FOUND
        async for _ in aio.iter_pages(file):
            pass

    assert_no_stall(crawl)


def test_a_homepage_with_many_links_does_not_block_the_loop(server: LoopbackServer) -> None:
    links = (f'<link rel="sitemap" href="/s{number}.xml">' for number in range(20_000))
    server.site["/"] = f"<html><head>{''.join(links)}</head></html>"
    trees: list[IndexWebsiteSitemap] = []

    async def crawl() -> None:
        tree = await aio.sitemap_tree(server.url, max_seconds=20, max_sitemaps=50)
        trees.append(tree)

    assert_no_stall(crawl)
    searched = next(one.detail for one in trees[0].tried if one.stage == "homepage")
    assert searched == "the homepage; sitemaps named there: 1000; 19000 more links were left out"


def test_many_rules_of_a_robots_txt_do_not_block_the_loop(server: LoopbackServer) -> None:
    rules = "".join(f"Disallow: /{number}*x$\n" for number in range(20_000))
    sitemap = server.at("/a.xml")
    server.site["/robots.txt"] = f"User-agent: *\n{rules}Disallow: /b\nSitemap: {sitemap}\n"
    server.site["/a.xml"] = urlset(server.at("/1"))

    async def crawl() -> None:
        tree = await aio.sitemap_tree(server.url, robots="obey")
        assert [page.url for page in tree.all_pages()] == [server.at("/1")]
        async with read_tables(server.url, "sites") as stream:
            assert [batch.length async for batch in stream] == [1]

    assert_no_stall(crawl)


def test_pyarrow_is_not_imported_in_the_loop(server: LoopbackServer) -> None:
    pytest.importorskip("pyarrow")
    server.site["/a.xml"] = urlset(server.at("/1"))
    program = (
        "import asyncio, sys, threading; from usp import aio\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pyarrow': print(threading.current_thread().name)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "async def main():\n"
        "    rows = [b.num_rows async for b in aio.record_batches(sys.argv[1])]\n"
        "    print(rows)\n"
        "asyncio.run(main())"
    )
    command = [sys.executable, "-c", program, server.at("/a.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *threads, rows = done.stdout.splitlines()
    assert rows == "[1]"
    # It is looked for in the loop, and imported elsewhere.
    assert threads[0] == "MainThread"
    assert threads[-1].startswith("asyncio_")


def send_index(handler: Handler, children: int) -> None:
    """Send an index part by part: the test needs no memory for it."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<sitemapindex>")
    for start in range(0, children, 1000):
        numbers = range(start, start + 1000)
        entries = (f"<sitemap><loc>http://127.0.0.1:1/{n}.xml</loc></sitemap>" for n in numbers)
        handler.wfile.write("".join(entries).encode())
    handler.wfile.write(b"</sitemapindex>")


def crawl_with_limit(children: int) -> None:
    """Crawl an index of many children, of which a thousand can be fetched."""
    with LoopbackServer() as server:
        server.site["/index.xml"] = lambda handler: send_index(handler, children)

        async def crawl() -> IndexWebsiteSitemap:
            return await aio.sitemap_tree(server.at("/index.xml"), max_sitemaps=1000)

        tree = asyncio.run(crawl())
    assert len(tree.sub_sitemaps[0].sub_sitemaps) == 999
    assert tree.outcome is Outcome.PARTIAL
    reason = "The crawl reached its limit of 1,000 sitemaps"
    assert tree.problems[0].message == f"{reason}; {children - 999:,} more are listed"


@pytest.mark.slow
def test_an_index_of_very_many_children_becomes_as_many_objects_as_can_be_fetched() -> None:
    """A million of them took 944 MiB (issue 12)."""
    assert cost(crawl_with_limit, 300_000, seconds=60).memory < 100 << 20
