"""How a crawl behaves: one frozen value."""

from dataclasses import dataclass, fields
from typing import Final

from usp._parse.unpack import MAX_DOCUMENT
from usp.exceptions import SitemapException

_LEAST: Final = {"max_document_bytes": 1, "tries": 1, "host_strikes": 1, "pause_growth": 1}


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and manners of a crawl."""

    max_level: int = 11
    """How deep sitemaps may lie; robots.txt and known paths are at level 0."""
    max_document_bytes: int = MAX_DOCUMENT
    """How much of one document is read, as it came and unpacked."""
    tries: int = 5
    """How often one URL is asked for, while failures are of the kind that passes."""
    first_pause: float = 1.0
    """Seconds before the second try."""
    pause_growth: float = 1.5
    """By how much each pause is longer than the one before."""
    longest_pause: float = 60.0
    """The limit on pauses, also on what ``Retry-After`` asks for."""
    host_strikes: int = 5
    """After so many requests in a row without an answer a host is given up."""
    repeated_places: int = 10_000
    """How many places may repeat an index that stands elsewhere in the tree already."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = _LEAST.get(field.name, 0)
            if not isinstance(value, int | float) or not value >= least:
                raise SitemapException(f"{field.name} must be at least {least}, not {value!r}.")

    def pause(self, tries_made: int, retry_after: float | None) -> float:
        """Return the seconds to wait before the next try."""
        grown = self.first_pause * self.pause_growth ** (tries_made - 1)
        return min(max(grown, retry_after or 0.0), self.longest_pause)
