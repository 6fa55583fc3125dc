"""Feeds as sitemaps: RSS and Atom, each item being a page with its title and date.

An item counts if it has a link, and a title or a text (the seeds say so). Which elements hold
these is all that the two formats differ in.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import ClassVar, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import media_rss as media
from usp._parse.formats.field_reader import LINK_TEXTS, FieldReader, Understood, elements, first
from usp._parse.values import text as values
from usp._parse.values.dates import date, is_understood
from usp._parse.xml.grammar import UNKNOWN
from usp.objects.page import PageLink, Record, SitemapImage, SitemapNewsStory, SitemapVideo

_ALTERNATE: Final = {"alternate", "http://www.iana.org/assignments/relation/alternate"}
_ABOUT: Final = "item@rdf:about"
_HTML_TYPES: Final = frozenset({"html", "text/html", "xhtml", "application/xhtml+xml"})


def _values_of(dates: tuple[str, ...]) -> dict[str, tuple[str, Understood]]:
    return {**dict.fromkeys(dates, ("SM401", is_understood)), **media.VALUES_OF}


class RssFieldReader(FieldReader):
    """Turns the record of an RSS ``<item>`` into the values of its page."""

    titles: ClassVar[tuple[str, ...]] = ("title", "description")
    """Where a title is to be had, best place first."""
    dates: ClassVar[tuple[str, ...]] = ("pubdate", "dc:date")
    """Where a date is to be had, best place first."""
    published: ClassVar[tuple[str, ...]] = dates
    """Those of them that say when it came out, and not when it was touched."""
    link_keys: ClassVar[tuple[str, ...]] = ("link", "atom:link")
    values_of = _values_of(dates)
    url_keys = media.URL_KEYS
    single_keys = frozenset({"title", "pubdate"})
    more_keys: ClassVar[tuple[str, ...]] = ("media:", "enclosure", "link@", "atom:", UNKNOWN)

    def urls(self, record: Record, diagnostics: Diagnostics) -> list[str]:
        """Return the page's URL, if the item counts."""
        link = self.link(record)
        if link and self._title(record):
            return [link]
        diagnostics.report(
            "SM503", "an item without a link, or without title and text, was left out"
        )
        return []

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:
        """Report what is wrong with an item's values and with its link."""
        super().check(name, record, diagnostics)
        text, base = _page_link(record, self.base)
        if values.clean(text) and base == self.base:  # an xml:base is there for relative ones
            values.check_url(text, base, diagnostics)
        if media.has_media(record):
            media.check(record, diagnostics)

    def link(self, record: Record) -> str:
        """Return ``<link>``, or a ``<guid>`` that is a permalink, or what RDF says it is about."""
        found = values.url(*_page_link(record, self.base))
        if found:
            return found
        for attributes, text in elements(record, "guid"):
            guid = values.url(text, None)
            permalink = attributes.get("ispermalink", "").strip().lower() != "false"
            if permalink and values.is_http_url(guid):
                return guid
        about = values.url(first(record, _ABOUT), None)
        return about if values.is_http_url(about) else ""

    def says_more(self, record: Record) -> bool:
        """Tell whether there may be media, or a link that isn't the page."""
        return super().says_more(record) or sum(key == "link" for key, _ in record) > 1

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the item's title and date: 1.8.1 gives them as a story."""
        title = self._title(record)
        if title is None:
            return None
        return SitemapNewsStory(title, first_date(record, self.dates))

    def title(self, record: Record) -> str | None:
        """Return the item's title, and nothing in its place."""
        return self._first_text(record, self.titles[:1])

    def published_at(self, record: Record) -> datetime | None:
        """Return when the item came out."""
        return first_date(record, self.published)

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return the images of Media RSS and of enclosures."""
        return media.images(record, self._url) if media.has_media(record) else None

    def videos(self, record: Record) -> list[SitemapVideo] | None:
        """Return the videos of Media RSS and of enclosures."""
        return media.videos(record, self._url) if media.has_media(record) else None

    def links(self, record: Record) -> list[PageLink] | None:
        """Return the item's links but for the one that is its page."""
        found = [link for key in self.link_keys for link in _links(record, key, self.base)]
        page = next((link for link in found if _is_page(link)), None)
        return [link for link in found if link is not page] or None

    def _title(self, record: Record) -> str | None:
        """Return the words of a title or text; where there are only pictures, the text itself."""
        texts = (text for name in self.titles for _, text in elements(record, name))
        found = self._first_text(record, self.titles)
        return found or next(filter(None, map(values.clean, texts)), None)

    def _first_text(self, record: Record, names: tuple[str, ...]) -> str | None:
        for name in names:
            for attributes, text in elements(record, name):
                title = values.clean(text)
                title = values.plain_words(title) if self._is_html(name, attributes) else title
                if title:
                    return title
        return None

    def _is_html(self, _name: str, attributes: Mapping[str, str]) -> bool:
        marks = {attributes.get("type", "").lower(), attributes.get("mode", "").lower()}
        return bool(marks & _HTML_TYPES)


class AtomFieldReader(RssFieldReader):
    """Turns the record of an Atom ``<entry>`` into the values of its page."""

    titles = ("title", "summary", "tagline", "content")
    dates = ("published", "issued", "updated", "modified", "created")  # 1.0's names, then 0.3's
    published = ("published", "issued", "created")
    link_keys = ("link",)
    values_of = _values_of(dates)
    single_keys = frozenset({"title", "published", "updated"})

    def link(self, record: Record) -> str:
        """Return the first link that is an alternate."""
        return values.url(*_page_link(record, self.base))


def first_date(record: Record, names: tuple[str, ...]) -> datetime | None:
    """Return the first date under these keys, best place first."""
    texts = (text for name in names for key, text in record if key == name)
    return next(filter(None, map(date, texts)), None)


def _links(record: Record, key: str, base: str | None) -> Iterator[PageLink]:
    outer = _resolve(base, first(record, "xml:base"))
    for said, text in elements(record, key):
        href = values.url(said.get("href") or text, _resolve(outer, said.get("xml:base", "")))
        rel = values.clean(said.get("rel", "")) or "alternate"  # RFC 4287 4.2.7.2
        more = {name: values.text_or_none(said.get(name, "")) for name in LINK_TEXTS}
        if href:
            yield PageLink(rel, href, **more)


def _is_page(link: PageLink) -> bool:
    return bool(_ALTERNATE & set(link.rel.lower().split()))


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
