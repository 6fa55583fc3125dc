"""Cancelling crawls in asyncio at any moment: nothing continues, and nothing is left open."""

import asyncio
import gc
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.loops import other_tasks, run, until_closed
from tests.server import Handler, LoopbackServer, Plain, index, redirect, reset, stall, urlset
from tests.servers import Certificate, TLSServer, drip
from tests.waiting import wait_until
from usp import Outcome, Policy, aio
from usp._aio_stream import AioStream
from usp.exceptions import UsageError
from usp.web_client.aio_client import AioWebClient

LARGE = urlset(*(f"http://h.example/a-page-of-some-length/{number}" for number in range(3000)))


@pytest.fixture
def busy(server: LoopbackServer) -> LoopbackServer:
    """A site with responses of every kind, whose crawl never ends."""

    def slowly(handler: Handler) -> Plain:
        handler.owner.closing.wait(0.005)
        return LARGE

    head = "Content-Length: 99\r\n\r\n"
    odd = [slowly, redirect("/0.xml"), reset, 503, drip(head, b"x"), drip(head, b"x", status=404)]
    names = [f"/{number}.xml" for number in range(40)]
    server.robots("/index.xml", "/large.xml")
    server.site |= {"/index.xml": index(*map(server.at, names)), "/large.xml": LARGE}
    for number, name in enumerate(names):
        server.site[name] = odd[number % 12] if number % 12 < 6 else LARGE  # type: ignore[assignment]
    server.site |= {"/0.xml": LARGE, "/9.xml": stall}
    return server


async def crawl(server: LoopbackServer, client: AioWebClient | None = None) -> None:
    policy = Policy(backoff_initial=0.01)
    await aio.sitemap_tree_for_homepage(server.url, client, policy=policy)


async def stream(server: LoopbackServer, client: AioWebClient | None = None) -> None:
    async for _ in aio.iter_pages(server.url, web_client=client, backoff_initial=0.01):
        pass


async def many(server: LoopbackServer, client: AioWebClient | None = None) -> None:
    homepages = [server.url] * 3
    async for _ in aio.sitemap_trees(
        homepages, sites_at_once=2, web_client=client, backoff_initial=0.01
    ):
        pass


Work = Callable[[LoopbackServer, AioWebClient | None], Coroutine[Any, Any, None]]


@pytest.mark.slow
@pytest.mark.parametrize("work", [crawl, stream, many])
def test_a_crawl_that_is_cancelled_at_any_moment_leaves_nothing(
    busy: LoopbackServer, work: Work
) -> None:
    chance = random.Random(7)  # noqa: S311 -- moments, not secrets

    async def main() -> None:
        for _ in range(25):
            await _cancel_after(chance.uniform(0, 0.08), work(busy, None))
            assert other_tasks() == set()
        await until_closed(busy.port)

    run(main())


@pytest.mark.parametrize("work", [crawl, stream, many])
def test_after_a_cancelled_crawl_the_client_can_be_used(busy: LoopbackServer, work: Work) -> None:
    chance = random.Random(11)  # noqa: S311 -- moments, not secrets

    async def main() -> None:
        async with AioWebClient(concurrency=4) as client:
            for _ in range(15):
                await _cancel_after(chance.uniform(0, 0.08), work(busy, client))
                assert other_tasks() == set()
            busy.site["/robots.txt"] = f"Sitemap: {busy.at('/large.xml')}"
            tree = await aio.sitemap_tree_for_homepage(busy.url, client)
            assert tree.outcome is Outcome.FOUND
            assert len(list(tree.all_pages())) == 3000

    run(main())


