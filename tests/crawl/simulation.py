"""Crawls without I/O: a site is a dictionary of results, which arrive in any order a test chooses.

The results are documents that are already parsed, or failures. Time is an argument.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hypothesis import strategies as st

from usp._crawl.core import Crawl
from usp._crawl.discovery import KNOWN_PATHS, DiscoveryPlan
from usp._crawl.messages import FetchFailed, FetchRequest, FetchResult
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.page import SitemapPage
from usp.objects.sitemap import AbstractSitemap, InvalidSitemap

HOME: Final = "http://h.example/"
ROBOTS: Final = f"{HOME}robots.txt"
MISSING: Final = FetchFailed("404 Not Found", status=404)
BUSY: Final = FetchFailed("503 Service Unavailable", retryable=True, status=503)
REFUSED: Final = FetchFailed("connection refused", no_response=True)

Site = Mapping[str, FetchResult]
"""The result of each URL; all others are missing."""
Order = Callable[[list[FetchRequest]], FetchRequest]
"""Chooses which of the requests in flight gets its result next."""

SMALL: Final = Policy(max_level=4, max_attempts=2, max_repeated_nodes=50, host_failure_threshold=99)
"""Small limits, and no backoff of a host: that depends on time, which simulated crawls skip."""


def url(name: str) -> str:
    return f"{HOME}{name}.xml"


def pages(name: str, *, at: str | None = None) -> Document:
    """Return a sitemap with one page."""
    return Document(at or url(name), Kind.URLSET, [SitemapPage(f"{HOME}{name}/page")])


def index(name: str, children: Sequence[str], *, at: str | None = None) -> Document:
    """Return a sitemap index."""
    return Document(at or url(name), Kind.INDEX, [], tuple(Child(url(child)) for child in children))


def robots(*children: str) -> Document:
    """Return a robots.txt that declares these sitemaps."""
    return Document(ROBOTS, Kind.ROBOTS, [], tuple(Child(url(child)) for child in children))


def first_in(requests: list[FetchRequest]) -> FetchRequest:
    return requests[0]


def last_in(requests: list[FetchRequest]) -> FetchRequest:
    return requests[-1]


def site_crawl(policy: Policy | None = None) -> Crawl:
    """Return a crawl of robots.txt and the known paths."""
    return Crawl._started(HOME, DiscoveryPlan().start_urls(HOME), policy)


def run(crawl: Crawl, site: Site, order: Order = first_in, concurrency: int = 1) -> list[str]:
    """Give every request of the crawl its result; return the URLs in the order of the requests."""
    requested: list[str] = []
    in_flight: list[FetchRequest] = []
    now = 0.0
    while not crawl.done:
        taken = crawl.take(now, concurrency - len(in_flight))
        requested.extend(request.url for request in taken)
        in_flight.extend(taken)
        if in_flight:
            request = order(in_flight)
            in_flight.remove(request)
            crawl._receive(request, site.get(request.url, MISSING), now)
        else:
            due = crawl.wakeup()
            assert due is not None, "the crawl waits for nothing"
            now = max(now, due)
    return requested


def shape(sitemap: AbstractSitemap) -> object:
    """Return a tree as a value that can be compared."""
    reason = sitemap.reason if isinstance(sitemap, InvalidSitemap) else ""
    return (
        type(sitemap).__name__,
        sitemap.url,
        reason,
        [page.url for page in sitemap.pages],
        [shape(sub) for sub in sitemap.sub_sitemaps],
    )


_NAMES: Final = "abcdef"
_children = st.lists(st.sampled_from(_NAMES), max_size=5)
_redirects = st.dictionaries(st.sampled_from(_NAMES), st.sampled_from(_NAMES), max_size=3)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    """Draw a site: sitemaps, indexes in any arrangement, redirects, failures."""
    site: dict[str, FetchResult] = {ROBOTS: robots(*draw(_children))}
    for name in _NAMES:
        site[url(name)] = draw(
            st.one_of(
                st.just(pages(name)),
                st.builds(index, st.just(name), _children),
                st.just(MISSING),
                st.just(BUSY),
            )
        )
    redirected = draw(_redirects)
    for name in redirected:
        target, hops = name, len(_NAMES)
        while target in redirected and hops:
            target, hops = redirected[target], hops - 1
        site[url(name)] = site[url(target)] if hops else MISSING
    known = draw(st.sampled_from(KNOWN_PATHS))
    site[HOME + known] = index("known", draw(_children), at=HOME + known)
    return site
