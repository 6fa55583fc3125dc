"""Feeds as sitemaps: RSS and Atom, each item being a page with its title and date.

An item counts if it has a link, and a title or a text (the seeds say so). Which elements hold
these is the only difference between the two formats, and it is a table.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from html import unescape
from typing import Final

from usp._parse import values
from usp._parse.dates import date
from usp._parse.findings import Findings
from usp._parse.sniff import Kind
from usp._parse.urlset import first
from usp.objects.page import (
    SITEMAP_PAGE_DEFAULT_PRIORITY,
    Record,
    SitemapImage,
    SitemapNewsStory,
    SitemapPageChangeFrequency,
)

_MARKUP: Final = re.compile(r"<[^<>]*>")
_HTML_TYPES: Final = frozenset({"html", "text/html", "xhtml", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class FeedFields:
    """Where a format keeps what we want, best place first."""

    titles: Sequence[str]
    dates: Sequence[str]


RSS_FIELDS: Final = FeedFields(titles=("title", "description"), dates=("pubdate", "dc:date"))
ATOM_FIELDS: Final = FeedFields(
    titles=("title", "summary", "tagline", "content"),
    # 1.0 first, then the names of 0.3.
    dates=("published", "issued", "updated", "modified", "created"),
)


class FeedMeaning:
    """Turns the record of an item into the values of its page."""

    def __init__(self, base: str | None, _kind: Kind = Kind.RSS) -> None:
        self._base = base

    fields = RSS_FIELDS

    def urls(self, record: Record, findings: Findings) -> list[str]:
        """Return the page's URL, if the item counts."""
        link = self.link(record)
        if link and self._title(record):
            return [link]
        findings.report("SM503", "an item without a link, or without title and text, was left out")
        return []

    def check(self, _name: str, record: Record, findings: Findings) -> None:
        """Report the values that can't be understood."""
        for key, text in record:
            if key in self.fields.dates and values.clean(text) and not date(text):
                message = f"{key} {values.clean(text)[:80]!r} isn't understood"
                findings.report("SM401", message)

    def link(self, record: Record) -> str:
        """Return ``<link>``, or a ``<guid>`` that is a permalink."""
        for key, text in record:
            if key in {"link", "link@href"} and (found := values.url(text, self._base)):
                return found
        permalink = (first(record, "guid@ispermalink") or "").strip().lower()
        guid = values.clean(first(record, "guid") or "")
        return guid if permalink != "false" and values.is_http_url(guid) else ""

    def _title(self, record: Record) -> str | None:
        for name in self.fields.titles:
            for at, (key, text) in enumerate(record):
                if key == name and (title := values.clean(text)):
                    return title if not _is_html(record, at) else _plain(title)
        return None

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the item's title and date: 1.8.1 gives them as a story."""
        title = self._title(record)
        if title is None:
            return None
        texts = (text for name in self.fields.dates for key, text in record if key == name)
        found = (date(text) for text in texts)
        return SitemapNewsStory(title, next((when for when in found if when), None))

    # What feeds don't say.

    def priority(self, _record: Record) -> Decimal:
        """Return the default."""
        return SITEMAP_PAGE_DEFAULT_PRIORITY

    def last_modified(self, _record: Record) -> datetime | None:
        """Return None: an item's date is that of its story."""
        return None

    def change_frequency(self, _record: Record) -> SitemapPageChangeFrequency | None:
        """Return None."""
        return None

    def images(self, _record: Record) -> list[SitemapImage] | None:
        """Return None."""
        return None

    def alternates(self, _record: Record) -> list[tuple[str, str]] | None:
        """Return None."""
        return None


class AtomMeaning(FeedMeaning):
    """An Atom entry: its page is its ``alternate`` link."""

    fields = ATOM_FIELDS

    def link(self, record: Record) -> str:
        """Return the first link that is an alternate (which no ``rel`` means, RFC 4287 4.2.7.2)."""
        base = _resolve(self._base, first(record, "xml:base"))
        link: dict[str, str] = {}
        for key, text in record:
            if key.startswith("link@"):
                link[key] = text
            elif key == "link":
                rel = values.clean(link.get("link@rel", "")) or "alternate"
                here = _resolve(base, link.get("link@xml:base"))
                target = values.url(link.get("link@href") or text, here)
                if rel.lower() == "alternate" and target:
                    return target
                link = {}
        return ""


def _resolve(base: str | None, inner: str | None) -> str | None:
    return base if not inner else values.url(inner, base)


def _is_html(record: Record, at: int) -> bool:
    """Tell whether the text at this place is marked as HTML: its type stands just before it."""
    key = record[at][0]
    marks = (f"{key}@type", f"{key}@mode")
    before = at - 1
    while before >= 0 and record[before][0] in marks:
        if record[before][1].strip().lower() in _HTML_TYPES:
            return True
        before -= 1
    return False


def _plain(html: str) -> str:
    """Return the words of a title that is HTML."""
    return " ".join(unescape(_MARKUP.sub("", html)).split())
