"""Hypothesis strategies for the richer formats: videos, nested Media RSS, JSON Feeds.

The documents are well-formed, and each file in them has its own URL, so that their content is
known. Other fields have any of the texts that sites write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from hypothesis import strategies as st

from tests.parse.pattern.readers import WORTH_LEARNING
from tests.parse.reading import ALL
from usp._parse.input.sniff import Kind

H: Final = "http://h.example/"
MRSS: Final = 'xmlns:media="http://search.yahoo.com/mrss/" xmlns:x="urn:x"'
TYPES: Final = {"mp4": "video/mp4", "webm": "video/webm", "png": "image/png", "mp3": "audio/mpeg"}
VIDEO_TYPES: Final = frozenset({"mp4", "webm"})


@dataclass(frozen=True, slots=True)
class Rich:
    """A document, and the files of each page."""

    kind: Kind
    data: bytes
    videos: list[set[str]]
    images: list[set[str]]


_texts: Final = st.sampled_from(
    [
        "",
        " ",
        "600",
        "1:30",
        "4.2",
        "yes",
        "no",
        "maybe",
        "2020-05-06",
        "é &amp; 日本",
        "a, b",
        "-1",
        "1e999",
    ]
)
_VIDEO_TEXTS: Final = [
    "title", "description", "duration", "expiration_date", "rating", "view_count", "tag", "id",
    "publication_date", "family_friendly", "requires_subscription", "live", "category", "uploader",
    "restriction", "platform", "price", "gallery_loc", "season_number", "unknown",
]  # fmt: skip
_ATTRIBUTES: Final = [
    "",
    " relationship='deny'",
    " currency='EUR' type='rent'",
    " info='/i'",
    " x='1'",
]


def _joined(parts: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map("".join)


_video_field: Final = st.builds(
    lambda name, attribute, text: f"<video:{name}{attribute}>{text}</video:{name}>",
    st.sampled_from(_VIDEO_TEXTS),
    st.sampled_from(_ATTRIBUTES),
    _texts,
)
_video_fields: Final = _joined(
    _video_field | _joined(_video_field).map(lambda held: f"<video:tvshow>{held}</video:tvshow>")
)
_media_field: Final = st.builds(
    lambda name, text: f"<media:{name}>{text}</media:{name}>",
    st.sampled_from(["title", "description", "keywords", "category", "copyright", "price"]),
    _texts,
) | st.sampled_from(
    [
        "<media:restriction relationship='deny' type='country'>au us</media:restriction>",
        "<media:community><media:starRating average='3.5'/></media:community>",
        "<media:community><media:statistics views='many'/></media:community>",
        "<x:odd><media:title>inside</media:title></x:odd>",
        "<media:scenes><media:scene/></media:scenes>",
    ]
)
_media_fields: Final = _joined(_media_field, 3)
_endings: Final = st.sampled_from(sorted(TYPES))


class _Files:
    """Gives each file of a document its URL, and remembers its kind."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = count()
        self.videos: list[set[str]] = []
        self.images: list[set[str]] = []

    def next_page(self) -> None:
        self.videos.append(set())
        self.images.append(set())

    def url(self, ending: str) -> str:
        url = f"{H}{next(self._numbers)}.{ending}"
        if ending != "mp3":
            (self.videos if ending in VIDEO_TYPES else self.images)[-1].add(url)
        return url

    def rich(self, kind: Kind, document: str) -> Rich:
        return Rich(kind, document.encode(), self.videos, self.images)


@st.composite
def video_documents(draw: st.DrawFn) -> Rich:
    """Pages with videos."""
    files, pages = _Files(), []
    shapes = draw(st.lists(st.tuples(_video_fields, _video_fields), min_size=1, max_size=3))
    for number in range(draw(st.integers(1, 12))):
        files.next_page()
        before, after = shapes[number % len(shapes)]
        videos = "".join(
            f"<video:video>{before}<video:content_loc>{files.url('mp4')}</video:content_loc>{after}"
            "</video:video>"
            for _ in range(draw(st.integers(0, 2)))
        )
        pages.append(f"<url><loc>{H}{number}</loc>{videos}</url>")
    document = f"<urlset {ALL}>{''.join(pages)}{WORTH_LEARNING}</urlset>"
    return files.rich(Kind.URLSET, document)


def _content(draw: st.DrawFn, files: _Files) -> str:
    ending = draw(_endings)
    known_by = draw(st.sampled_from(["", f" type='{TYPES[ending]}'", " isDefault='true'"]))
    return (
        f"<media:content url='{files.url(ending)}'{known_by}>{draw(_media_fields)}</media:content>"
    )


@st.composite
def media_documents(draw: st.DrawFn) -> Rich:
    """Items with media, alone and in groups, and with enclosures."""
    files, items = _Files(), []
    for number in range(draw(st.integers(1, 8))):
        files.next_page()
        parts = [draw(_media_fields)]
        for _ in range(draw(st.integers(0, 3))):
            held = [_content(draw, files) for _ in range(draw(st.integers(1, 3)))]
            inside = "".join([*held, draw(_media_fields)])
            grouped = draw(st.booleans())
            parts.append(f"<media:group>{inside}</media:group>" if grouped else inside)
        if draw(st.booleans()):
            ending = draw(_endings)
            parts.append(f"<enclosure url='{files.url(ending)}' type='{TYPES[ending]}'/>")
        body = "".join(draw(st.permutations(parts)))
        items.append(f"<item><title>T</title><link>{H}{number}</link>{body}</item>")
    document = f"<rss {MRSS}><channel>{''.join(items)}{WORTH_LEARNING}</channel></rss>"
    return files.rich(Kind.RSS, document)


_json_values: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
_JSON_KEYS: Final = ["summary", "tags", "authors", "language", "_own", "odd key", "date_published"]


@st.composite
def json_documents(draw: st.DrawFn) -> Rich:
    """Feeds with attachments, private keys, and values of any type."""
    files = _Files()
    items: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 8))):
        files.next_page()
        attached: list[Any] = []
        for _ in range(draw(st.integers(0, 3))):
            ending = draw(_endings)
            file = {"url": files.url(ending), "mime_type": TYPES[ending]}
            attached.append(file | draw(st.sampled_from([{}, {"title": "A"}, {"_own": [1]}])))
        attached += draw(
            st.lists(st.sampled_from([None, 1, "x", {"size_in_bytes": 1}]), max_size=1)
        )
        more = draw(st.dictionaries(st.sampled_from(_JSON_KEYS), _json_values, max_size=3))
        item = {"id": str(number), "url": f"{H}{number}", "title": "T"}
        items.append({**item, **more, "attachments": attached})
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": items}
    return files.rich(Kind.JSON_FEED, json.dumps(feed, indent=draw(st.sampled_from([None, 1]))))


rich_documents: Final = st.one_of(video_documents(), media_documents(), json_documents())
