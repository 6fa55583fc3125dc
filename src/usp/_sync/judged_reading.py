"""What a reading of a sitemap means beside what is known of it: pure functions of the two."""

import sqlite3
from dataclasses import replace
from typing import Final

from usp._parse import Kind, is_http_url
from usp._sync.known_sitemap import unpacked
from usp._sync.listing import Listing
from usp._sync.readings import SitemapReading

_FEEDS: Final = frozenset({Kind.RSS, Kind.ATOM, Kind.JSON_FEED})
_NEWS_SHARE: Final = 0.5
"""A sitemap of which more pages have a news story is a news sitemap: it lists two days or so."""


def parent_of(reading: SitemapReading, row: sqlite3.Row | None) -> str | None:
    """Return what lists a sitemap, or did if nothing does.

    Where robots.txt can't be read, a known path may lead to a sitemap that it declared, and still
    the next robots.txt that doesn't declare it any more says that it is gone.
    """
    return reading.parent_url or (row["parent_url"] if row else None)


def is_rolling(reading: SitemapReading, row: sqlite3.Row | None) -> bool:
    """Tell whether a sitemap lists what is new only; one that is empty or cut stays what it was."""
    if row and row["kind"] and not (reading.entries and reading.is_whole):
        return bool(row["is_rolling"])
    return reading.kind in _FEEDS or reading.news > len(reading.entries) * _NEWS_SHARE


def lost_its_declarations(reading: SitemapReading, row: sqlite3.Row | None) -> bool:
    """Tell whether a robots.txt declared sitemaps, and declares none any more.

    Any text can be a robots.txt, so it may just as well be a message of a server that is down. A
    line that breaks off after "Sitemap: http:" names robots.txt itself.
    """
    if reading.kind is not Kind.ROBOTS or row is None or row["children"] is None:
        return False
    return not any(is_http_url(url) and url != reading.url for url, _ in reading.children)


def with_known(reading: SitemapReading, row: sqlite3.Row | None, old: Listing) -> SitemapReading:
    """Return a reading with what is known, if it is damaged.

    What it doesn't have may be there all the same: pages, and the sitemaps of an index, which may
    even seem to be something else.
    """
    if reading.is_whole or row is None or row["kind"] is None:
        return reading
    children = dict(unpacked(row["children"])) | dict(reading.children)
    return replace(
        reading,
        kind=Kind(row["kind"]),
        entries={**old, **reading.entries},
        children=tuple(children.items()),
    )
