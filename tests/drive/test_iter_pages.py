"""``iter_pages`` against a loopback server: pages as a stream, in document order."""

import copy
import itertools
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import usp
from tests.loops import run
from tests.server import Handler, LoopbackServer, index, stall, urlset
from usp import Outcome, Policy, aio
from usp._tables.read import read_tables
from usp.exceptions import SitemapException
from usp.objects.events import PagesRead
from usp.web_client.requests_client import RequestsWebClient


def pages_of(server: LoopbackServer, name: str, count: int = 2) -> list[str]:
    return [server.at(f"/{name}/{number}") for number in range(count)]


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/index.xml", "/d.xml")
    server.site["/index.xml"] = index(*(server.at(f"/{name}.xml") for name in "abc"))
    for name in "abcd":
        server.site[f"/{name}.xml"] = urlset(*pages_of(server, name))
    return server


def test_pages_come_in_the_order_of_the_tree(site: LoopbackServer) -> None:
    stream = usp.iter_pages(site.url)
    expected = [page for name in "abcd" for page in pages_of(site, name)]
    assert [page.url for page in stream] == expected
    assert stream.outcome is Outcome.FOUND


def test_each_page_has_the_url_of_its_sitemap(site: LoopbackServer) -> None:
    found = {page.url: page.sitemap_url for page in usp.iter_pages(site.url)}
    assert found[pages_of(site, "b")[0]] == site.at("/b.xml")
    tree = usp.sitemap_tree_for_homepage(site.url)
    page = pickle.loads(pickle.dumps(next(tree.all_pages())))
    assert page.sitemap_url == site.at("/a.xml")


def test_pages_come_while_a_later_sitemap_stalls(site: LoopbackServer) -> None:
    site.site["/c.xml"] = stall
    with usp.iter_pages(site.url) as stream:
        first = list(itertools.islice(stream, 4))
    assert [page.url for page in first] == pages_of(site, "a") + pages_of(site, "b")


@pytest.mark.parametrize("others", ["before", "never"])
def test_a_limit_counts_the_sitemaps_up_to_it_whenever_the_others_come(
    site: LoopbackServer, others: str
) -> None:
    site.robots("/lost.xml", "/index.xml", "/d.xml", "/gone.xml")
    first = site.site["/a.xml"]

    def later(_: Handler) -> bytes:
        time.sleep(0.3)  # until all others were received
        assert isinstance(first, bytes)
        return first

    site.site |= {"/a.xml": later} if others == "before" else {"/b.xml": stall}
    with usp.iter_pages(site.url, limit=1) as pages, read_tables(site.url, limit=1) as batches:
        assert (len(list(pages)), len(list(batches))) == (1, 1)
    for stream in (pages, batches):
        assert (stream.sitemaps_read, stream.sitemaps_failed) == (2, 1)


def test_closing_early_does_not_wait_and_leaves_no_thread(site: LoopbackServer) -> None:
    site.site["/b.xml"] = stall
    before = set(threading.enumerate())  # one of another test may be ending
    stream = usp.iter_pages(site.url)
    next(stream)
    start = time.monotonic()
    stream.close()
    assert time.monotonic() - start < 10
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name == "usp-fetch"]
    with pytest.raises(StopIteration):
        next(stream)


@pytest.mark.parametrize("read", [0, 1, 8])
def test_a_stream_that_is_closed_before_its_end_is_partial(site: LoopbackServer, read: int) -> None:
    """Whoever reads its outcome must not take it for the whole site."""
    with usp.iter_pages(site.url) as stream:
        assert len(list(itertools.islice(stream, read))) == read
    assert stream.outcome is Outcome.PARTIAL
    assert [problem.code for problem in stream.problems] == ["SM706"]

    async def main() -> None:
        async with aio.iter_pages(site.url) as pages:
            for _ in range(read):
                await anext(pages)
        assert (pages.outcome, pages.problems) == (stream.outcome, stream.problems)

    run(main())


