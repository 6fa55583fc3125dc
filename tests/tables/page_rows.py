"""What page objects say, as the row of a page in ``pages``: the reference for columns."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from usp._display import redact
from usp._parse import clean_text
from usp.objects.page import SitemapPage
from usp.objects.video import SitemapVideo, VideoRestriction, VideoShow

FREQUENCIES: Final = {"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}
LINK: Final = ("rel", "href", "hreflang", "media", "type", "title")
LISTS: Final = ("genres", "keywords", "stock_tickers")
NEWS_ELEMENTS: Final = ("name", "language", *LISTS)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(when: datetime | None) -> int | None:
    if when is None:
        return None
    try:
        utc = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except OverflowError:  # in the first or last hours of the calendar
        utc = when.replace(tzinfo=UTC)
    return (utc - EPOCH) // timedelta(microseconds=1)


def priority(text: str | None) -> float | None:
    try:
        value = float(clean_text(text or ""))
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def news(page: SitemapPage) -> dict[str, Any]:
    """The columns of the Google News extension, also of a story without a readable date."""
    texts = {name: page.declared.get(f"news:{name}") or "" for name in NEWS_ELEMENTS}
    if not any(key.startswith("news:") for key in page.declared):
        return {}
    story = page.news_story
    if story:
        values: dict[str, Any] = {name: getattr(story, name) for name in LISTS}
        values |= {"name": story.publication_name, "language": story.publication_language}
    else:
        values = {name: clean_text(texts[name]) for name in ("name", "language")}
        for name in LISTS:
            parts = (clean_text(part) for part in clean_text(texts[name]).split(","))
            values[name] = [part for part in parts if part]
    return {
        "news_publication": values["name"] or None,
        "news_language": values["language"] or None,
        **{f"news_{name}": values[name] or None for name in LISTS},
    }


def real(value: Decimal | None) -> float | None:
    return None if value is None or math.isinf(float(value)) else float(value)


def video_row(video: SitemapVideo) -> tuple[Any, ...]:
    show, nothing = video.tv_show or VideoShow(), VideoRestriction(None, ())
    restriction, platform = video.restriction or nothing, video.platform or nothing
    prices = [(real(one.amount), one.currency, one.type, one.resolution) for one in video.prices]
    row = {
        **{name: getattr(video, name) for name in SitemapVideo.__dataclass_fields__},
        "expiration_date": microseconds(video.expiration_date),
        "rating": real(video.rating),
        "publication_date": microseconds(video.publication_date),
        "restriction": (restriction.relationship, list(restriction.values) or None),
        "platform": (platform.relationship, list(platform.values) or None),
        "prices": prices or None,
        "tags": list(video.tags) or None,
        "ids": [(one.value, one.type) for one in video.ids] or None,
        "tv_show": (
            *(show.show_title, show.video_type, show.episode_title, show.season_number),
            *(show.episode_number, microseconds(show.premier_date)),
        ),
        "content_segments": [(one.loc, one.duration) for one in video.content_segments] or None,
        "renditions": list(video.renditions) or None,
    }
    flat: list[Any] = []
    for value in row.values():
        flat += value if isinstance(value, tuple) else (value,)
    return tuple(flat)


def page_row(page: SitemapPage) -> dict[str, Any]:
    """The row of a page that was parsed, without the site and the position."""
    declared = page.declared
    word = clean_text(declared.get("changefreq", "")).lower()
    raw = declared.get("lastmod") or declared.get("date_modified")
    images = [
        (one.loc, one.caption, one.geo_location, one.title, one.license)
        for one in page.images or ()
    ]
    return {
        "url": page.url,
        "lastmod": microseconds(page.last_modified),
        "lastmod_raw": redact(raw) if raw else None,
        "changefreq": word if word in FREQUENCIES else None,
        "priority": priority(declared.get("priority")),
        "updated_at": microseconds(page.updated_at),
        "published_at": microseconds(page.published_at),
        "title": page.title,
        **{f"news_{name}": None for name in ("publication", "language", *LISTS)},
        **news(page),
        "images": images or None,
        "videos": [video_row(one) for one in page.videos or ()] or None,
        "alternates": page.alternates,
        "links": [tuple(getattr(one, name) for name in LINK) for one in page.links or ()] or None,
    }
