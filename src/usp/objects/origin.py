"""Where a sitemap came from: no part of what makes two sitemaps equal."""

from dataclasses import dataclass
from datetime import datetime

from usp.objects.outcome import FoundBy


@dataclass(frozen=True, slots=True)
class Origin:
    """How a sitemap was found."""

    found_by: FoundBy | None = None
    declared_url: str | None = None
    """The URL that it was asked for by, before redirects."""
    index_lastmod: datetime | None = None
    """When it changed, as the index that names it says."""


UNKNOWN = Origin()
"""That of a sitemap which the caller built, or read from a text."""
