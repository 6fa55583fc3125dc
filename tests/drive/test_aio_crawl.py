"""Crawls in asyncio, against real servers: the same tree, whatever the site does."""

import asyncio
import gzip
import subprocess
import sys
import threading
import zlib
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usp
from tests.drive.shapes import shape
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
NAMES = ("robots.txt", "sitemap.xml", "a.xml", "b.xml.gz", "c.xml", "d.txt")


def tree_of(server: LoopbackServer, policy: Policy = QUICK) -> IndexWebsiteSitemap:
    """The tree of a site with what robots.txt declares only."""
    return run(aio.sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy))


def pages(tree: IndexWebsiteSitemap) -> list[str]:
    return [page.url for page in tree.all_pages()]


@st.composite
def sites(draw: st.DrawFn) -> dict[str, tuple[str, list[str]]]:
    kinds = st.sampled_from(["index", "urlset", "gzip", "text", "404", "503", "html", "redirect"])
    children = st.lists(st.sampled_from(NAMES), max_size=4)
    return {name: (draw(kinds), draw(children)) for name in NAMES}


def answer_of(server: LoopbackServer, name: str, kind: str, children: list[str]) -> Plain:
    urls = [server.at(f"/{child}") for child in children]
    if name == "robots.txt":
        return "".join(f"Sitemap: {url}\n" for url in urls)
    listed = urlset(*(f"{server.url}{name}/{url[-3:]}" for url in urls))
    answers: dict[str, Plain] = {
        "index": index(*urls),
        "urlset": listed,
        "gzip": gzip.compress(listed, mtime=0),
        "text": "\n".join(urls),
        "404": 404,
        "503": 503,
        "html": "<!DOCTYPE html><html><body>no</body></html>",
        "redirect": redirect(f"/{(children or NAMES)[0]}"),
    }
    return answers[kind]


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(site=sites())
def test_any_site_gives_the_tree_of_the_other_drivers(
    server: LoopbackServer, site: dict[str, tuple[str, list[str]]]
) -> None:
    server.site.clear()
    for name, (kind, children) in site.items():
        server.site[f"/{name}"] = answer_of(server, name, kind, children)
    policy = Policy(
        max_attempts=1, host_failure_threshold=99
    )  # when a host is given up is a matter of time
    ours = run(aio.sitemap_tree_for_homepage(server.url, policy=policy))
    threads = usp.sitemap_tree_for_homepage(server.url, policy=policy)
    inline = usp.sitemap_tree_for_homepage(server.url, policy=replace(policy, concurrency=1))
    assert shape(ours) == shape(threads) == shape(inline)

    async def streamed() -> list[str]:
        return [page.url async for page in aio.iter_pages(server.url, policy=policy)]

    assert run(streamed()) == [page.url for page in usp.iter_pages(server.url, policy=policy)]


# What servers do


def test_a_reset_is_tried_again(server: LoopbackServer) -> None:
    server.robots("/a.xml")

    def once(handler: Handler) -> Plain | None:
        if server.asked.count("/a.xml") == QUICK.max_attempts:
            return urlset(server.at("/page"))
        reset(handler)
        return None

    server.site["/a.xml"] = once
    assert pages(tree_of(server)) == [server.at("/page")]


