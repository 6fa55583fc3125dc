"""The Google Video extension: what a ``<video:video>`` says of a video.

Each element and attribute that the extension has, or had, is a row in one of the tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import (
    Understood,
    blocks,
    elements,
    first_understood,
    understood_by,
)
from usp._parse.values import text as values
from usp._parse.values.dates import date
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
"""Makes the URL of a text, the empty text being none."""


@dataclass(frozen=True, slots=True)
class Row:
    """Where a value goes, how it is read, and the problem where it isn't understood."""

    name: str
    read: Callable[[str], object] = values.text_or_none
    code: str = ""


START: Final = "video:video"
_DATE: Final = "SM401"
_NUMBER: Final = "SM405"
_WORD: Final = "SM406"

VALUES: Final[Mapping[str, Row]] = {
    "video:title": Row("title"),
    "video:description": Row("description"),
    "video:player_loc@allow_embed": Row("player_allow_embed", values.flag, _WORD),
    "video:player_loc@autoplay": Row("player_autoplay"),
    "video:duration": Row("duration", values.seconds, _NUMBER),
    "video:expiration_date": Row("expiration_date", date, _DATE),
    "video:rating": Row("rating", values.rating, _NUMBER),
    "video:view_count": Row("view_count", values.whole, _NUMBER),
    "video:publication_date": Row("publication_date", date, _DATE),
    "video:family_friendly": Row("family_friendly", values.flag, _WORD),
    "video:requires_subscription": Row("requires_subscription", values.flag, _WORD),
    "video:uploader": Row("uploader"),
    "video:live": Row("live", values.flag, _WORD),
    "video:category": Row("category"),
    "video:gallery_loc@title": Row("gallery_title"),
}
URLS: Final[Mapping[str, str]] = {
    "video:thumbnail_loc": "thumbnail_loc",
    "video:content_loc": "content_loc",
    "video:player_loc": "player_loc",
    "video:uploader@info": "uploader_info",
    "video:gallery_loc": "gallery_loc",
}
SHOW: Final[Mapping[str, Row]] = {
    "video:show_title": Row("show_title"),
    "video:video_type": Row("video_type"),
    "video:episode_title": Row("episode_title"),
    "video:season_number": Row("season_number", values.whole, _NUMBER),
    "video:episode_number": Row("episode_number", values.whole, _NUMBER),
    "video:premier_date": Row("premier_date", date, _DATE),
}
RESTRICTIONS: Final[Mapping[str, str]] = {
    "video:restriction": "restriction",
    "video:platform": "platform",
}
_relationship: Final = values.one_of("allow", "deny")


def _prices(block: Record, _url: ToUrl) -> Iterator[VideoPrice]:
    for said, text in elements(block, "video:price"):
        words = {name: values.text_or_none(said.get(name, "")) for name in PRICE_ATTRIBUTES}
        price = VideoPrice(values.number(text), **words)
        if price != VideoPrice(None):
            yield price


def _tags(block: Record, _url: ToUrl) -> Iterator[str]:
    return (tag for _, text in elements(block, "video:tag") if (tag := values.clean(text)))


def _ids(block: Record, _url: ToUrl) -> Iterator[VideoId]:
    for said, text in elements(block, "video:id"):
        if value := values.clean(text):
            yield VideoId(value, values.text_or_none(said.get("type", "")))


def _segments(block: Record, url: ToUrl) -> Iterator[VideoSegment]:
    for said, text in elements(block, "video:content_segment_loc"):
        if loc := url(text):
            yield VideoSegment(loc, values.seconds(said.get("duration", "")))


LISTS: Final[Mapping[str, tuple[str, Callable[[Record, ToUrl], Iterator[object]]]]] = {
    "video:price": ("prices", _prices),
    "video:tag": ("tags", _tags),
    "video:id": ("ids", _ids),
    "video:content_segment_loc": ("content_segments", _segments),
}
PRICE_ATTRIBUTES: Final = ("currency", "type", "resolution")

VALUES_OF: Final[Mapping[str, tuple[str, Understood]]] = {
    **{
        key: (row.code, understood_by(row.read))
        for key, row in {**VALUES, **SHOW}.items()
        if row.code
    },
    **{f"{key}@relationship": (_WORD, understood_by(_relationship)) for key in RESTRICTIONS},
    "video:price": (_NUMBER, understood_by(values.number)),
    "video:price@type": (_WORD, understood_by(values.one_of("own", "rent", "purchase"))),
    "video:price@resolution": (_WORD, understood_by(values.one_of("hd", "sd"))),
    "video:content_segment_loc@duration": (_NUMBER, understood_by(values.seconds)),
}
"""The values that a checking read looks at."""
URL_KEYS: Final = frozenset({*URLS, "video:content_segment_loc"})
_NEEDED: Final = (
    ("video:thumbnail_loc",),
    ("video:title",),
    ("video:description",),
    ("video:content_loc", "video:player_loc", "video:content_segment_loc"),
)
"""What Google asks of every video, one of each."""


def videos(record: Record, url: ToUrl) -> list[SitemapVideo] | None:
    """Return each video that says something."""
    found = (_video(block, url) for block in blocks(record, START, "video:"))
    return [video for video in found if video != _NOTHING] or None


def check(record: Record, diagnostics: Diagnostics) -> None:
    """Report videos that say nothing, or less than Google asks for."""
    for block in blocks(record, START, "video:"):
        said = {key for key, text in block if values.clean(text)}
        missing = [keys[0] for keys in _NEEDED if said.isdisjoint(keys)]
        if not said:
            diagnostics.report("SM505", "a <video:video> that says nothing was left out")
        elif missing:
            names = ", ".join(f"<{name}>" for name in missing)
            diagnostics.report("SM506", f"a <video:video> has no {names}")


_NOTHING: Final = SitemapVideo()


def _video(block: Record, url: ToUrl) -> SitemapVideo:
    fields: dict[str, Any] = _read(block, VALUES)
    show = VideoShow(**_read(block, SHOW))
    for key, name in URLS.items():
        fields[name] = first_understood(block, key, lambda text: url(text) or None)
    for key, name in RESTRICTIONS.items():
        fields[name] = _restriction(block, key)
    for name, read in LISTS.values():
        fields[name] = tuple(read(block, url))
    return SitemapVideo(**fields, tv_show=None if show == VideoShow() else show)


def _read(block: Record, table: Mapping[str, Row]) -> dict[str, Any]:
    return {row.name: first_understood(block, key, row.read) for key, row in table.items()}


def _restriction(block: Record, key: str) -> VideoRestriction | None:
    for said, text in elements(block, key):
        if names := values.word_list(text):
            return VideoRestriction(_relationship(said.get("relationship", "")), names)
    return None
