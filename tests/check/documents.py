"""Small sitemaps for the tests of rules, and the check of one as a real file."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import usp

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
PAGE = "https://example.org/a"


def urlset(*entries: str, namespaces: str = NAMESPACES) -> str:
    """A sitemap of entries, one a line: the first is on line 3."""
    lines = "".join(f"<url>{entry}</url>\n" for entry in entries)
    return f"{HEAD}<urlset {namespaces}>\n{lines}</urlset>\n"


def url(*fields: str, loc: str = PAGE) -> str:
    """A sitemap of one entry with a date, and these fields."""
    return urlset(f"<loc>{loc}</loc><lastmod>2026-11-01</lastmod>{''.join(fields)}")


def index(*entries: str) -> str:
    lines = "".join(f"<sitemap>{entry}</sitemap>\n" for entry in entries)
    return f"{HEAD}<sitemapindex {NAMESPACES}>\n{lines}</sitemapindex>\n"


def dated(*dates: str) -> str:
    """A sitemap with an entry for each date."""
    return urlset(
        *(f"<loc>{PAGE}{at}</loc><lastmod>{date}</lastmod>" for at, date in enumerate(dates))
    )


def lastmod(date: str) -> str:
    return dated(date)


def story(*fields: str, publication: str = "") -> str:
    """A news story that is whole, except for the fields that are given instead."""
    given = "".join(fields)
    defaults = {
        "publication_date": "2026-11-17T10:00:00Z",
        "title": "A title",
    }
    rest = "".join(
        f"<news:{name}>{text}</news:{name}>"
        for name, text in defaults.items()
        if f"<news:{name}" not in given
    )
    named = publication or "<news:name>The Name</news:name><news:language>en</news:language>"
    return f"<news:news><news:publication>{named}</news:publication>{rest}{given}</news:news>"


def image(*fields: str, loc: str = "https://example.org/a.jpg") -> str:
    return f"<image:image><image:loc>{loc}</image:loc>{''.join(fields)}</image:image>"


def video(*fields: str) -> str:
    """A video that is whole, except for the fields that are given instead."""
    given = "".join(fields)
    defaults = {
        "thumbnail_loc": "https://example.org/t.jpg",
        "title": "A title",
        "description": "A description",
        "content_loc": "https://example.org/v.mp4",
    }
    rest = "".join(
        f"<video:{name}>{text}</video:{name}>"
        for name, text in defaults.items()
        if f"<video:{name}" not in given
    )
    return f"<video:video>{rest}{given}</video:video>"


def alternates(**codes: str) -> str:
    """Links to alternates; underscores in codes are hyphens."""
    return "".join(
        f'<xhtml:link rel="alternate" hreflang="{code.replace("_", "-")}" href="{href}"/>'
        for code, href in codes.items()
    )


def findings_of(
    document: str | bytes | Callable[[], str],
    folder: Path,
    name: str = "sitemap.xml",
    **options: Any,
) -> list[usp.Finding]:
    """Check a document as a file; what it lists is not fetched."""
    file = folder / name
    made = document() if callable(document) else document
    file.write_bytes(made.encode() if isinstance(made, str) else made)
    chosen: dict[str, Any] = {"now": NOW, "exclude_sitemaps": ["."], **options}
    with usp.check(file, **chosen) as found:
        return list(found)
