"""How a crawl behaves: one frozen value."""

from dataclasses import dataclass, fields
from typing import Final

from usp._parse.unpack import MAX_DOCUMENT
from usp.exceptions import SitemapException

_LEAST: Final = {
    "max_document_bytes": 1,
    "tries": 1,
    "host_strikes": 1,
    "pause_growth": 1,
    "per_host": 1,
    "total": 1,
    "documents_ahead": 1,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and manners of a crawl. What is None has no limit."""

    per_host: int = 8
    """How many requests may be under way to one host; fewer while it answers 429 or 503."""
    total: int = 32
    """How many requests may be under way in all."""
    documents_ahead: int = 32
    """How many documents are fetched ahead of the page that a stream is at."""

    tries: int = 5
    """How often one URL is asked for, while failures are of the kind that passes."""
    first_pause: float = 1.0
    """Seconds before the second try."""
    pause_growth: float = 1.5
    """By how much each pause is longer than the one before."""
    longest_pause: float = 60.0
    """The limit on pauses, also on what ``Retry-After`` asks for."""
    retries: int = 1000
    """How many second and further tries a whole crawl may make."""
    host_strikes: int = 3
    """After so many URLs in a row without any answer a host is given up."""

    max_level: int = 11
    """How deep sitemaps may lie; robots.txt and known paths are at level 0."""
    max_document_bytes: int = MAX_DOCUMENT
    """How much of one document is read, as it came and unpacked."""
    max_sitemaps: int | None = 500_000
    """After how many sitemaps a crawl ends."""
    max_pages: int | None = None
    """After how many pages a crawl ends."""
    max_seconds: float | None = None
    """After what time a crawl ends, with what it has."""
    repeated_places: int = 10_000
    """How many places may repeat an index that stands elsewhere in the tree already."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = _LEAST.get(field.name, 0)
            if value is None and field.default is not None and "None" not in str(field.type):
                raise SitemapException(f"{field.name} must be a number, not None.")
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
                raise SitemapException(f"{field.name} must be at least {least}, not {value!r}.")

    def pause(self, tries_made: int, retry_after: float | None, chance: float) -> float:
        """Return the seconds to wait before the next try; ``chance`` (0 to 1) varies them."""
        grown = self.first_pause * self.pause_growth ** (tries_made - 1)
        varied = grown * (0.75 + chance / 2)  # so that requests that failed together part
        return float(min(max(varied, retry_after or 0.0), self.longest_pause))
