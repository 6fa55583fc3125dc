"""The row of a sitemap in the state: what it says, and the sitemaps that it lists, as bytes."""

import json
import sqlite3
import zlib
from typing import Final

from usp._json import parse_json
from usp._sync.readings import ListedChild

UNREAD: Final = {"is_rolling": 0, "is_complete": 0, "pages": 0, "interval": 0}
"""The row of a sitemap that no run could read."""


def is_unread(row: sqlite3.Row | None) -> bool:
    """Tell whether no run has read anything of a sitemap."""
    return row is None or row["kind"] is None


def packed(children: tuple[ListedChild, ...]) -> bytes | None:
    """Return the sitemaps that a document lists, compressed; None if it lists none."""
    return zlib.compress(json.dumps(children).encode()) if children else None


def is_known(row: sqlite3.Row) -> bool:
    """Tell whether a sitemap was read so that it can be compared.

    Of a broken transfer, say, only a new one says what is there.
    """
    has_validator = row["etag"] or row["last_modified"] or row["sha256"]
    return row["kind"] is not None and bool(has_validator)


def unpacked(data: bytes | None) -> tuple[ListedChild, ...]:
    """Return the sitemaps that a document lists, of compressed bytes."""
    pairs = parse_json(zlib.decompress(data)) if data else ()
    return tuple((url, lastmod) for url, lastmod in pairs)


def urls_in(children: bytes | None) -> list[str]:
    """Return their URLs alone."""
    return [url for url, _ in unpacked(children)]
