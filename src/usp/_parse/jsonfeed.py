"""JSON Feed 1.0 and 1.1: items as records, and what they say about their pages.

Keys of a record are the feed's own (``url``, ``date_published``); those of the objects that an
item holds are ``attachments@url``. A value of another type than it should be is left out.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from usp._parse import media, values
from usp._parse.builder import Entry
from usp._parse.dates import is_understood
from usp._parse.feeds import FeedMeaning, first_date
from usp._parse.findings import Findings
from usp._parse.json_items import Item
from usp._parse.meaning import EntryMeaning, first, understood_by
from usp.objects.page import PageLink, Record, SitemapImage, SitemapVideo

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
_MEDIA: Final = {
    "attachments": "media:content",
    "attachments@url": "media:content@url",
    "attachments@mime_type": "media:content@type",
    "attachments@duration_in_seconds": "media:content@duration",
    "attachments@title": "media:content/title",
}
"""Attachments in the words of Media RSS."""


def entries(items: Iterator[Item], findings: Findings) -> Iterator[Entry]:
    """Yield the record of each item."""
    for item, at in items:
        findings.here = at
        yield "item", list(_record(item, findings)), at


def _record(item: Mapping[str, Any], findings: Findings) -> Iterator[tuple[str, str]]:
    for written, value in item.items():
        key = written.lower()
        if key in TEXTS:
            yield from _texts(key, value, findings)
        elif key in LISTS:
            for part in _listed(key, value, findings):
                yield from _texts(key, part, findings)
        elif key in OBJECTS:
            objects = [value] if isinstance(value, dict) else _listed(key, value, findings)
            for part in objects:
                yield from _object(key, part, findings)


def _texts(key: str, value: object, findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield a text, or a number as text: an ``id`` may be one."""
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield key, str(value)
    elif value is not None:
        findings.report("SM407", f"{key} is no text")


def _listed(key: str, value: object, findings: Findings) -> list[Any]:
    if isinstance(value, list):
        return value
    if value is not None:
        findings.report("SM407", f"{key} is no list")
    return []


def _object(key: str, value: object, findings: Findings) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        findings.report("SM407", f"{key} holds something that is no object")
        return
    yield key, ""
    for name, inside in value.items():
        if name.lower() in OBJECTS[key]:
            yield from _texts(f"{key}@{name.lower()}", inside, findings)


def _as_media(record: Record) -> Record:
    return [(_MEDIA[key], text) for key, text in record if key in _MEDIA]


class JsonFeedMeaning(FeedMeaning):
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
    more_keys = ("attachments", "external_url")

    def check(self, name: str, record: Record, findings: Findings) -> None:
        """Report what is wrong with an item's values and attachments."""
        EntryMeaning.check(self, name, record, findings)
        media.check(_as_media(record), findings)

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

    def _is_html(self, name: str, _attributes: Mapping[str, str]) -> bool:
        return name == "content_html"
