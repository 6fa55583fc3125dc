"""Events that an observer of a crawl receives, as they happen, on the caller's own thread.

An observer is any function that takes one event. An exception in it ends the crawl and reaches the
caller. No document is parsed only for an event.
"""

from collections.abc import Callable
from dataclasses import dataclass

from usp.objects.fetch_info import FetchInfo
from usp.objects.named_fields import pickled_by_name
from usp.objects.outcome import Outcome

__all__ = [
    "CrawlFinished",
    "Event",
    "Observer",
    "PagesRead",
    "RequestFailed",
    "RequestStarted",
    "ResponseReceived",
    "RetryScheduled",
    "SitemapParsed",
]


@pickled_by_name
@dataclass(frozen=True, slots=True)
class RequestStarted:
    """A request is sent."""

    url: str
    level: int
    """The depth in the tree; robots.txt and known paths are at level 0."""
    attempt: int
    """1 for the first attempt, more for a retry."""
    is_guess: bool
    """Nothing declares the URL, so a 404 is no failure."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """A response arrived with its body."""

    url: str
    final_url: str
    """The URL after redirects."""
    fetch_info: FetchInfo
    """Status, headers, sizes and times."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class SitemapParsed:
    """The kind of a document and the sitemaps that it lists are known."""

    url: str
    final_url: str
    """The URL after redirects."""
    kind: str
    """``urlset``, ``sitemapindex``, ``robots``, ``rss``, ``atom``, ``jsonfeed``, ``text``,
    ``homepage`` or ``invalid``."""
    sitemaps: int
    """The number of other sitemaps that it lists."""
    is_guess: bool
    reason: str
    """Why it is not a sitemap, for an invalid one."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A request failed and will be retried."""

    url: str
    attempt: int
    message: str
    status: int | None
    """The HTTP status, if there was a response."""
    delay: float
    """The seconds until the retry."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class RequestFailed:
    """A request failed and will not be retried."""

    url: str
    attempt: int
    message: str
    status: int | None
    is_guess: bool


@pickled_by_name
@dataclass(frozen=True, slots=True)
class PagesRead:
    """The pages of one sitemap were read: handed over by a stream, or counted for a limit."""

    sitemap_url: str
    pages: int


@pickled_by_name
@dataclass(frozen=True, slots=True)
class CrawlFinished:
    """The crawl is over."""

    outcome: Outcome


Event = (
    RequestStarted
    | ResponseReceived
    | SitemapParsed
    | RetryScheduled
    | RequestFailed
    | PagesRead
    | CrawlFinished
)
"""What happens in a crawl: any of these."""
Observer = Callable[[Event], None]
"""What gets each event, such as a function of yours."""
