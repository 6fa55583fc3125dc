"""JSON Feed 1.0 and 1.1: the records of items, and the values of their pages.

Keys of a record are the feed's own (``url``, ``date_published``); those of the objects in an item
are ``attachments@url``. A value of the wrong type is skipped. Unknown keys are skipped too, or
recorded as JSON where extensions are requested.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import media_rss as media
from usp._parse.formats.feeds import RssFieldReader, first_date
from usp._parse.formats.field_reader import FieldReader, blocks, first, is_parsed_by
from usp._parse.formats.json_items import JsonItemReader
from usp._parse.input.other_documents import report_other_document
from usp._parse.values.dates import is_valid_date
from usp._parse.values.html_page import has_html_page, has_written_html_page
from usp._parse.values.numbers import parse_duration
from usp._parse.values.script_messages import remove_messages
from usp._parse.values.text import remove_control_characters
from usp._parse.values.urls import check_url, is_http_url, resolve_url
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
_PAGE_KEYS: Final = frozenset({"url", "external_url"})
_MAX_KEY: Final = 16
_PLAIN_KEY: Final = re.compile(r"[\w.:@$/#-]*+")
"""A key as generators write them, also those of extensions."""
_ATTACHMENTS: Final = "attachments"
_MEDIA: Final = {
    f"{_ATTACHMENTS}@url": "media:group/content@url",
    f"{_ATTACHMENTS}@mime_type": "media:group/content@type",
    f"{_ATTACHMENTS}@duration_in_seconds": "media:group/content@duration",
    f"{_ATTACHMENTS}@title": "media:group/content/title",
}
"""The keys of attachments, and those of Media RSS for the same."""
_UNKNOWN: Final = (UNKNOWN, UNKNOWN_TEXT)
"""The keys of an unknown value: its name, then its JSON."""

Pairs = Iterator[tuple[str, str]]


def entries(
    reader: JsonItemReader,
    chunks: Iterable[bytes],
    diagnostics: Diagnostics,
    *,
    extensions: bool = False,
) -> Iterator[Entry]:
    """Yield the record of each item, with its unknown keys if ``extensions`` are requested."""
    builder = _RecordBuilder(diagnostics, extensions)
    for item, offset in reader.read(chunks):
        diagnostics.here = offset
        record = list(builder.record(item))
        if not any(key in _PAGE_KEYS for key, _ in record) and _lost_url(item):
            diagnostics.report("SM209", "the key of an item's URL is damaged")
        yield "item", record, offset
    if reader.rest:
        position = reader.rest_position
        if reader.rest.startswith((b"]", b"}")):
            message = "there are brackets too many at the end: items may be missing"
            diagnostics.report("SM231", message, position=position)
        diagnostics.report("SM206", "there is junk after the feed", position=position)
        report_other_document(reader.rest, diagnostics, position=position)


@dataclass(frozen=True, slots=True)
class _RecordBuilder:
    """Builds the records of items."""

    diagnostics: Diagnostics
    extensions: bool

    def record(self, item: Mapping[str, Any]) -> Pairs:
        """Yield the keys and texts of an item."""
        for name, value in item.items():
            key = self._key(name)
            if key in TEXTS:
                yield from self._text(key, value)
            elif key in LISTS:
                for part in self._list(key, value):
                    yield from self._text(key, part)
            elif key in OBJECTS:
                for part in [value] if isinstance(value, dict) else self._list(key, value):
                    yield from self._object(key, part)
            else:
                yield from self._unknown(name, value)

    def _key(self, name: str) -> str:
        """Return a key in lower case, without a script's message in it."""
        if len(name) <= _MAX_KEY:  # nearly all
            return name.lower()
        key = remove_messages(name).strip()
        if key != name.strip():
            self.diagnostics.report("SM311", f"a script's message was removed from key {key!r}")
        elif has_html_page(name):
            self.diagnostics.report("SM209", "an HTML page or a message interrupts a key")
        return key.lower()

    def _text(self, key: str, value: object) -> Pairs:
        """Yield a text, or a number as text: an ``id`` may be one."""
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield key, str(value)
        elif value is not None:
            self.diagnostics.report("SM407", f"{key} is not a text")

    def _list(self, key: str, value: object) -> list[Any]:
        if isinstance(value, list):
            return value
        if value is not None:
            self.diagnostics.report("SM407", f"{key} is not a list")
        return []

    def _object(self, key: str, value: object) -> Pairs:
        if not isinstance(value, dict):
            self.diagnostics.report("SM407", f"{key} contains a value that is not an object")
            return
        yield key, ""
        for name, inner in value.items():
            if (inner_key := self._key(name)) in OBJECTS[key]:
                yield from self._text(f"{key}@{inner_key}", inner)
            else:
                yield from self._unknown(name, inner)

    def _unknown(self, name: str, value: object) -> Pairs:
        if self.extensions:
            yield UNKNOWN, name
            yield UNKNOWN_TEXT, json.dumps(value, ensure_ascii=False)


