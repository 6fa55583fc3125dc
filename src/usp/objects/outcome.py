"""What came of a crawl, and of each thing that was tried in it."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What came of a crawl as a whole."""

    FOUND = "found"
    """Sitemaps were found and each could be fetched and is one; ``tree_complete`` tells, by reading
    them, whether each was whole."""
    PARTIAL = "partial"
    """Sitemaps were found, but some could not be read or a limit was reached."""
    NONE = "none"
    """The site answered, and has no sitemap."""
    BLOCKED = "blocked"
    """The site refuses to answer us (401, 403, 407, 429, 451)."""
    UNREACHABLE = "unreachable"
    """No answer was to be had: DNS, TLS, a refused connection, a server that only fails."""


class FoundBy(StrEnum):
    """How a sitemap came to be asked for."""

    WELL_KNOWN = "well-known"
    """It is robots.txt itself, or the homepage: every site may have them."""
    ROBOTS = "robots"
    """robots.txt names it."""
    INDEX = "index"
    """A sitemap names it."""
    HTML = "html"
    """The homepage names it, in a ``<link>`` or in its ``Link`` header."""
    KNOWN_PATH = "known-path"
    """Sitemaps are often found there."""
    GIVEN = "given"
    """The caller asked for it."""


class Result(StrEnum):
    """What came of trying one URL."""

    SITEMAP = "sitemap"
    MISSING = "missing"
    BLOCKED = "blocked"
    UNREACHABLE = "unreachable"
    NOT_A_SITEMAP = "not-a-sitemap"
    REFUSED = "refused"
    """Nobody asked: a loop, a level too deep, not HTTP."""
    ALREADY_FOUND = "already-found"
    """It stands in the tree by another way."""
    NOT_NEEDED = "not-needed"
    """It was to be tried only if nothing else was found."""


class SkipReason(StrEnum):
    """Why a sitemap or a page was left out, by what the caller asked for."""

    SITEMAP_PATTERN = "sitemap-pattern"
    """The sitemap's URL doesn't fit ``include_sitemaps`` or ``exclude_sitemaps``."""
    SITEMAP_LASTMOD = "sitemap-lastmod"
    """Its index says that it is older than ``since``, and that was to be trusted."""
    SITEMAP_CALLBACK = "sitemap-callback"
    """A callback left it out."""
    PAGE_PATTERN = "page-pattern"
    """The page's URL doesn't fit ``include`` or ``exclude``."""
    PAGE_KIND = "page-kind"
    """It has none of the ``kind``."""
    PAGE_DATE = "page-date"
    """It changed before ``since`` or after ``until``."""
    PAGE_UNDATED = "page-undated"
    """It doesn't say when it changed, and such were not wanted."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One URL that a crawl tried, and what came of it."""

    url: str
    found_by: FoundBy
    result: Result
    detail: str
    """The reason in words; empty when it worked."""
    stage: str = ""
    """The stage of the ladder of discovery that led there, as the docs call it."""
