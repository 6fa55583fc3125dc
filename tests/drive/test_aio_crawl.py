"""Crawls in asyncio, against a loopback server: faults of sites, limits, callbacks, clients."""

import asyncio
import gzip
import subprocess
import sys
import threading
import zlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.loops import run
from tests.server import (
    Answer,
    Callback,
    Handler,
    LoopbackServer,
    Plain,
    index,
    redirect,
    reset,
    stall,
    urlset,
)
from tests.servers import drip, raw
from usp import Outcome, Policy, aio
from usp.exceptions import SitemapException
from usp.objects.events import CrawlFinished, Event, RequestStarted
from usp.objects.sitemap import IndexWebsiteSitemap, InvalidSitemap
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
)
from usp.web_client.abstract_client import AbstractWebClientResponse, WebClientErrorResponse
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

QUICK = Policy(max_attempts=2, backoff_initial=0.01)


def crawl(server: LoopbackServer, policy: Policy = QUICK) -> IndexWebsiteSitemap:
    """Return the tree of what robots.txt declares."""
    return run(aio.sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy))


def pages(tree: IndexWebsiteSitemap) -> list[str]:
    return [page.url for page in tree.all_pages()]


# Faults of sites


def test_a_reset_connection_is_retried(server: LoopbackServer) -> None:
    server.robots("/a.xml")

    def reset_at_first(handler: Handler) -> Plain | None:
        if server.requested.count("/a.xml") == QUICK.max_attempts:
            return urlset(server.at("/page"))
        reset(handler)
        return None

    server.site["/a.xml"] = reset_at_first
    assert pages(crawl(server)) == [server.at("/page")]


OK = b"HTTP/1.1 200 OK\r\n"
TWO = urlset("http://h.example/1", "http://h.example/2")
FAULTY: dict[str, tuple[Plain | Callback, int]] = {
    "reset": (reset, 0),
    "stall": (stall, 0),
    "truncated body": (raw(OK + b"Content-Length: 9999\r\n\r\n" + TWO[:-11]), 2),
    "truncated chunk": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n" + TWO), 2),
    "length too small": (raw(OK + b"Content-Length: 150\r\n\r\n" + TWO), 1),
    "no length": (raw(OK + b"\r\n" + TWO), 2),
    "malformed chunks": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + TWO), 0),
    "drip": (drip("Content-Length: 9999\r\n\r\n", b"x"), 0),
    "redirect loop": (redirect("/faulty"), 0),
    "429": (Answer(status=429, headers={"Retry-After": "0"}), 0),
    "brotli": (Answer(body=b"\x0b\x02\x80", headers={"Content-Encoding": "br"}), 0),
    "deflate": (Answer(body=zlib.compress(TWO), headers={"Content-Encoding": "deflate"}), 2),
    "raw deflate": (
        Answer(body=zlib.compress(TWO)[2:-4], headers={"Content-Encoding": "deflate"}),
        2,
    ),
    "compressed twice": (
        Answer(body=gzip.compress(gzip.compress(TWO)), headers={"Content-Encoding": "gzip"}),
        2,
    ),
}
"""Answers with a fault, and how many of the two pages are read."""


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_response_loses_no_page_of_other_sitemaps(
    server: LoopbackServer, fault: str
) -> None:
    answer, expected = FAULTY[fault]
    server.robots("/a.xml", "/faulty", "/z.xml")
    server.site |= {"/faulty": answer, "/a.xml": TWO, "/z.xml": TWO}

    async def main() -> IndexWebsiteSitemap:
        async with AioWebClient(timeout=(1, 0.3), document_deadline=0.6) as client:
            return await aio.sitemap_tree_for_homepage(
                server.url, client, use_known_paths=False, policy=QUICK
            )

    robots = run(main()).sub_sitemaps[0]
    assert [len(list(child.all_pages())) for child in robots.sub_sitemaps] == [2, expected, 2]


def test_a_host_that_answers_429_to_everything_is_given_up(server: LoopbackServer) -> None:
    names = [f"/{number}.xml" for number in range(40)]
    server.robots(*names)
    server.site |= dict.fromkeys(names, Answer(status=429, headers={"Retry-After": "0"}))
    tree = crawl(server)
    assert tree.outcome is Outcome.BLOCKED
    assert len(server.requested) < 40


