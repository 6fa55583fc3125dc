"""The earlier run that a check is compared with: what the state of ``usp sync`` has of a site.

A check reads a state, and never writes it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from usp._sync import listing
from usp._sync.changes import time_of
from usp._sync.options import site_key
from usp._sync.state import State
from usp._sync.state_path import StatePath

_SITEMAPS = """
SELECT id, url, final_url, pages, is_rolling, is_complete, fetched_at FROM sitemaps
WHERE site_id = ? AND kind IS NOT NULL AND kind != 'robots' ORDER BY id
"""
_ENTRIES = "SELECT entries FROM listings WHERE sitemap_id = ?"


@dataclass(frozen=True, slots=True)
class EarlierSitemap:
    """A sitemap as the earlier run has seen it."""

    number: int
    url: str
    final_url: str
    pages: int
    is_rolling: bool
    """Whether it lists what is new only: a news sitemap or a feed."""
    is_complete: bool
    fetched_at: datetime | None


class EarlierRun:
    """The last run of a site."""

    def __init__(self, state: State, site_id: int) -> None:
        self._state = state
        rows = state.connection.execute(_SITEMAPS, (site_id,)).fetchall()
        self.sitemaps = tuple(
            EarlierSitemap(
                number, url, final_url, pages, bool(rolling), bool(complete), time_of(at)
            )
            for number, url, final_url, pages, rolling, complete, at in rows
        )

    @classmethod
    def of(cls, path: object, source: str) -> "EarlierRun | None":
        """Return the last run of a site; None if there was none.

        :raises UsageError: if the file is no state.
        """
        if not Path(StatePath.of(path).path).exists():
            return None
        state = State.open_to_read(path)
        site_id = state.site_id(site_key(source))
        if site_id is not None:
            run = cls(state, site_id)
            if run.sitemaps:
                return run
        state.close()
        return None

    def urls_of(self, sitemap: EarlierSitemap) -> Iterator[str]:
        """Yield the URLs that a sitemap listed."""
        row = self._state.connection.execute(_ENTRIES, (sitemap.number,)).fetchone()
        return listing.urls_of(row[0]) if row else iter(())

    def close(self) -> None:
        """Close the state."""
        self._state.close()