OK = b"HTTP/1.1 200 OK\r\n"
TWO = urlset("http://h.example/1", "http://h.example/2")
BROKEN: dict[str, tuple[Plain | Callback, int]] = {
    "reset": (reset, 0),
    "stall": (stall, 0),
    "half a body": (raw(OK + b"Content-Length: 9999\r\n\r\n" + TWO[:-11]), 2),
    "half a chunk": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n" + TWO), 2),
    "too small a length": (raw(OK + b"Content-Length: 150\r\n\r\n" + TWO), 1),
    "no length": (raw(OK + b"\r\n" + TWO), 2),
    "no chunks": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + TWO), 0),
    "drip": (drip("Content-Length: 9999\r\n\r\n", b"x"), 0),
    "loop": (redirect("/broken"), 0),
    "429": (Answer(status=429, headers={"Retry-After": "0"}), 0),
    "brotli": (Answer(body=b"\x0b\x02\x80", headers={"Content-Encoding": "br"}), 0),
    "deflate": (Answer(body=zlib.compress(TWO), headers={"Content-Encoding": "deflate"}), 2),
    "bare deflate": (
        Answer(body=zlib.compress(TWO)[2:-4], headers={"Content-Encoding": "deflate"}),
        2,
    ),
    "doubly packed": (
        Answer(body=gzip.compress(gzip.compress(TWO)), headers={"Content-Encoding": "gzip"}),
        2,
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_costs_itself_and_its_siblings_are_whole(
    server: LoopbackServer, what: str
) -> None:
    answer, expected = BROKEN[what]
    server.robots("/a.xml", "/broken", "/z.xml")
    server.site |= {"/broken": answer, "/a.xml": TWO, "/z.xml": TWO}

    async def main() -> IndexWebsiteSitemap:
        async with AioWebClient(timeout=(1, 0.3), document_deadline=0.6) as client:
            return await aio.sitemap_tree_for_homepage(
                server.url, client, use_known_paths=False, policy=QUICK
            )

    robots = run(main()).sub_sitemaps[0]
    assert [len(list(child.all_pages())) for child in robots.sub_sitemaps] == [2, expected, 2]


def test_a_storm_of_refusals_ends(server: LoopbackServer) -> None:
    names = [f"/{number}.xml" for number in range(40)]
    server.robots(*names)
    server.site |= dict.fromkeys(names, Answer(status=429, headers={"Retry-After": "0"}))
    tree = tree_of(server)
    assert tree.outcome is Outcome.BLOCKED
    assert len(server.asked) < 40, "it is given up"


def test_a_server_that_dies_in_the_middle() -> None:
    children = [f"/{number}.xml" for number in range(20)]
    with LoopbackServer() as server:
        url = server.url
        server.robots("/index.xml")
        server.site["/index.xml"] = index(*map(server.at, children))
        served = threading.Semaphore(5)

        def some(handler: Handler) -> Plain | None:
            if served.acquire(blocking=False):
                return urlset(handler.owner.at(f"{handler.path}/page"))
            reset(handler)
            return None

        server.site |= dict.fromkeys(children, some)
        tree = tree_of(server)
    assert len(pages(tree)) == 5
    assert tree.outcome is Outcome.PARTIAL
    dead = run(aio.sitemap_tree_for_homepage(url, policy=QUICK))
    assert dead.outcome is Outcome.UNREACHABLE


def test_a_bomb_is_bounded_and_the_loop_goes_on(server: LoopbackServer) -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 60_000_000)
    server.robots("/bomb.xml", "/a.xml")
    server.site |= {"/bomb.xml": bomb, "/a.xml": TWO}
    policy = Policy(max_document_bytes=50_000_000)

    async def main() -> tuple[list[str], int]:
        turns = 0

        async def tick() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        ticking = asyncio.create_task(tick())
        found = [page.url async for page in aio.iter_pages(server.url, policy=policy)]
        ticking.cancel()
        await asyncio.wait([ticking])
        return found, turns

    found, turns = run(main())
    assert len(found) == 2
    assert turns > 10, "other tasks had their turns while the bomb was read"


def test_an_endless_body_ends_at_the_ceiling(server: LoopbackServer) -> None:
    sent: list[int] = []

    def endless(handler: Handler) -> None:
        handler.wfile.write(OK + b"\r\n" + TWO.replace(b"</urlset>", b""))
        while not handler.owner.closing.is_set():
            sent.append(handler.wfile.write(b" " * 65536))

    server.robots("/endless.xml")
    server.site["/endless.xml"] = endless
    tree = tree_of(server, Policy(max_document_bytes=1_000_000))
    assert len(pages(tree)) == 2
    endless_sitemap = tree.sub_sitemaps[0].sub_sitemaps[0]
    assert "SM701" in {problem.code for problem in endless_sitemap.problems}
    assert sum(sent) < 30_000_000, "what the system's buffers hold"


def test_a_large_document_rests_on_disk_and_is_read_in_parts(server: LoopbackServer) -> None:
    urls = [server.at(f"/a-page-of-some-length/{number}") for number in range(20_000)]
    server.robots("/large.xml", "/large.xml.gz")
    server.site |= {"/large.xml": urlset(*urls), "/large.xml.gz": gzip.compress(urlset(*urls))}
    assert pages(tree_of(server)) == urls * 2

    async def streamed() -> list[str]:
        return [page.url async for page in aio.iter_pages(server.url)]

    assert run(streamed()) == urls * 2


def test_limits_are_those_of_the_policy(server: LoopbackServer) -> None:
    server.robots(*(f"/{number}.xml" for number in range(10)))
    server.site |= {f"/{number}.xml": TWO for number in range(10)}
    tree = tree_of(server, Policy(max_sitemaps=3))
    assert [problem.name for problem in tree.problems] == ["sitemaps-limit"]

    async def streamed() -> tuple[int, Outcome, list[str]]:
        stream = aio.iter_pages(server.url, limit=5)
        count = len([page async for page in stream])
        return count, stream.outcome, [problem.name for problem in stream.problems]

    assert run(streamed()) == (5, Outcome.PARTIAL, ["pages-limit"])