async def _cancel_after(seconds: float, work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(work)
    await asyncio.sleep(seconds)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.slow
def test_a_cancelled_crawl_does_not_wait_for_the_end_of_tls(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path)
    chance = random.Random(5)  # noqa: S311 -- moments, not secrets

    async def main(server: LoopbackServer) -> None:
        async with AioWebClient(verify=certificate.file) as client:
            for _ in range(8):
                await _cancel_after(chance.uniform(0, 0.2), crawl(server, client))
                await until_closed(server.port)

    with TLSServer(certificate.context()) as secure:
        names = [f"/{number}.xml" for number in range(10)]
        secure.robots(*names)
        secure.site |= dict.fromkeys(names[::2], stall)
        secure.site |= dict.fromkeys(names[1::2], drip("Content-Length: 99\r\n\r\n", b"x"))
        run(main(secure))


def test_a_crawl_can_be_cancelled_twice(busy: LoopbackServer) -> None:
    async def main() -> None:
        for turns in range(6):
            task = asyncio.create_task(crawl(busy))
            await asyncio.sleep(0.05)
            task.cancel()
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await until_closed(busy.port)

    run(main())


def test_a_timeout_cancels_a_crawl(busy: LoopbackServer) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await crawl(busy)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stream(busy), 0.2)
        assert other_tasks() == set()

    run(main())


@pytest.mark.parametrize("how", ["aclose", "async with", "break"])
@pytest.mark.parametrize("what", ["pages", "trees"])
def test_a_stream_that_is_closed_early_leaves_nothing(
    server: LoopbackServer, what: str, how: str
) -> None:
    server.robots("/a.xml", "/stall.xml")
    server.site |= {"/a.xml": LARGE, "/stall.xml": stall}

    async def main() -> None:
        stream: AioStream[Any] = aio.iter_pages(server.url)
        if what == "trees":
            stream = aio.sitemap_trees(["http://", server.url])
        if how == "aclose":
            await anext(stream)
            await stream.aclose()
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        elif how == "async with":
            async with stream:
                await anext(stream)
        else:
            async for _ in stream:
                break
            del stream
            gc.collect()
            async with asyncio.timeout(5):
                while other_tasks():  # noqa: ASYNC110 -- the loop closes it in a task of its own
                    await asyncio.sleep(0)
        assert other_tasks() == set()
        await until_closed(server.port)

    run(main())


def test_a_stream_that_is_never_read_opens_nothing(server: LoopbackServer) -> None:
    async def main() -> None:
        async with aio.iter_pages(server.url) as pages:
            assert pages.outcome is Outcome.NONE
        aio.sitemap_trees([server.url])

    run(main())
    assert server.requested == []


def test_no_thread_is_left(server: LoopbackServer) -> None:
    server.robots("/large.xml")
    server.site["/large.xml"] = LARGE * 3
    before = threading.active_count()
    run(crawl(server))
    run(stream(server))
    assert threading.active_count() <= before + 1, "the server may have one more"


PROGRAM = """
import asyncio, sys, warnings
warnings.simplefilter("always")
from usp import aio

def note(event):
    print("going", flush=True)

asyncio.run(aio.sitemap_tree_for_homepage(sys.argv[1], observer=note))
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_crawl_without_warnings(busy: LoopbackServer) -> None:
    with subprocess.Popen(
        [sys.executable, "-X", "dev", "-c", PROGRAM, busy.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for _ in range(20):
            assert process.stdout.readline() == "going\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    for word in ("destroyed", "never retrieved", "never awaited", "Unclosed", "ResourceWarning"):
        assert word not in errors


def test_a_stream_that_another_task_reads_is_ended_by_cancelling_that_task(
    server: LoopbackServer,
) -> None:
    server.robots("/silent.xml")
    server.site["/silent.xml"] = stall

    async def close_while_reading() -> None:
        pages = aio.iter_pages(server.url)
        reading = asyncio.ensure_future(anext(pages))
        await asyncio.to_thread(
            wait_until, lambda: any("silent" in str(request) for request in server.requests)
        )
        with pytest.raises(UsageError, match="cancel that task"):
            await pages.aclose()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await pages.aclose()

    run(close_while_reading())