@pytest.mark.parametrize("stalled", ["/robots.txt", "/b.xml"])
def test_another_thread_can_close_a_stream_that_waits(site: LoopbackServer, stalled: str) -> None:
    waits = threading.Event()

    def respond(handler: Handler) -> None:
        waits.set()
        stall(handler)

    def close() -> None:
        waits.wait()
        time.sleep(0.3)  # until all pages before it were read
        stream.close()

    site.site[stalled] = respond
    stream = usp.iter_pages(site.url)
    closing = threading.Thread(target=close)
    closing.start()
    pages = [page.url for page in stream]
    ended = time.monotonic()
    closing.join()
    assert time.monotonic() - ended < 10
    assert pages == ([] if stalled == "/robots.txt" else pages_of(site, "a"))
    assert [problem.code for problem in stream.problems] == ["SM706"]
    assert stream.outcome is not Outcome.FOUND
    assert next(stream, None) is None


def test_a_callback_can_close_its_stream(site: LoopbackServer) -> None:
    def observe(event: object) -> None:
        if isinstance(event, PagesRead) and event.sitemap_url.endswith("/a.xml"):
            stream.close()

    stream = usp.iter_pages(site.url, observer=observe)
    assert [page.url for page in stream] == pages_of(site, "a")
    assert stream.outcome is Outcome.PARTIAL


def test_a_stream_that_was_read_to_its_end_may_be_closed(site: LoopbackServer) -> None:
    with usp.iter_pages(site.url) as stream:
        list(stream)
    assert (stream.outcome, stream.problems) == (Outcome.FOUND, ())


@pytest.mark.parametrize("of", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_stream_can_not_be_pickled_or_copied(
    site: LoopbackServer, of: Callable[[object], object]
) -> None:
    with usp.iter_pages(site.url) as stream, pytest.raises(TypeError, match="can't be pickled"):
        of(stream)
    pages = aio.iter_pages(site.url)
    with pytest.raises(TypeError, match="can't be pickled"):
        of(pages)
    run(pages.aclose())


def test_the_pages_of_a_repeated_sitemap_come_once(site: LoopbackServer) -> None:
    site.robots("/a.xml", "/index.xml", "/a.xml#again")
    pages = [page.url for page in usp.iter_pages(site.url)]
    assert pages == [page for name in "abc" for page in pages_of(site, name)]


def test_known_paths_are_tried_on_request_or_where_nothing_is_found(site: LoopbackServer) -> None:
    site.site["/sitemap.xml"] = urlset(site.at("/hidden"))
    assert site.at("/hidden") not in {page.url for page in usp.iter_pages(site.url)}
    assert "/sitemap.xml" not in site.requested
    everything = {page.url for page in usp.iter_pages(site.url, use_known_paths=True)}
    assert site.at("/hidden") in everything
    del site.site["/robots.txt"]
    assert [page.url for page in usp.iter_pages(site.url)] == [site.at("/hidden")]


def test_a_stream_of_one_sitemap_reads_it_and_its_children(site: LoopbackServer) -> None:
    pages = [page.url for page in usp.iter_pages(site.at("/index.xml"))]
    assert pages == [page for name in "abc" for page in pages_of(site, name)]
    assert "/robots.txt" not in site.requested


def test_a_limit_ends_the_stream_with_a_problem(site: LoopbackServer) -> None:
    stream = usp.iter_pages(site.url, policy=Policy(limit=3))
    assert [page.url for page in stream] == [*pages_of(site, "a"), pages_of(site, "b")[0]]
    assert stream.outcome is Outcome.PARTIAL
    assert [problem.name for problem in stream.problems] == ["pages-limit"]


def test_a_stream_prefetches_no_more_than_allowed(server: LoopbackServer) -> None:
    names = [f"/{number}.xml" for number in range(30)]
    server.robots(*names)
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in names}
    with usp.iter_pages(server.url, policy=Policy(prefetch=4)) as stream:
        next(stream)
        time.sleep(0.3)
        assert len(server.requested) <= 1 + 1 + 4 + 4
        assert len(list(stream)) == 29