def test_a_server_that_fails_during_the_crawl_keeps_the_pages_read_before() -> None:
    children = [f"/{number}.xml" for number in range(20)]
    with LoopbackServer() as server:
        url = server.url
        server.robots("/index.xml")
        server.site["/index.xml"] = index(*map(server.at, children))
        responses_left = threading.Semaphore(5)

        def reset_after_five(handler: Handler) -> Plain | None:
            if responses_left.acquire(blocking=False):
                return urlset(handler.owner.at(f"{handler.path}/page"))
            reset(handler)
            return None

        server.site |= dict.fromkeys(children, reset_after_five)
        tree = crawl(server)
    assert len(pages(tree)) == 5
    assert tree.outcome is Outcome.PARTIAL
    dead = run(aio.sitemap_tree_for_homepage(url, policy=QUICK))
    assert dead.outcome is Outcome.UNREACHABLE


def test_a_gzip_bomb_is_limited_and_does_not_block_the_event_loop(server: LoopbackServer) -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 60_000_000)
    server.robots("/bomb.xml", "/a.xml")
    server.site |= {"/bomb.xml": bomb, "/a.xml": TWO}
    policy = Policy(max_document_bytes=50_000_000)

    async def main() -> tuple[list[str], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        found = [page.url async for page in aio.iter_pages(server.url, policy=policy)]
        ticking.cancel()
        await asyncio.wait([ticking])
        return found, ticks

    found, ticks = run(main())
    assert len(found) == 2
    assert ticks > 10, "other tasks ran while the bomb was read"


def test_an_endless_body_is_truncated_at_the_size_limit(server: LoopbackServer) -> None:
    sent: list[int] = []

    def endless(handler: Handler) -> None:
        handler.wfile.write(OK + b"\r\n" + TWO.replace(b"</urlset>", b""))
        while not handler.owner.closing.is_set():
            sent.append(handler.wfile.write(b" " * 65536))

    server.robots("/endless.xml")
    server.site["/endless.xml"] = endless
    tree = crawl(server, Policy(max_document_bytes=1_000_000))
    assert len(pages(tree)) == 2
    endless_sitemap = tree.sub_sitemaps[0].sub_sitemaps[0]
    assert "SM701" in {problem.code for problem in endless_sitemap.problems}
    assert sum(sent) < 30_000_000, "the system buffers some more than was read"


def test_large_documents_are_read_whole_in_a_tree_and_in_a_stream(server: LoopbackServer) -> None:
    urls = [server.at(f"/a-page-of-some-length/{number}") for number in range(20_000)]
    server.robots("/large.xml", "/large.xml.gz")
    server.site |= {"/large.xml": urlset(*urls), "/large.xml.gz": gzip.compress(urlset(*urls))}
    assert pages(crawl(server)) == urls * 2

    async def streamed() -> list[str]:
        return [page.url async for page in aio.iter_pages(server.url)]

    assert run(streamed()) == urls * 2


def test_the_limits_of_the_policy_end_a_crawl(server: LoopbackServer) -> None:
    server.robots(*(f"/{number}.xml" for number in range(10)))
    server.site |= {f"/{number}.xml": TWO for number in range(10)}
    tree = crawl(server, Policy(max_sitemaps=3))
    assert [problem.name for problem in tree.problems] == ["sitemaps-limit"]

    async def streamed() -> tuple[int, Outcome, list[str]]:
        stream = aio.iter_pages(server.url, limit=5)
        count = len([page async for page in stream])
        return count, stream.outcome, [problem.name for problem in stream.problems]

    assert run(streamed()) == (5, Outcome.PARTIAL, ["pages-limit"])


def test_the_time_limit_ends_a_crawl_while_a_server_stalls(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/stall.xml")
    server.site |= {"/a.xml": TWO, "/stall.xml": stall}
    tree = crawl(server, Policy(max_seconds=0.4))
    assert len(pages(tree)) == 2
    assert [problem.name for problem in tree.problems] == ["time-limit"]
    assert not any(isinstance(sub, InvalidSitemap) for sub in tree.all_sitemaps())


# Callbacks, sources and clients


def test_callbacks_run_in_the_task_of_the_caller_in_document_order(server: LoopbackServer) -> None:
    names = [server.at(f"/{name}.xml") for name in "abc"]
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*names)
    server.site |= {f"/{name}.xml": TWO for name in "abc"}
    calls: list[tuple[str, object]] = []
    events: list[Event] = []

    def record(url: str, _level: int, _parents: set[str]) -> bool:
        calls.append((url, asyncio.current_task()))
        return not url.endswith("b.xml")

    async def main() -> IndexWebsiteSitemap:
        tree = await aio.sitemap_tree_for_homepage(
            server.url, use_known_paths=False, recurse_callback=record, observer=events.append
        )
        caller = asyncio.current_task()
        assert calls == [(url, caller) for url in [server.at("/index.xml"), *names]]
        return tree

    tree = run(main())
    assert len(pages(tree)) == 4
    requested = {event.url for event in events if isinstance(event, RequestStarted)}
    assert requested == {server.at(path) for path in server.requested}
    assert events[-1] == CrawlFinished(Outcome.FOUND)


@pytest.mark.parametrize("name", ["recurse_callback", "recurse_list_callback", "observer"])
def test_an_exception_in_a_callback_reaches_the_caller(server: LoopbackServer, name: str) -> None:
    server.robots("/a.xml", "/stall.xml")
    server.site |= {"/a.xml": TWO, "/stall.xml": stall}

    def faulty(*_: object) -> bool:
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await aio.sitemap_tree_for_homepage(server.url, **{name: faulty})  # type: ignore[arg-type]
        with pytest.raises(ZeroDivisionError):
            async for _ in aio.iter_pages(server.url, **{name: faulty}):  # type: ignore[arg-type]
                pass
        with pytest.raises(ZeroDivisionError):
            async for _ in aio.iter_pages(server.url, stop_callback=faulty):
                pass

    run(main())


def test_a_source_may_be_a_homepage_the_url_of_a_sitemap_or_a_file(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/a.xml")
    server.site |= {"/a.xml": TWO, "/b.xml": index(server.at("/a.xml"))}
    file = tmp_path / "index.xml"
    file.write_bytes(index(server.at("/a.xml")))

    async def main(source: str | Path) -> tuple[list[str], list[str]]:
        async with AioWebClient(private_addresses="allow") as client:
            tree = await aio.sitemap_tree(source, web_client=client)
            stream = aio.iter_pages(source, web_client=client)
            return pages(tree), [page.url async for page in stream]

    two = ["http://h.example/1", "http://h.example/2"]
    for source in (server.url, server.at("/b.xml"), server.at("/a.xml"), file):
        assert run(main(source)) == (two, two)


def test_wrong_arguments_raise_at_once() -> None:
    async def main() -> None:
        with pytest.raises(SitemapException):
            await aio.sitemap_tree_for_homepage("ftp://h/")

    run(main())
    for wrong in ("", "http://", "ftp://h/x"):
        with pytest.raises(SitemapException):
            aio.iter_pages(wrong)
    with pytest.raises(
        SitemapException, match="sites_at_once must be an integer, at least 1, not 0"
    ):
        aio.sitemap_trees([], sites_at_once=0)
    with pytest.raises(TypeError, match="per_hosts"):
        aio.iter_pages("h.example", per_hosts=3)  # type: ignore[call-arg]


def test_a_client_for_threads_is_rejected() -> None:
    wrong: Any = RequestsWebClient()

    async def main() -> None:
        with pytest.raises(SitemapException, match="not a RequestsWebClient"):
            await aio.sitemap_tree_for_homepage("http://h.example/", wrong)

    run(main())


def test_without_aiohttp_the_import_error_says_what_to_install() -> None:
    program = "import sys; sys.modules['aiohttp'] = None; import usp, usp.tree; from usp import aio"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("usp.exceptions.MissingExtraError: usp.aio needs aiohttp")
    assert last.endswith('pip install ".[async]"')
    assert done.stderr.count("Traceback") == 1


class OwnResponse(AbstractAioWebClientSuccessResponse):
    """A response of the caller's own client."""

    def __init__(self, url: str, data: bytes) -> None:
        self._url = url
        self._data = data

    def status_code(self) -> int:
        return 200

    def header(self, case_insensitive_name: str) -> str | None:
        return None

    def url(self) -> str:
        return self._url

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield self._data


class OwnClient(AbstractAioWebClient):
    """The caller's own client: one sitemap works, one raises, one is missing."""

    async def get(self, url: str) -> AbstractWebClientResponse:
        match url.rpartition("/")[2]:
            case "robots.txt":
                names = ("a", "raises", "missing")
                data = "".join(f"Sitemap: http://h.example/{name}.xml\n" for name in names)
                return OwnResponse(url, data.encode())
            case "a.xml":
                return OwnResponse(url, TWO)
            case "raises.xml":
                raise ZeroDivisionError
        return WebClientErrorResponse("404 Not Found", retryable=False)


def test_a_client_of_the_caller_is_used_and_its_failures_become_invalid_sitemaps() -> None:
    client = OwnClient()
    tree = run(aio.sitemap_tree_for_homepage("http://h.example/", client, use_known_paths=False))
    assert pages(tree) == ["http://h.example/1", "http://h.example/2"]
    invalid = [sub.reason for sub in tree.all_sitemaps() if isinstance(sub, InvalidSitemap)]
    expected = ["ZeroDivisionError", "404 Not Found"]
    assert all(word in reason for word, reason in zip(expected, invalid, strict=True))
