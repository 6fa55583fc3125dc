"""The crawl core in a stream, without I/O: it prefetches within a limit and always goes on."""

from hypothesis import given
from hypothesis import strategies as st

from usp._crawl.core import Crawl
from usp._crawl.discovery import StartUrl
from usp._crawl.messages import FetchFailed, FetchRequest, FetchResult
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.outcome import FoundBy
from usp.objects.page import SitemapPage

START = "http://home.example/index.xml"
BUSY = FetchFailed("503 busy", retryable=True, status=503)
HOSTS = ("home.example", "a.example", "b.example")

Listed = tuple[str, int]
"""The host of a sitemap, and how often it is too busy before the document comes."""


class Web:
    """An index of sitemaps at several hosts, some of which are too busy at first."""

    def __init__(self, listed: list[Listed]) -> None:
        self.urls = [f"http://{host}/{number}.xml" for number, (host, _) in enumerate(listed)]
        self._busy = dict(zip(self.urls, (times for _, times in listed), strict=True))

    def answer(self, url: str) -> FetchResult:
        if url == START:
            return Document(url, Kind.INDEX, [], tuple(map(Child, self.urls)))
        if self._busy[url]:
            self._busy[url] -= 1
            return BUSY
        return Document(url, Kind.URLSET, [SitemapPage(f"{url}/page")])


def streamed(crawl: Crawl, web: Web, order: st.DataObject | None = None) -> list[str]:
    """Return the URLs of the documents as they are handed over."""
    handed_over: list[str] = []
    in_flight: list[FetchRequest] = []
    now = 0.0
    while not crawl.done:
        in_flight += crawl.take(now)
        if in_flight:
            at = order.draw(st.integers(0, len(in_flight) - 1)) if order else 0
            request = in_flight.pop(at)
            crawl._receive(request, web.answer(request.url), now)
        else:
            due = crawl.wakeup()
            assert due is not None, "the crawl waits for nothing"
            now = max(now, due)
        while crawl._cursor.ready:
            node = crawl._cursor.ready.popleft()
            handed_over.append(node.url)
            crawl._cursor.release(node)
    return handed_over


def stream_of(policy: Policy) -> Crawl:
    start_urls = [StartUrl(START, FoundBy.GIVEN)]
    return Crawl._started(START, start_urls, policy, CrawlOptions(streaming=True))


def test_a_host_that_backed_off_gets_requests_though_the_prefetch_limit_is_reached_elsewhere() -> (
    None
):
    web = Web([("a.example", 1)] * 3 + [("b.example", 0)] * 9)
    assert streamed(stream_of(Policy(prefetch=4)), web) == [START, *web.urls]


@given(
    st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 3)), max_size=12),
    st.integers(1, 6),
    st.data(),
)
def test_a_stream_reaches_its_end_in_document_order(
    listed: list[Listed], prefetch: int, order: st.DataObject
) -> None:
    web = Web(listed)
    policy = Policy(prefetch=prefetch, max_attempts=40)  # so that no host is given up
    assert streamed(stream_of(policy), web, order) == [START, *web.urls]