def test_a_source_that_is_not_a_url_raises_at_once() -> None:
    for wrong in ("", "http://", "ftp://h/x", "http://[broken"):
        with pytest.raises(SitemapException):
            usp.iter_pages(wrong)


PEAK_MEMORY = """
import resource, sys, usp
count = sum(1 for _ in usp.iter_pages(sys.argv[1]))
unit = 1 if sys.platform == "darwin" else 1024
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no resource module")
def test_memory_does_not_grow_with_the_site(server: LoopbackServer) -> None:
    body = urlset(*(f"http://h.example/a-page-of-some-length/{number}" for number in range(5000)))

    def numbered(handler: Handler) -> bytes:
        return body.replace(b"h.example", handler.path.strip("/").encode() + b".example")

    def peak(sitemaps: int) -> int:
        names = [f"/n{number}" for number in range(sitemaps)]
        server.robots(*names)
        server.site |= dict.fromkeys(names, numbered)
        finished = subprocess.run(
            [sys.executable, "-c", PEAK_MEMORY, server.url],
            capture_output=True,
            text=True,
            check=True,
        )
        count, size = map(int, finished.stdout.split())
        assert count == 5000 * sitemaps
        return size

    assert peak(40) < peak(4) + 12_000_000, "for ten times the pages, only prefetched documents"


@pytest.mark.parametrize("max_sitemaps", [1, 2, 3, 4, 5, 6, 7, 10**30])
def test_a_limit_on_sitemaps_keeps_the_pages_of_those_that_were_read(
    site: LoopbackServer, max_sitemaps: int
) -> None:
    options: dict[str, Any] = {"max_sitemaps": max_sitemaps, "use_known_paths": False}
    tree = usp.sitemap_tree_for_homepage(site.url, **options)
    expected = [page.url for page in tree.all_pages()]
    stream = usp.iter_pages(site.url, **options)
    assert [page.url for page in stream] == expected
    assert stream.outcome is tree.outcome


def test_failed_sitemaps_count_for_the_limit_on_sitemaps(server: LoopbackServer) -> None:
    server.robots(*(f"/gone{number}.xml" for number in range(200)))
    tree = usp.sitemap_tree_for_homepage(server.url, max_sitemaps=5, use_known_paths=False)
    assert tree.outcome is Outcome.PARTIAL
    names = [problem.name for problem in tree.problems]
    assert names == ["sitemaps-limit", *["fetch-failed"] * 5]
    assert len(list(tree.all_sitemaps())) == 6


@pytest.mark.slow
def test_the_pages_read_when_time_is_up_are_kept(site: LoopbackServer) -> None:
    site.site["/a.xml"] = stall
    expected = [page for name in "bcd" for page in pages_of(site, name)]
    tree = usp.sitemap_tree_for_homepage(site.url, max_seconds=1, use_known_paths=False)
    assert [page.url for page in tree.all_pages()] == expected
    assert [problem.name for problem in tree.problems] == ["time-limit"]
    assert site.at("/a.xml") not in {sub.url for sub in tree.all_sitemaps()}, "it did not fail"
    stream = usp.iter_pages(site.url, max_seconds=1, use_known_paths=False)
    assert [page.url for page in stream] == expected
    assert stream.outcome is tree.outcome is Outcome.PARTIAL


def test_without_a_response_the_outcome_is_not_none(server: LoopbackServer) -> None:
    server.otherwise = stall
    tree = usp.sitemap_tree_for_homepage(server.url, max_seconds=0.3)
    assert tree.outcome is Outcome.UNREACHABLE
    server.otherwise = 404
    client = RequestsWebClient(private_addresses="refuse")
    assert usp.sitemap_tree_for_homepage(server.url, client).outcome is Outcome.UNREACHABLE
    client.close()
