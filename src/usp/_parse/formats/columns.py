"""From the record of an entry to the columns of its page.

A column has the value that the page has, as a plain value: a timestamp, a word, a list of tuples in
the order of the table's fields. What the entry doesn't have is None, and so is what isn't valid:
there are no defaults. ``READ`` has every column that a document gives; the site and the position
are not of the document.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

from usp._display import redact
from usp._parse.formats.field_reader import FieldReader, has_key
from usp._parse.formats.urlset import IMAGES, STORY, images_by, story_by
from usp._parse.values.enumerations import change_frequency_word
from usp._parse.values.numbers import parse_priority
from usp._parse.values.text import split_commas, text_or_none
from usp._parse.values.timestamps import parse_timestamp, timestamp
from usp.objects.page import PageLink, Record, SitemapImage, SitemapNewsStory
from usp.objects.video import SitemapVideo, VideoRestriction, VideoShow

RowValues = tuple[Any, ...]
ReadField = Callable[[FieldReader, Record], Any]

NEWS: Final[Mapping[str, int]] = {
    "news_publication": 2,
    "news_language": 3,
    "news_genres": 5,
    "news_keywords": 6,
    "news_stock_tickers": 7,
}
"""The columns of a news story, and the place of each in the story's row."""
PARSE_NEWS: Final[tuple[Callable[[str], Any], ...]] = (
    text_or_none,
    parse_timestamp,
    text_or_none,
    text_or_none,
    text_or_none,
    *([lambda text: split_commas(text) or None] * 3),
)
"""The parsers of the values of a story, in the order of ``STORY.keys``."""
_NO_SHOW: Final = VideoShow()
_NO_RESTRICTION: Final = VideoRestriction(None, ())
_show_values: Final = attrgetter(
    "show_title", "video_type", "episode_title", "season_number", "episode_number"
)
link_row: Final[Callable[[PageLink], RowValues]] = attrgetter(
    "rel", "href", "hreflang", "media", "type", "title"
)
image_row: Final[Callable[[SitemapImage], RowValues]] = attrgetter(
    "loc", "caption", "geo_location", "title", "license"
)


def priority_value(text: str) -> float | None:
    """Return a priority from 0 to 1."""
    return real(parse_priority(text))


def real(value: Decimal | float | None) -> float | None:
    """Return a number as a column has it; None for one that is infinite there, such as 1e999.

    JSON has no infinity, and no database adds one up.
    """
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def raw_text(text: str | None) -> str | None:
    """Return a text as it is written, without the blanks around it; None if there is none."""
    return (text and redact(text.strip())) or None


def rows_of(
    values: Iterable[Any] | None, row: Callable[[Any], RowValues]
) -> list[RowValues] | None:
    """Return the rows of some objects; None if there are none."""
    return list(map(row, values or ())) or None


def _row(*values: Any) -> RowValues:  # noqa: ANN401 -- any values
    return values


def _story_row(title: str, date: datetime | None, *rest: Any) -> RowValues:  # noqa: ANN401
    *texts, genres, keywords, tickers = rest
    return title, timestamp(date), *texts, genres or None, keywords or None, tickers or None


def story_row(story: SitemapNewsStory) -> RowValues:
    """Return the row of a news story."""
    return _story_row(*story.to_dict().values())


STORY_ROW: Final = replace(STORY, make=story_by(_story_row))
IMAGE_ROWS: Final = replace(IMAGES, make=images_by(_row))


def declared_story(texts: Mapping[str, str]) -> RowValues | None:
    """Return the row of a story that has no title or no readable date, by the texts of its keys."""
    values = [parse(texts.get(key, "")) for key, parse in zip(STORY.keys, PARSE_NEWS, strict=True)]
    return None if all(value is None for value in values) else tuple(values)


def video_row(video: SitemapVideo) -> RowValues:
    """Return the row of a video."""
    show = video.tv_show or _NO_SHOW
    restriction, platform = video.restriction or _NO_RESTRICTION, video.platform or _NO_RESTRICTION
    return (
        *(video.thumbnail_loc, video.title, video.description, video.content_loc),
        *(video.player_loc, video.player_allow_embed, video.player_autoplay, video.duration),
        timestamp(video.expiration_date),
        real(video.rating),
        video.view_count,
        timestamp(video.publication_date),
        video.family_friendly,
        *(restriction.relationship, list(restriction.values) or None),
        *(platform.relationship, list(platform.values) or None),
        rows_of(video.prices, _price_row),
        *(video.requires_subscription, video.uploader, video.uploader_info, video.live),
        list(video.tags) or None,
        *(video.category, video.gallery_loc, video.gallery_title),
        rows_of(video.ids, attrgetter("value", "type")),
        *_show_values(show),
        timestamp(show.premier_date),
        rows_of(video.content_segments, attrgetter("loc", "duration")),
        list(video.renditions) or None,
    )


def _price_row(price: Any) -> RowValues:  # noqa: ANN401 -- a VideoPrice
    return real(price.amount), price.currency, price.type, price.resolution


def _first_text(record: Record, key: str) -> str:
    """Return the first text under a key that isn't blank, as ``page.declared`` has it."""
    return next((text for known, text in record if known == key and text.strip()), "")


def _news(fields: FieldReader, record: Record) -> RowValues | None:
    if not fields.has_news or not has_key(record, STORY.prefix):
        return None
    story: RowValues | None = STORY_ROW.read(record, fields.base)  # type: ignore[assignment]
    return story or declared_story({key: _first_text(record, key) for key in STORY.keys})


def _updated_at(fields: FieldReader, record: Record) -> int | None:
    when = fields.last_modified(record) or fields.published_at(record)
    if when is None:
        story = fields.news_story(record)
        when = story.publish_date if story else None
    return timestamp(when)


def _news_value(at: int) -> ReadField:
    return lambda fields, record: (_news(fields, record) or (None,) * len(STORY.keys))[at]


READ: Final[Mapping[str, ReadField]] = {
    "lastmod": lambda fields, record: timestamp(fields.last_modified(record)),
    "lastmod_raw": lambda fields, record: raw_text(_first_text(record, fields.lastmod_key)),
    "changefreq": lambda _, record: change_frequency_word(_first_text(record, "changefreq")),
    "priority": lambda _, record: priority_value(_first_text(record, "priority")),
    "updated_at": _updated_at,
    "published_at": lambda fields, record: timestamp(fields.published_at(record)),
    "title": lambda fields, record: fields.title(record),
    "news": _news,
    "is_news": lambda fields, record: fields.news_story(record) is not None,
    **{name: _news_value(at) for name, at in NEWS.items()},
    "images": lambda fields, record: rows_of(fields.images(record), image_row),
    "videos": lambda fields, record: rows_of(fields.videos(record), video_row),
    "alternates": lambda fields, record: fields.alternates(record),
    "links": lambda fields, record: rows_of(fields.links(record), link_row),
}
"""How each column is read from a record."""
