"""Events of a crawl, for an observer and in the log, against a loopback server."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

import usp
from tests.loops import run
from tests.server import Answer, LoopbackServer, redirect, urlset
from usp import Outcome, aio
from usp.objects.events import (
    CrawlFinished,
    Event,
    PagesRead,
    RequestFailed,
    RequestStarted,
    ResponseReceived,
    RetryScheduled,
    SitemapParsed,
)
from usp.tree import sitemap_tree, sitemap_tree_for_homepage
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
)
from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    LocalWebClient,
    LocalWebClientSuccessResponse,
)
from usp.web_client.requests_client import RequestsWebClient


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/moved.xml", "/busy.xml", "/gone.xml", "/page.html")
    server.site["/moved.xml"] = redirect("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"), server.at("/2"))
    server.site["/busy.xml"] = Answer(status=503, headers={"Retry-After": "0"})
    server.site["/page.html"] = "<!DOCTYPE html><html><body>hello</body></html>"
    return server


def tree_in_threads(url: str, **options: Any) -> None:
    sitemap_tree_for_homepage(url, use_known_paths=False, **options)


def stream_in_threads(url: str, **options: Any) -> None:
    list(usp.iter_pages(url, use_known_paths=False, **options))


def tree_inline(url: str, **options: Any) -> None:
    class Own(RequestsWebClient):
        """A client that is not known to be thread-safe."""

    client = Own()
    sitemap_tree_for_homepage(url, web_client=client, use_known_paths=False, **options)
    client.close()


def tree_in_asyncio(url: str, **options: Any) -> None:
    run(aio.sitemap_tree_for_homepage(url, use_known_paths=False, **options))


def stream_in_asyncio(url: str, **options: Any) -> None:
    async def read() -> None:
        async for _ in aio.iter_pages(url, use_known_paths=False, **options):
            pass

    run(read())


STREAMS = [stream_in_threads, stream_in_asyncio]
CRAWLS = [tree_in_threads, tree_inline, tree_in_asyncio, *STREAMS]


@pytest.mark.parametrize("crawl", CRAWLS)
def test_an_observer_receives_every_event_in_the_thread_of_the_caller(
    site: LoopbackServer, crawl: Callable[..., None]
) -> None:
    events: list[Event] = []
    threads = set()

    def record(event: Event) -> None:
        events.append(event)
        threads.add(threading.current_thread())

    crawl(site.url, observer=record, max_attempts=2, backoff_initial=0.001)
    assert threads == {threading.current_thread()}
    at = site.at
    assert events[0] == RequestStarted(at("/robots.txt"), 0, 1, True)
    assert SitemapParsed(at("/robots.txt"), at("/robots.txt"), "robots", 4, True, "") in events
    assert RequestStarted(at("/moved.xml"), 1, 1, False) in events
    assert SitemapParsed(at("/moved.xml"), at("/a.xml"), "urlset", 0, False, "") in events
    (received,) = [
        e for e in events if isinstance(e, ResponseReceived) and e.url == at("/moved.xml")
    ]
    assert received.final_url == at("/a.xml")
    assert (received.fetch_info.status, received.fetch_info.attempts) == (200, 1)
    assert received.fetch_info.redirects == (at("/moved.xml"),)
    assert RequestStarted(at("/busy.xml"), 1, 2, False) in events
    (retry,) = [event for event in events if isinstance(event, RetryScheduled)]
    assert (retry.url, retry.attempt, retry.status) == (at("/busy.xml"), 1, 503)
    assert 0 < retry.delay < 1
    failed = {event.url: event for event in events if isinstance(event, RequestFailed)}
    assert failed[at("/busy.xml")].attempt == 2
    assert failed[at("/gone.xml")].status == 404
    invalid = [event for event in events if isinstance(event, SitemapParsed) and event.reason]
    assert [event.kind for event in invalid] == ["invalid"]
    assert events[-1] == CrawlFinished(Outcome.PARTIAL)


@pytest.mark.parametrize("crawl", CRAWLS)
def test_an_exception_in_an_observer_reaches_the_caller(
    site: LoopbackServer, crawl: Callable[..., None]
) -> None:
    before = threading.active_count()

    def faulty(event: Event) -> None:
        if isinstance(event, SitemapParsed):
            raise KeyError(event.url)

    with pytest.raises(KeyError):
        crawl(site.url, observer=faulty, max_attempts=1)
    assert threading.active_count() <= before + 1, "the server may have started one"


def pages_read(crawl: Callable[..., None], url: str, **options: Any) -> list[PagesRead]:
    events: list[Event] = []
    crawl(url, observer=events.append, max_attempts=1, **options)
    return [event for event in events if isinstance(event, PagesRead)]


@pytest.mark.parametrize("crawl", CRAWLS)
def test_pages_are_reported_by_a_stream_and_not_read_to_be_counted_for_a_tree(
    site: LoopbackServer, crawl: Callable[..., None]
) -> None:
    expected = [PagesRead(site.at("/a.xml"), 2)] if crawl in STREAMS else []
    assert [event for event in pages_read(crawl, site.url) if event.pages] == expected


@pytest.mark.parametrize("crawl", CRAWLS)
def test_skipped_pages_are_not_counted(site: LoopbackServer, crawl: Callable[..., None]) -> None:
    counted = pages_read(crawl, site.url, exclude="/1$", limit=99)
    assert [event for event in counted if event.pages] == [PagesRead(site.at("/a.xml"), 1)]
    assert {event.pages for event in pages_read(crawl, site.url, exclude="/", limit=99)} <= {0}


class Unclosable(LocalWebClientSuccessResponse):
    """A response whose ``close()`` raises."""

    def close(self) -> None:
        raise ZeroDivisionError("stuck")


class UnclosableAio(AbstractAioWebClientSuccessResponse):
    """The same, in asyncio."""

    def __init__(self, url: str, data: str) -> None:
        self._response = LocalWebClientSuccessResponse(url, data)

    def status_code(self) -> int:
        return self._response.status_code()

    def header(self, case_insensitive_name: str) -> str | None:
        return self._response.header(case_insensitive_name)

    def url(self) -> str:
        return self._response.url()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield self._response.raw_data()

    async def close(self) -> None:
        raise ZeroDivisionError("stuck")


class ClientWithUnclosable(LocalWebClient):
    def get(self, url: str) -> AbstractWebClientResponse:
        return Unclosable(url, "http://h.example/1\n")


class AioClientWithUnclosable(AbstractAioWebClient):
    async def get(self, url: str) -> AbstractWebClientResponse:
        return UnclosableAio(url, "http://h.example/1\n")


@pytest.mark.parametrize("in_asyncio", [False, True])
def test_a_response_that_cannot_be_closed_is_parsed_and_logged(
    caplog: pytest.LogCaptureFixture, in_asyncio: bool
) -> None:
    caplog.set_level("DEBUG", "usp")
    url = "http://h.example/a.txt"
    if in_asyncio:
        tree = asyncio.run(aio.sitemap_tree(url, web_client=AioClientWithUnclosable()))
    else:
        tree = sitemap_tree(url, web_client=ClientWithUnclosable())
    assert [page.url for page in tree.all_pages()] == ["http://h.example/1"]
    assert f"Could not close the response from {url}: ZeroDivisionError('stuck')" in caplog.messages


@pytest.mark.slow
def test_without_a_log_handler_nothing_is_printed(server: LoopbackServer) -> None:
    server.robots("/gone.xml")
    program = f"import usp; usp.sitemap_tree_for_homepage({server.url!r})"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert finished.stderr == b""
