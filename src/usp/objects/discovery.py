"""What discovery found on a site: every URL that was tried, and what is there."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from usp._cause import cause
from usp.objects.named_fields import pickled_by_name
from usp.objects.outcome import FoundBy, Outcome, Result
from usp.objects.problem import Problem

__all__ = ["Discovery", "TriedURL"]

_LEADING: Final = frozenset({"robots", "homepage"})
"""The kinds of documents that only lead to sitemaps."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class TriedURL:
    """One URL that discovery tried, the result, and what is there."""

    url: str
    """The URL as it was declared or guessed."""
    stage: str
    """The discovery stage; see ``usp.objects.outcome.Attempt``."""
    found_by: FoundBy
    result: Result
    detail: str
    """The reason of a failure, in words; empty when it worked."""
    level: int
    """The depth in the tree; robots.txt and known paths are at level 0."""
    parent_url: str | None
    """The document that declares it."""
    final_url: str | None
    """The URL after redirects; like all that follows, None if no document arrived."""
    kind: str | None
    """The format: ``urlset``, ``sitemapindex``, ``robots``, ``rss``, ``atom``, ``jsonfeed``,
    ``text`` or ``homepage``."""
    entries: int | None
    """The number of pages or sitemaps that it lists, as written: with duplicates and wrong ones."""
    bytes: int | None
    """The size of the document, decompressed."""
    bytes_received: int | None
    http_status: int | None
    index_lastmod: datetime | None
    """The ``<lastmod>`` that its index gives."""
    http_last_modified: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values: times as ISO 8601 in UTC, as exports have them.

        The reason of a failure is in the words of the system, and None when it worked.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["detail"] = cause(self.detail) or None
        return {
            name: _iso_time(value) if isinstance(value, datetime) else value
            for name, value in values.items()
        }


def _iso_time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


@pickled_by_name
@dataclass(frozen=True, slots=True)
class Discovery:
    """What discovery found on a site."""

    url: str
    """The site, sitemap or file."""
    outcome: Outcome
    tried: tuple[TriedURL, ...]
    """Every URL that was tried, in document order."""
    problems: tuple[Problem, ...]
    """Why something may be missing."""
    seconds: float
    """How long it took."""

    @property
    def sitemaps(self) -> tuple[TriedURL, ...]:
        """The sitemaps that were found; robots.txt and the homepage only lead to them."""
        found = (tried for tried in self.tried if tried.result is Result.SITEMAP)
        return tuple(tried for tried in found if tried.kind not in _LEADING)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            "url": self.url,
            "outcome": str(self.outcome),
            "seconds": round(self.seconds, 3),
            "sitemaps": len(self.sitemaps),
            "problems": [
                {"code": p.code, "message": p.message, "sitemap_url": p.sitemap_url}
                for p in self.problems
            ],
            "tried": [tried.to_dict() for tried in self.tried],
        }
