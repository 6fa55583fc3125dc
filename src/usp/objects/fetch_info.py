"""Where a sitemap came from: no part of what makes two sitemaps equal."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from usp.objects.outcome import FoundBy


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a document came over the web."""

    redirects: tuple[str, ...] = ()
    """The URLs that led on to others, in order."""
    size: int | None = None
    """How many bytes came, before unpacking."""
    fetched_at: datetime | None = None
    """When it was there, in UTC."""
    fetch_seconds: float | None = None
    """How long it took, from the request to the last byte."""
    http_last_modified: datetime | None = None
    """What the ``Last-Modified`` header says."""
    cut_off: bool = False
    """The connection ended in the middle of it."""


NOT_FETCHED: Final = Arrival()
"""That of a document which was at hand."""


@dataclass(frozen=True, slots=True)
class Origin:
    """How a sitemap was found."""

    found_by: FoundBy | None = None
    declared_url: str | None = None
    """The URL that it was asked for by, before redirects."""
    index_lastmod: datetime | None = None
    """When it changed, as the index that names it says."""
    arrival: Arrival = NOT_FETCHED


UNKNOWN: Final = Origin()
"""That of a sitemap which the caller built, or read from a text."""
