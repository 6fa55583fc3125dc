"""What an observer of a crawl is told, as it happens: plain values, on the caller's own thread.

An observer is any function that takes one of them. What it raises ends the crawl and reaches the
caller.
"""

from collections.abc import Callable
from dataclasses import dataclass

from usp.objects.outcome import Outcome


@dataclass(frozen=True, slots=True)
class RequestStarted:
    """A request goes out."""

    url: str
    level: int
    """How deep in the tree; robots.txt and known paths are at 0."""
    attempt: int
    """1 for the first try."""
    is_guess: bool
    """The URL is a guess: that nothing is there is no news."""


@dataclass(frozen=True, slots=True)
class SitemapParsed:
    """A document came, and was looked at."""

    url: str
    final_url: str
    """After redirects."""
    kind: str
    """What it is: ``urlset``, ``index``, ``robots``, ``rss``, ``atom``, ``text`` or ``invalid``."""
    sitemaps: int
    """How many other sitemaps it names."""
    is_guess: bool
    reason: str
    """Why it is no sitemap, for one that isn't."""


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A request failed, and will be tried again."""

    url: str
    attempt: int
    message: str
    status: int | None
    """The HTTP status, if there was one."""
    seconds: float
    """How long the pause is before the next try."""


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """A request failed for good."""

    url: str
    attempt: int
    message: str
    status: int | None
    is_guess: bool


@dataclass(frozen=True, slots=True)
class PagesRead:
    """The pages of one sitemap are known, or in a stream, were handed over."""

    sitemap_url: str
    pages: int


@dataclass(frozen=True, slots=True)
class CrawlFinished:
    """The crawl has come to its end."""

    outcome: Outcome


Event = RequestStarted | SitemapParsed | RetryScheduled | RequestFailed | PagesRead | CrawlFinished
Observer = Callable[[Event], None]