def test_time_is_limited_though_a_server_stalls(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/stall.xml")
    server.site |= {"/a.xml": TWO, "/stall.xml": stall}
    tree = tree_of(server, Policy(max_seconds=0.4))
    assert len(pages(tree)) == 2
    assert [problem.name for problem in tree.problems] == ["time-limit"]
    assert not any(isinstance(sub, InvalidSitemap) for sub in tree.all_sitemaps())


# Callers


def test_callbacks_run_in_the_task_of_the_caller_in_declared_order(server: LoopbackServer) -> None:
    names = [server.at(f"/{name}.xml") for name in "abc"]
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*names)
    server.site |= {f"/{name}.xml": TWO for name in "abc"}
    seen: list[tuple[str, object]] = []
    events: list[Event] = []

    def note(url: str, _level: int, _parents: set[str]) -> bool:
        seen.append((url, asyncio.current_task()))
        return not url.endswith("b.xml")

    async def main() -> IndexWebsiteSitemap:
        tree = await aio.sitemap_tree_for_homepage(
            server.url, use_known_paths=False, recurse_callback=note, observer=events.append
        )
        mine = asyncio.current_task()
        assert seen == [(url, mine) for url in [server.at("/index.xml"), *names]]
        return tree

    tree = run(main())
    assert len(pages(tree)) == 4
    asked = [event.url for event in events if isinstance(event, RequestStarted)]
    assert set(asked) == {server.at(path) for path in server.asked}
    assert events[-1] == CrawlFinished(Outcome.FOUND)


@pytest.mark.parametrize("where", ["recurse_callback", "recurse_list_callback", "observer"])
def test_a_bug_in_a_callback_reaches_the_caller(server: LoopbackServer, where: str) -> None:
    server.robots("/a.xml", "/stall.xml")
    server.site |= {"/a.xml": TWO, "/stall.xml": stall}

    def broken(*_: object) -> bool:
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await aio.sitemap_tree_for_homepage(server.url, **{where: broken})  # type: ignore[arg-type]
        with pytest.raises(ZeroDivisionError):
            async for _ in aio.iter_pages(server.url, **{where: broken}):  # type: ignore[arg-type]
                pass
        with pytest.raises(ZeroDivisionError):
            async for _ in aio.iter_pages(server.url, stop_callback=broken):
                pass

    run(main())


def test_sources_of_every_kind(server: LoopbackServer, tmp_path: Path) -> None:
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


def test_what_is_no_url_raises_at_once() -> None:
    async def main() -> None:
        with pytest.raises(SitemapException):
            await aio.sitemap_tree_for_homepage("ftp://h/")

    run(main())
    for wrong in ("", "http://", "ftp://h/x"):
        with pytest.raises(SitemapException):
            aio.iter_pages(wrong)
    with pytest.raises(SitemapException, match="at_once"):
        aio.sitemap_trees([], sites_at_once=0)
    with pytest.raises(TypeError, match="per_hosts"):
        aio.iter_pages("h.example", per_hosts=3)  # type: ignore[call-arg]


def test_a_client_of_the_other_kind_is_refused() -> None:
    wrong: Any = RequestsWebClient()

    async def main() -> None:
        with pytest.raises(SitemapException, match="not a RequestsWebClient"):
            await aio.sitemap_tree_for_homepage("http://h.example/", wrong)

    run(main())


def test_without_aiohttp_one_line_says_what_to_install() -> None:
    program = "import sys; sys.modules['aiohttp'] = None; import usp, usp.tree; from usp import aio"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ImportError: usp.aio needs aiohttp: pip install 'usp[async]'"
    assert done.stderr.count("Traceback") == 1


class Given(AbstractAioWebClientSuccessResponse):
    """A document of a client of the caller's own."""

    def __init__(self, url: str, data: object) -> None:
        self._url = url
        self._data = data

    def status_code(self) -> int:
        return 200

    def header(self, case_insensitive_name: str) -> str | None:
        return None

    def url(self) -> str:
        return self._url

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield self._data  # type: ignore[misc]  # whatever it is


class Own(AbstractAioWebClient):
    """A client of the caller's own, with everything that may go wrong in one."""

    async def get(self, url: str) -> AbstractWebClientResponse:
        match url.rpartition("/")[2]:
            case "robots.txt":
                names = ("a", "raises", "refused")
                data = "".join(f"Sitemap: http://h.example/{name}.xml\n" for name in names)
                return Given(url, data.encode())
            case "a.xml":
                return Given(url, TWO)
            case "raises.xml":
                raise ZeroDivisionError
        return WebClientErrorResponse("404 Not Found", retryable=False)


def test_a_client_of_the_callers_own() -> None:
    tree = run(aio.sitemap_tree_for_homepage("http://h.example/", Own(), use_known_paths=False))
    assert pages(tree) == ["http://h.example/1", "http://h.example/2"]
    invalid = [sub.reason for sub in tree.all_sitemaps() if isinstance(sub, InvalidSitemap)]
    said = ["ZeroDivisionError", "404 Not Found"]
    assert len(invalid) == 2
    assert all(word in reason for word, reason in zip(said, invalid, strict=True))


def test_a_redirect_without_end_is_told_of_like_the_other_client_does(
    server: LoopbackServer,
) -> None:
    server.robots("/c.xml")
    server.site["/c.xml"] = redirect("/c.xml")
    by_threads = usp.sitemap_tree_for_homepage(server.url, use_known_paths=False)
    by_asyncio = asyncio.run(aio.sitemap_tree_for_homepage(server.url, use_known_paths=False))
    assert by_asyncio.tried == by_threads.tried
    assert [str(attempt.result) for attempt in by_threads.tried] == ["sitemap", "missing"]
