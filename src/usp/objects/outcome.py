"""The outcome of a crawl, and of each URL that was tried in it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NoReturn

from usp.exceptions import UsageError
from usp.objects.named_fields import pickled_by_name

__all__ = ["Attempt", "FoundBy", "Outcome", "Result", "SkipReason"]


class _Word(StrEnum):
    """A word with a fixed meaning; a pickle of a later version may have others."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise UsageError(f"{value!r} is no {cls.__name__} of this version.")


class Outcome(_Word):
    """The outcome of a crawl."""

    FOUND = "found"
    """Sitemaps were found, and each could be fetched and parsed, as far as they were parsed."""
    PARTIAL = "partial"
    """Sitemaps were found, but some could not be read, or only in part; or a limit was reached."""
    NONE = "none"
    """The site responded and has no sitemap."""
    BLOCKED = "blocked"
    """The site refuses requests (401, 403, 429, 451, a bot challenge)."""
    UNREACHABLE = "unreachable"
    """No useful response: DNS, TLS, a refused connection, a timeout, server errors only."""


class FoundBy(_Word):
    """How a sitemap was found."""

    WELL_KNOWN = "well-known"
    """It is robots.txt itself, or the homepage."""
    ROBOTS = "robots"
    """robots.txt declares it."""
    INDEX = "index"
    """A sitemap index lists it."""
    HTML = "html"
    """The homepage names it, in a ``<link>`` or in its ``Link`` header."""
    KNOWN_PATH = "known-path"
    """It is at a path where sitemaps are common."""
    GIVEN = "given"
    """The caller gave its URL."""


class Result(_Word):
    """The result of trying one URL."""

    SITEMAP = "sitemap"
    MISSING = "missing"
    BLOCKED = "blocked"
    UNREACHABLE = "unreachable"
    UNFINISHED = "unfinished"
    """The response had begun when the crawl reached its time limit, or was still expected when it
    reached its limit of bytes."""
    NOT_A_SITEMAP = "not-a-sitemap"
    REFUSED = "refused"
    """It was not requested: a loop, a level too deep, not HTTP, disallowed by robots.txt."""
    ALREADY_FOUND = "already-found"
    """The tree has it already."""
    NOT_NEEDED = "not-needed"
    """Its discovery stage did not run."""


class SkipReason(_Word):
    """Why a sitemap or a page was skipped, by the caller's selection."""

    SITEMAP_PATTERN = "sitemap-pattern"
    """The sitemap's URL fails ``include_sitemaps`` or ``exclude_sitemaps``."""
    SITEMAP_LASTMOD = "sitemap-lastmod"
    """Its index says that it is older than ``since`` (``trust_index_lastmod``)."""
    SITEMAP_CALLBACK = "sitemap-callback"
    """A callback rejected it."""
    PAGE_PATTERN = "page-pattern"
    """The page's URL fails ``include`` or ``exclude``."""
    PAGE_KIND = "page-kind"
    """It has none of the wanted kinds (``kind``)."""
    PAGE_DATE = "page-date"
    """It changed before ``since`` or after ``until``."""
    PAGE_UNDATED = "page-undated"
    """It has no date, and ``undated`` is ``drop``."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class Attempt:
    """One URL that a crawl tried, and the result."""

    url: str
    found_by: FoundBy
    result: Result
    detail: str
    """The reason in words; empty when it worked."""
    stage: str = ""
    """The discovery stage: ``robots.txt``, ``known paths``, ``homepage``, ``newer paths``,
    ``feeds``, ``indexes`` or ``given``."""
    http_status: int | None = field(default=None, compare=False, repr=False)
    """The HTTP status, if there was a response."""
    code: str | None = field(default=None, compare=False, repr=False)
    """The problem code of a failure (``SM…``)."""
    seconds: float | None = field(default=None, compare=False, repr=False)
    """From the request to the end of the body."""
    at: datetime | None = field(default=None, compare=False, repr=False)
    """When the body was complete, in UTC."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class CrawlFacts:
    """What a tree keeps of its crawl for its tables, beside the outcome and what was tried."""

    named: str
    """The URL of the site, sitemap or file before a scheme was chosen."""
    robots_agent: str
    """The agent whose rules in robots.txt count."""
    requests: int
    """How many requests were made, retries included."""
    bytes_received: int
    """The bytes of all bodies, before decompression."""
