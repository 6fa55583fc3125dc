"""Prefetch, without I/O: requests run ahead of the cursor within limits; no crawl gets stuck."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawl.simulation import BUSY, robots, site_crawl, url
from usp._crawl.core import Crawl
from usp._crawl.discovery import StartUrl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.outcome import FoundBy
from usp.objects.page import SitemapPage

START = "http://home.example/index.xml"
HOSTS = ("home.example", "a.example", "b.example")

Listed = tuple[str, int]
"""The host of a sitemap, and how often it answers 503 before it answers with the document."""


class SimulatedHosts:
    """An index of sitemaps at several hosts, some of which are busy at first."""

    def __init__(self, listed: list[Listed]) -> None:
        self.urls = [f"http://{host}/{number}.xml" for number, (host, _) in enumerate(listed)]
        self._busy_times = dict(zip(self.urls, (times for _, times in listed), strict=True))

    def result(self, url: str) -> FetchResult:
        if url == START:
            return Document(url, Kind.INDEX, [], tuple(map(Child, self.urls)))
        if self._busy_times[url]:
            self._busy_times[url] -= 1
            return BUSY
        return Document(url, Kind.URLSET, [SitemapPage(f"{url}/page")])


def stream(crawl: Crawl, hosts: SimulatedHosts, order: st.DataObject | None = None) -> list[str]:
    """Return the URLs of the documents in the order in which the stream gets them."""
    streamed_urls: list[str] = []
    in_flight: list[FetchRequest] = []
    now = 0.0
    while not crawl.done:
        in_flight += crawl.take(now)
        if in_flight:
            at = order.draw(st.integers(0, len(in_flight) - 1)) if order else 0
            request = in_flight.pop(at)
            crawl._receive(request, hosts.result(request.url), now)
        else:
            due = crawl.wakeup()
            assert due is not None, "the crawl waits for nothing"
            now = max(now, due)
        while crawl._cursor.ready:
            node = crawl._cursor.ready.popleft()
            streamed_urls.append(node.url)
            crawl._cursor.release(node)
    return streamed_urls


def stream_crawl(policy: Policy) -> Crawl:
    start_urls = [StartUrl(START, FoundBy.GIVEN)]
    return Crawl._started(START, start_urls, policy, CrawlOptions(streaming=True))


def test_a_host_that_backed_off_gets_requests_while_another_reaches_the_prefetch_limit() -> None:
    hosts = SimulatedHosts([("a.example", 1)] * 3 + [("b.example", 0)] * 9)
    assert stream(stream_crawl(Policy(prefetch=4)), hosts) == [START, *hosts.urls]


@given(
    st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 3)), max_size=12),
    st.integers(1, 6),
    st.data(),
)
def test_a_stream_reaches_its_end_in_document_order(
    listed: list[Listed], prefetch: int, order: st.DataObject
) -> None:
    hosts = SimulatedHosts(listed)
    policy = Policy(prefetch=prefetch, max_attempts=40)  # so that no host is dead
    assert stream(stream_crawl(policy), hosts, order) == [START, *hosts.urls]


def many_children() -> tuple[Child, ...]:
    return tuple(Child(url(f"many/{number}")) for number in range(100_000))


def requested_hosts(crawl: Crawl) -> set[str | None]:
    return {urlsplit(request.url).hostname for request in crawl.take(0)}


@pytest.mark.slow
def test_while_many_requests_are_queued_no_index_is_expanded_early() -> None:
    many = Document(url("b"), Kind.INDEX, [], many_children())
    elsewhere = Document(url("c"), Kind.INDEX, [], (Child("http://elsewhere.example/"),))
    for prefetched, host in (
        ((elsewhere,), "elsewhere.example"),
        ((many, elsewhere), "h.example"),
    ):
        crawl = site_crawl(Policy(concurrency=1000))
        [first] = crawl.take(0)
        crawl._receive(first, robots(*"abc"), 0)
        requests = {request.url: request for request in crawl.take(0)}
        for document in prefetched:
            crawl._receive(requests[document.url], document, 0)
        assert requested_hosts(crawl) == {host}


@pytest.mark.slow
def test_while_prefetched_indexes_list_too_many_only_the_awaited_url_is_requested() -> None:
    crawl = site_crawl()
    [first] = crawl.take(0)
    crawl._receive(first, robots(*"abcdefgh"), 0)
    awaited, *others = crawl.take(0)
    for request in others[:5]:
        crawl._receive(request, Document(request.url, Kind.INDEX, [], many_children()), 0)
    assert crawl.take(0) == []
    crawl._receive(awaited, BUSY, 0)
    assert [retry.url for retry in crawl.take(60)] == [awaited.url]
