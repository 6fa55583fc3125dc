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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One URL that a crawl tried, and what came of it."""

    url: str
    found_by: str
    """``robots`` (robots.txt itself), ``declared`` (by robots.txt or an index), ``known-path``."""
    result: str
    """``sitemap``, ``missing``, ``blocked``, ``unreachable``, ``not-a-sitemap``, ``refused``
    (a loop, a level too deep, not HTTP) or ``already-found``."""
    detail: str
    """The reason in words; empty when it worked."""