def _lost_url(item: Mapping[str, Any]) -> bool:
    """Tell whether an item without a URL has one under a key that is damaged.

    It is nearly the right one, or has characters that no key has: what a script printed is in it.
    """
    return any(
        isinstance(value, str)
        and is_http_url(value)
        and name.lower() not in TEXTS
        and (_is_misspelled(name) or not _PLAIN_KEY.fullmatch(name))
        for name, value in item.items()
    )


def _is_misspelled(name: str) -> bool:
    if len(name) > _MAX_KEY:
        return False
    return bool(get_close_matches(name.lower(), _PAGE_KEYS, n=1, cutoff=0.66))


def _as_media(record: Record) -> Record:
    """Return the attachments as Media RSS: those with the same title are renditions, in a group."""
    groups: dict[object, list[tuple[str, str]]] = {}
    for index, file in enumerate(blocks(record, _ATTACHMENTS, f"{_ATTACHMENTS}@")):
        fields = [(_MEDIA[key], text) for key, text in file if key in _MEDIA]
        title = first(file, f"{_ATTACHMENTS}@title")
        group = groups.setdefault(title or index, [("media:group", "")])
        group += [("media:group/content", ""), *fields]
    return [pair for group in groups.values() for pair in group]


class JsonFeedFieldReader(RssFieldReader):
    """Turns the record of an item into the values of its page."""

    page_keys = _PAGE_KEYS | {"id"}
    titles = ("title", "summary", "content_text", "content_html")
    html_keys = frozenset({"content_html"})
    dates = ("date_published", "date_modified")
    published = ("date_published",)
    lastmod_key = "date_modified"
    validators = {  # noqa: RUF012 -- a class's own table
        **dict.fromkeys(dates, ("SM401", is_valid_date)),
        "attachments@duration_in_seconds": ("SM405", is_parsed_by(parse_duration)),
    }
    url_keys = frozenset({"url", "external_url", "image", "banner_image", "attachments@url"})
    single_keys = frozenset()
    more_keys = (_ATTACHMENTS, "external_url", UNKNOWN)

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:
        """Report invalid values of an item, also of an ``id`` that is its page."""
        FieldReader.check(self, name, record, diagnostics)
        if not any(first(record, key) for key in _PAGE_KEYS) and self.link(record):
            check_url(first(record, "id"), None, diagnostics)
        media.check(_as_media(record), diagnostics)

    def should_give_url(self, record: Record) -> bool:
        """Tell whether an item has a URL, be it empty: without one it is complete (1.1)."""
        return any(key in _PAGE_KEYS for key, _ in record)

    def link(self, record: Record) -> str:
        """Return ``url``, else ``external_url``, else an ``id`` that is a URL."""
        if has_written_html_page(first(record, "url")):
            return ""  # another URL of the item is another page
        url = self._url(first(record, "url")) or self._url(first(record, "external_url"))
        id_url = resolve_url(first(record, "id"), None)
        return url or (id_url if is_http_url(id_url) else "")

    def last_modified(self, record: Record) -> datetime | None:
        """Return ``date_modified``."""
        return first_date(record, (self.lastmod_key,))

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return ``image``, ``banner_image`` and the attachments that are images."""
        locs = (self._url(first(record, key)) for key in ("image", "banner_image"))
        images = {loc: SitemapImage(loc) for loc in locs if loc}
        for image in media.images(_as_media(record), self._url) or ():
            images.setdefault(image.loc, image)
        return list(images.values()) or None

    def videos(self, record: Record) -> list[SitemapVideo] | None:
        """Return the attachments that are videos."""
        return media.videos(_as_media(record), self._url)

    def links(self, record: Record) -> list[PageLink] | None:
        """Return ``external_url``, the subject of the item, unless it is the page itself."""
        target = self._url(first(record, "external_url"))
        return [PageLink("related", target)] if target and target != self.link(record) else None

    def extensions(self, record: Record) -> list[PageElement] | None:
        """Return the values of unknown keys as JSON, if they were recorded."""
        texts = [remove_control_characters(text) for key, text in record if key in _UNKNOWN]
        pairs = zip(texts[::2], texts[1::2], strict=True)
        return [PageElement(name, text=text) for name, text in pairs] or None
