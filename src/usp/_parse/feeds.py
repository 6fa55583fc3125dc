"""Feeds as sitemaps: RSS and Atom, each item being a page with its title and date.

An item counts if it has a link, and a title or a text (the seeds say so). Which elements hold
these is all that the two formats differ in.
"""

import re
from html import unescape
from typing import ClassVar, Final

from usp._parse import values
from usp._parse.dates import date, is_understood
from usp._parse.findings import Findings
from usp._parse.meaning import EntryMeaning, elements, first
from usp.objects.page import Record, SitemapNewsStory

_MARKUP: Final = re.compile(r"</?[A-Za-z!][^<>]*>")
_ALTERNATE: Final = {"alternate", "http://www.iana.org/assignments/relation/alternate"}
_HTML_TYPES: Final = frozenset({"html", "text/html", "xhtml", "application/xhtml+xml"})


class FeedMeaning(EntryMeaning):
    """Turns the record of an RSS ``<item>`` into the values of its page."""

    titles: ClassVar[tuple[str, ...]] = ("title", "description")
    """Where a title is to be had, best place first."""
    dates: ClassVar[tuple[str, ...]] = ("pubdate", "dc:date")
    values_of = dict.fromkeys(dates, ("SM401", is_understood))
    single_keys = frozenset({"title", "pubdate"})

    def urls(self, record: Record, findings: Findings) -> list[str]:
        """Return the page's URL, if the item counts."""
        link = self.link(record)
        if link and self._title(record):
            return [link]
        findings.report("SM503", "an item without a link, or without title and text, was left out")
        return []

    def check(self, name: str, record: Record, findings: Findings) -> None:
        """Report what is wrong with an item's values and with its link."""
        super().check(name, record, findings)
        text, base = _page_link(record, self.base)
        if values.clean(text) and base == self.base:  # an xml:base is there for relative ones
            values.check_url(text, base, findings)

    def link(self, record: Record) -> str:
        """Return ``<link>``, or a ``<guid>`` that is a permalink."""
        found = values.url(*_page_link(record, self.base))
        if found:
            return found
        for attributes, text in elements(record, "guid"):
            guid = values.url(text, None)
            permalink = attributes.get("ispermalink", "").strip().lower() != "false"
            if permalink and values.is_http_url(guid):
                return guid
        return ""

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the item's title and date: 1.8.1 gives them as a story."""
        title = self._title(record)
        if title is None:
            return None
        texts = (text for name in self.dates for key, text in record if key == name)
        return SitemapNewsStory(title, next(filter(None, map(date, texts)), None))

    def _title(self, record: Record) -> str | None:
        for name in self.titles:
            for attributes, text in elements(record, name):
                title = values.clean(text)
                marks = {attributes.get("type", "").lower(), attributes.get("mode", "").lower()}
                title = _plain(title) if marks & _HTML_TYPES else title
                if title:
                    return title
        return None


class AtomMeaning(FeedMeaning):
    """Turns the record of an Atom ``<entry>`` into the values of its page."""

    titles = ("title", "summary", "tagline", "content")
    dates = ("published", "issued", "updated", "modified", "created")  # 1.0's names, then 0.3's
    values_of = dict.fromkeys(dates, ("SM401", is_understood))
    single_keys = frozenset({"title", "published", "updated"})

    def link(self, record: Record) -> str:
        """Return the first link that is an alternate."""
        return values.url(*_page_link(record, self.base))


def _page_link(record: Record, base: str | None) -> tuple[str, str | None]:
    """Return the first link to the page, as written, and what it is relative to.

    No ``rel`` means alternate (RFC 4287 4.2.7.2).
    """
    outer = _resolve(base, first(record, "xml:base"))
    for attributes, text in elements(record, "link"):
        here = _resolve(outer, attributes.get("xml:base", ""))
        target = attributes.get("href") or text
        rel = values.clean(attributes.get("rel", "")).lower()
        if values.clean(target) and (not rel or _ALTERNATE & set(rel.split())):
            return target, here
    return "", base


def _resolve(base: str | None, inner: str) -> str | None:
    return values.url(inner, base) if inner else base


def _plain(html: str) -> str:
    """Return the words of a title that is HTML."""
    return " ".join(unescape(_MARKUP.sub("", html)).split())
