"""The Google Video extension: the values of a ``<video:video>``.

Each element and attribute of the extension, also the withdrawn ones, is a row in one of the tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import (
    IsValid,
    blocks,
    elements,
    first_value,
    is_parsed_by,
)
from usp._parse.values.dates import parse_aware_date
from usp._parse.values.enumerations import one_of, parse_boolean
from usp._parse.values.numbers import parse_duration, parse_integer, parse_number, parse_rating
from usp._parse.values.text import clean_text, split_words, text_or_none
from usp.objects.page import Record
from usp.objects.video import (
    SitemapVideo,
    VideoId,
    VideoPrice,
    VideoRestriction,
    VideoSegment,
    VideoShow,
)

ToUrl = Callable[[str], str]
"""Resolves the URL in a text; empty if there is none."""


@dataclass(frozen=True, slots=True)
class VideoField:
    """A field of ``SitemapVideo``: its name, its parser, and the problem code of invalid values."""

    name: str
    parse: Callable[[str], object] = text_or_none
    code: str = ""


START: Final = "video:video"
_DATE: Final = "SM401"
_NUMBER: Final = "SM405"
_WORD: Final = "SM406"

VALUES: Final[Mapping[str, VideoField]] = {
    "video:title": VideoField("title"),
    "video:description": VideoField("description"),
    "video:player_loc@allow_embed": VideoField("player_allow_embed", parse_boolean, _WORD),
    "video:player_loc@autoplay": VideoField("player_autoplay"),
    "video:duration": VideoField("duration", parse_duration, _NUMBER),
    "video:expiration_date": VideoField("expiration_date", parse_aware_date, _DATE),
    "video:rating": VideoField("rating", parse_rating, _NUMBER),
    "video:view_count": VideoField("view_count", parse_integer, _NUMBER),
    "video:publication_date": VideoField("publication_date", parse_aware_date, _DATE),
    "video:family_friendly": VideoField("family_friendly", parse_boolean, _WORD),
    "video:requires_subscription": VideoField("requires_subscription", parse_boolean, _WORD),
    "video:uploader": VideoField("uploader"),
    "video:live": VideoField("live", parse_boolean, _WORD),
    "video:category": VideoField("category"),
    "video:gallery_loc@title": VideoField("gallery_title"),
}
URLS: Final[Mapping[str, str]] = {
    "video:thumbnail_loc": "thumbnail_loc",
    "video:content_loc": "content_loc",
    "video:player_loc": "player_loc",
    "video:uploader@info": "uploader_info",
    "video:gallery_loc": "gallery_loc",
}
SHOW: Final[Mapping[str, VideoField]] = {
    "video:show_title": VideoField("show_title"),
    "video:video_type": VideoField("video_type"),
    "video:episode_title": VideoField("episode_title"),
    "video:season_number": VideoField("season_number", parse_integer, _NUMBER),
    "video:episode_number": VideoField("episode_number", parse_integer, _NUMBER),
    "video:premier_date": VideoField("premier_date", parse_aware_date, _DATE),
}
RESTRICTIONS: Final[Mapping[str, str]] = {
    "video:restriction": "restriction",
    "video:platform": "platform",
}
_relationship: Final = one_of("allow", "deny")


def _prices(block: Record, _url: ToUrl) -> Iterator[VideoPrice]:
    for attributes, text in elements(block, "video:price"):
        words = {name: text_or_none(attributes.get(name, "")) for name in PRICE_ATTRIBUTES}
        price = VideoPrice(parse_number(text), **words)
        if price != VideoPrice(None):
            yield price


def _tags(block: Record, _url: ToUrl) -> Iterator[str]:
    return (tag for _, text in elements(block, "video:tag") if (tag := clean_text(text)))


def _ids(block: Record, _url: ToUrl) -> Iterator[VideoId]:
    for attributes, text in elements(block, "video:id"):
        if value := clean_text(text):
            yield VideoId(value, text_or_none(attributes.get("type", "")))


def _segments(block: Record, url: ToUrl) -> Iterator[VideoSegment]:
    for attributes, text in elements(block, "video:content_segment_loc"):
        if loc := url(text):
            yield VideoSegment(loc, parse_duration(attributes.get("duration", "")))


LISTS: Final[Mapping[str, tuple[str, Callable[[Record, ToUrl], Iterator[object]]]]] = {
    "video:price": ("prices", _prices),
    "video:tag": ("tags", _tags),
    "video:id": ("ids", _ids),
    "video:content_segment_loc": ("content_segments", _segments),
}
PRICE_ATTRIBUTES: Final = ("currency", "type", "resolution")

VALIDATORS: Final[Mapping[str, tuple[str, IsValid]]] = {
    **{
        key: (field.code, is_parsed_by(field.parse))
        for key, field in {**VALUES, **SHOW}.items()
        if field.code
    },
    **{f"{key}@relationship": (_WORD, is_parsed_by(_relationship)) for key in RESTRICTIONS},
    "video:price": (_NUMBER, is_parsed_by(parse_number)),
    "video:price@type": (_WORD, is_parsed_by(one_of("own", "rent", "purchase"))),
    "video:price@resolution": (_WORD, is_parsed_by(one_of("hd", "sd"))),
    "video:content_segment_loc@duration": (_NUMBER, is_parsed_by(parse_duration)),
}
"""The values that are checked: problem code and check."""
URL_KEYS: Final = frozenset({*URLS, "video:content_segment_loc"})
_REQUIRED: Final = (
    ("video:thumbnail_loc",),
    ("video:title",),
    ("video:description",),
    ("video:content_loc", "video:player_loc", "video:content_segment_loc"),
)
"""What Google requires of every video: one element of each row."""


def videos(record: Record, url: ToUrl) -> list[SitemapVideo] | None:
    """Return each video that isn't empty."""
    found = (_video(block, url) for block in blocks(record, START, "video:"))
    return [video for video in found if video != _EMPTY] or None


def check(record: Record, diagnostics: Diagnostics) -> None:
    """Report videos that are empty, or lack what Google requires."""
    for block in blocks(record, START, "video:"):
        present = {key for key, text in block if clean_text(text)}
        missing = [keys[0] for keys in _REQUIRED if present.isdisjoint(keys)]
        if not present:
            diagnostics.report("SM505", "an empty <video:video> was skipped")
        elif missing:
            names = ", ".join(f"<{name}>" for name in missing)
            diagnostics.report("SM506", f"a <video:video> has no {names}")


_EMPTY: Final = SitemapVideo()


def _video(block: Record, url: ToUrl) -> SitemapVideo:
    fields: dict[str, Any] = _parse_fields(block, VALUES)
    show = VideoShow(**_parse_fields(block, SHOW))
    for key, name in URLS.items():
        fields[name] = first_value(block, key, lambda text: url(text) or None)
    for key, name in RESTRICTIONS.items():
        fields[name] = _restriction(block, key)
    for name, parse in LISTS.values():
        fields[name] = tuple(parse(block, url))
    return SitemapVideo(**fields, tv_show=None if show == VideoShow() else show)


def _parse_fields(block: Record, table: Mapping[str, VideoField]) -> dict[str, Any]:
    return {field.name: first_value(block, key, field.parse) for key, field in table.items()}


def _restriction(block: Record, key: str) -> VideoRestriction | None:
    for attributes, text in elements(block, key):
        if names := split_words(text):
            return VideoRestriction(_relationship(attributes.get("relationship", "")), names)
    return None
