"""The kinds of differences between two inputs, and one difference as a value."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from usp._sync.changes import iso


class DifferenceKind(StrEnum):
    """What is different about a URL in B, compared with A."""

    ADDED = "added"
    """B has it, and A doesn't."""
    REMOVED = "removed"
    """A has it, and B doesn't."""
    CHANGED = "changed"
    """Both have it, with another date or other fields."""
    MOVED = "moved"
    """Both have it, in other sitemaps."""
    MAYBE_ADDED = "maybe-added"
    """B has it, and A may have it: what would list it there could not be read."""
    MAYBE_REMOVED = "maybe-removed"
    """A has it, and B may have it: what would list it there could not be read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of one URL.

    :param change: what is different.
    :param url: the URL as B has it; as A has it, if B doesn't.
    :param old_url: the URL as A has it; None if A doesn't.
    :param sitemap_url: the sitemap that lists it in B.
    :param old_sitemap_url: the sitemap that lists it in A.
    :param lastmod: its date in B.
    :param old_lastmod: its date in A.
    :param fields: the names of the columns that differ, if the kind is ``changed``.
    """

    change: DifferenceKind
    url: str
    old_url: str | None = None
    sitemap_url: str | None = None
    old_sitemap_url: str | None = None
    lastmod: datetime | None = None
    old_lastmod: datetime | None = None
    fields: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values of JSON; times are texts in UTC."""
        return {
            "change": str(self.change),
            "url": self.url,
            "old_url": self.old_url,
            "sitemap_url": self.sitemap_url,
            "old_sitemap_url": self.old_sitemap_url,
            "lastmod": iso(self.lastmod),
            "old_lastmod": iso(self.old_lastmod),
            "fields": list(self.fields),
        }
