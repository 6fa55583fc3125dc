"""JSON Feed 1.0 and 1.1: items as records, and what they say about their pages.

Keys of a record are the feed's own (``url``, ``date_published``); those of the objects that an
item holds are ``attachments@url``. A value of another type than it should be is left out. What no
key here means is passed over, or kept as JSON where somebody asks for it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import media_rss as media
from usp._parse.formats.feeds import RssFieldReader, first_date
from usp._parse.formats.field_reader import FieldReader, blocks, first, understood_by
from usp._parse.formats.json_items import Item
from usp._parse.values import text as values
from usp._parse.values.dates import is_understood
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import UNKNOWN, UNKNOWN_TEXT
from usp.objects.page import PageElement, PageLink, Record, SitemapImage, SitemapVideo

TEXTS: Final = frozenset(
    {
        *("id", "url", "external_url", "title", "content_html", "content_text", "summary"),
        *("image", "banner_image", "date_published", "date_modified", "language"),
    }
)
OBJECTS: Final[Mapping[str, frozenset[str]]] = {
    "attachments": frozenset({"url", "mime_type", "title", "size_in_bytes", "duration_in_seconds"}),
    "authors": frozenset({"name", "url", "avatar"}),  # 1.1
    "author": frozenset({"name", "url", "avatar"}),  # 1.0
}
LISTS: Final = frozenset({"tags"})
_FILE: Final = "attachments"
_MEDIA: Final = {
    f"{_FILE}@url": "media:group/content@url",
    f"{_FILE}@mime_type": "media:group/content@type",
    f"{_FILE}@duration_in_seconds": "media:group/content@duration",
    f"{_FILE}@title": "media:group/content/title",
}
"""Attachments in the words of Media RSS."""
_UNKNOWN: Final = (UNKNOWN, UNKNOWN_TEXT)
"""The keys of a value that means nothing here: its name, then its JSON."""

Pairs = Iterator[tuple[str, str]]


def entries(
    items: Iterator[Item], diagnostics: Diagnostics, *, extensions: bool = False
) -> Iterator[Entry]:
    """Yield the record of each item, with what means nothing here if that is wanted."""
    writer = _Writer(diagnostics, extensions)
    for item, at in items:
        diagnostics.here = at
        yield "item", list(writer.record(item)), at


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the records of items."""

    diagnostics: Diagnostics
    extensions: bool

    def record(self, item: Mapping[str, Any]) -> Pairs:
        """Yield what an item says."""
        for written, value in item.items():
            key = written.lower()
            if key in TEXTS:
                yield from self._text(key, value)
            elif key in LISTS:
                for part in self._listed(key, value):
                    yield from self._text(key, part)
            elif key in OBJECTS:
                for part in [value] if isinstance(value, dict) else self._listed(key, value):
                    yield from self._object(key, part)
            else:
                yield from self._unknown(written, value)

    def _text(self, key: str, value: object) -> Pairs:
        """Yield a text, or a number as text: an ``id`` may be one."""
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield key, str(value)
        elif value is not None:
            self.diagnostics.report("SM407", f"{key} is no text")

    def _listed(self, key: str, value: object) -> list[Any]:
        if isinstance(value, list):
            return value
        if value is not None:
            self.diagnostics.report("SM407", f"{key} is no list")
        return []

    def _object(self, key: str, value: object) -> Pairs:
        if not isinstance(value, dict):
            self.diagnostics.report("SM407", f"{key} holds something that is no object")
            return
        yield key, ""
        for name, inside in value.items():
            if name.lower() in OBJECTS[key]:
                yield from self._text(f"{key}@{name.lower()}", inside)
            else:
                yield from self._unknown(name, inside)

    def _unknown(self, name: str, value: object) -> Pairs:
        if self.extensions:
            yield UNKNOWN, name
            yield UNKNOWN_TEXT, json.dumps(value, ensure_ascii=False)


def _as_media(record: Record) -> Record:
    """Return the attachments in groups: those that have one title are one thing in many forms."""
    groups: dict[object, list[tuple[str, str]]] = {}
    for at, file in enumerate(blocks(record, _FILE, f"{_FILE}@")):
        said = [(_MEDIA[key], text) for key, text in file if key in _MEDIA]
        group = groups.setdefault(first(file, f"{_FILE}@title") or at, [("media:group", "")])
        group += [("media:group/content", ""), *said]
    return [pair for group in groups.values() for pair in group]


class JsonFeedFieldReader(RssFieldReader):
    """Turns the record of an item into the values of its page."""

    titles = ("title", "summary", "content_text", "content_html")
    dates = ("date_published", "date_modified")
    published = ("date_published",)
    values_of = {  # noqa: RUF012 -- a class's own table
        **dict.fromkeys(dates, ("SM401", is_understood)),
        "attachments@duration_in_seconds": ("SM405", understood_by(values.seconds)),
    }
    url_keys = frozenset({"url", "external_url", "image", "banner_image", "attachments@url"})
    single_keys = frozenset()
    more_keys = (_FILE, "external_url", UNKNOWN)

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:
        """Report what is wrong with an item's values and attachments."""
        FieldReader.check(self, name, record, diagnostics)
        media.check(_as_media(record), diagnostics)

    def link(self, record: Record) -> str:
        """Return ``url``, else ``external_url``, else an ``id`` that is a URL."""
        found = self._url(first(record, "url")) or self._url(first(record, "external_url"))
        named = values.url(first(record, "id"), None)
        return found or (named if values.is_http_url(named) else "")

    def last_modified(self, record: Record) -> datetime | None:
        """Return ``date_modified``."""
        return first_date(record, ("date_modified",))

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return ``image``, ``banner_image`` and the attachments that are images."""
        named = (self._url(first(record, key)) for key in ("image", "banner_image"))
        found = {loc: SitemapImage(loc) for loc in named if loc}
        for image in media.images(_as_media(record), self._url) or ():
            found.setdefault(image.loc, image)
        return list(found.values()) or None

    def videos(self, record: Record) -> list[SitemapVideo] | None:
        """Return the attachments that are videos."""
        return media.videos(_as_media(record), self._url)

    def links(self, record: Record) -> list[PageLink] | None:
        """Return ``external_url`` where it isn't the page itself: what the item is about."""
        target = self._url(first(record, "external_url"))
        return [PageLink("related", target)] if target and target != self.link(record) else None

    def extensions(self, record: Record) -> list[PageElement] | None:
        """Return the values that mean nothing here, as JSON, where the record has them."""
        said = [values.drop_controls(text) for key, text in record if key in _UNKNOWN]
        found = zip(said[::2], said[1::2], strict=True)
        return [PageElement(name, text=text) for name, text in found] or None

    def _is_html(self, name: str, _attributes: Mapping[str, str]) -> bool:
        return name == "content_html"
