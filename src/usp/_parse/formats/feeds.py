"""RSS and Atom feeds: each item is a page with its title and date.

An item counts if it has a link, and a title or a text (documentation of 1.8.1). The two formats
differ only in the elements that contain these.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import ClassVar, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import media_rss as media
from usp._parse.formats.field_reader import LINK_ATTRIBUTES, FieldReader, IsValid, elements, first
from usp._parse.input.sniff import Kind
from usp._parse.values.dates import is_valid_date, parse_aware_date, parse_date
from usp._parse.values.html_page import INTERRUPTED, has_written_html_page
from usp._parse.values.script_messages import remove_messages
from usp._parse.values.text import clean_text, html_to_text, text_or_none
from usp._parse.values.urls import check_url, inner_base, is_http_url, resolve_url
from usp._parse.xml.grammar import UNKNOWN, URL_KEYS
from usp.objects.page import PageLink, Record, SitemapImage, SitemapNewsStory, SitemapVideo

_ALTERNATE: Final = {"alternate", "http://www.iana.org/assignments/relation/alternate"}
_BASE: Final = "xml:base"
_ABOUT: Final = "item@rdf:about"
_HTML_TYPES: Final = frozenset({"html", "text/html", "xhtml", "application/xhtml+xml"})


def _validators(dates: tuple[str, ...]) -> dict[str, tuple[str, IsValid]]:
    return {**dict.fromkeys(dates, ("SM401", is_valid_date)), **media.VALIDATORS}


class RssFieldReader(FieldReader):
    """Turns the record of an RSS ``<item>`` into the values of its page."""

    titles: ClassVar[tuple[str, ...]] = ("title", "description")
    """The keys of a title, preferred ones first."""
    html_keys: ClassVar[frozenset[str]] = frozenset()
    """Those of them whose text is always HTML."""
    dates: ClassVar[tuple[str, ...]] = ("pubdate", "dc:date")
    """The keys of a date, preferred ones first."""
    published: ClassVar[tuple[str, ...]] = dates
    """Those of them that give the date of publication, not of an update."""
    link_keys: ClassVar[tuple[str, ...]] = ("link", "atom:link")
    page_keys: ClassVar[frozenset[str]] = URL_KEYS
    """The keys that may have the URL of the page."""
    validators = _validators(dates)
    url_keys = media.URL_KEYS
    single_keys = frozenset({"title", "pubdate"})
    more_keys: ClassVar[tuple[str, ...]] = ("media:", "enclosure", "link@", "atom:", UNKNOWN)

    def __init__(self, base: str | None, kind: Kind) -> None:
        super().__init__(base, kind)
        self._titled: tuple[Record, str | None] = (), None  # the last record, and its title

    def urls(self, record: Record, diagnostics: Diagnostics) -> list[str]:
        """Return the item's URL, if it has a title or text as well."""
        link = self.link(record)
        if link and self._title(record):
            return [link]
        if any(has_written_html_page(text) for key, text in record if key in self.page_keys):
            diagnostics.report(*INTERRUPTED)
        else:
            message = "an item without a link, or without title and text, was skipped"
            diagnostics.report("SM503", message)
        return []

    def should_give_url(self, record: Record) -> bool:
        """Tell whether an item has a link, be it empty: without one it is complete (RSS, Atom)."""
        return any(_is_alternate(_rel(attributes)) for attributes, _ in elements(record, "link"))

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:
        """Report invalid values of an item, its link and its media."""
        super().check(name, record, diagnostics)
        if any(key == "link@rel" and remove_messages(rel) != rel for key, rel in record):
            diagnostics.report("SM311", "a script's message was removed from the rel of a link")
        text, base = _page_link(record, self.base)
        if clean_text(text):
            check_url(text, base, diagnostics, is_own_base=base not in {None, self.base})
        elif guid := _permalink(record):
            check_url(guid, None, diagnostics)
        if media.has_media(record):
            media.check(record, diagnostics)

    def link(self, record: Record) -> str:
        """Return ``<link>``, or a ``<guid>`` that is a permalink, or RDF's ``rdf:about``."""
        link = resolve_url(*_page_link(record, self.base))
        if link:
            return link
        if guid := _permalink(record):
            return resolve_url(guid, None)
        about = resolve_url(first(record, _ABOUT), None)
        return about if is_http_url(about) else ""

    def has_later_fields(self, record: Record) -> bool:
        """Tell whether there may be media, or a link that isn't the page."""
        return super().has_later_fields(record) or sum(key == "link" for key, _ in record) > 1

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the item's title and date as a story, as 1.8.1 does, also without a date."""
        title = self._title(record)
        if title is None:
            return None
        return SitemapNewsStory(title, first_date(record, self.dates))

    def title(self, record: Record) -> str | None:
        """Return the item's title; a description is none."""
        return self._first_text(record, self.titles[:1])

    def published_at(self, record: Record) -> datetime | None:
        """Return the item's date of publication, in UTC where it names no time zone."""
        return first_date(record, self.published, parse_aware_date)

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return the images of Media RSS and of enclosures."""
        return media.images(record, self._url) if media.has_media(record) else None

    def videos(self, record: Record) -> list[SitemapVideo] | None:
        """Return the videos of Media RSS and of enclosures."""
        return media.videos(record, self._url) if media.has_media(record) else None

    def links(self, record: Record) -> list[PageLink] | None:
        """Return the item's links, except the one to its page."""
        links = [link for key in self.link_keys for link in _links(record, key, self.base)]
        page = next((link for link in links if _is_page(link)), None)
        return [link for link in links if link is not page] or None

    def _title(self, record: Record) -> str | None:
        """Return the title or text without markup; if nothing remains, with its markup.

        It decides whether there is a page, and is mostly read right after that.
        """
        known, title = self._titled
        if known is not record:
            title = self._find_title(record)
            self._titled = record, title
        return title

    def _find_title(self, record: Record) -> str | None:
        title = self._first_text(record, self.titles)
        if title is None:
            texts = (text for name in self.titles for known, text in record if known == name)
            title = next(filter(None, map(clean_text, texts)), None)
        return title

    def _first_text(self, record: Record, names: tuple[str, ...]) -> str | None:
        for name in names:
            prefix, is_html = f"{name}@", name in self.html_keys
            for key, text in record:
                if key == name:
                    title = clean_text(text)
                    if title := html_to_text(title) if is_html else title:
                        return title
                    is_html = name in self.html_keys
                elif key.startswith(prefix):  # the type or the mode of the next one
                    is_html = is_html or text.lower() in _HTML_TYPES
        return None


class AtomFieldReader(RssFieldReader):
    """Turns the record of an Atom ``<entry>`` into the values of its page."""

    titles = ("title", "summary", "tagline", "content")
    dates = ("published", "issued", "updated", "modified", "created")  # 1.0's names, then 0.3's
    published = ("published", "issued", "created")
    link_keys = ("link",)
    validators = _validators(dates)
    single_keys = frozenset({"title", "published", "updated"})

    def link(self, record: Record) -> str:
        """Return the first link that is an alternate."""
        return resolve_url(*_page_link(record, self.base))


def first_date(
    record: Record,
    keys: tuple[str, ...],
    parse: Callable[[str], datetime | None] = parse_date,
) -> datetime | None:
    """Return the first valid date under these keys, in their order."""
    for wanted in keys:
        for key, text in record:
            if key == wanted and (date := parse(text)):
                return date
    return None


def _links(record: Record, key: str, base: str | None) -> Iterator[PageLink]:
    outer = inner_base(first(record, _BASE), base)
    for attributes, text in elements(record, key):
        inner = inner_base(attributes.get(_BASE, ""), outer)
        href = resolve_url(attributes.get("href") or text, inner)
        rel = _rel(attributes) or "alternate"  # RFC 4287 4.2.7.2
        more = {name: text_or_none(attributes.get(name, "")) for name in LINK_ATTRIBUTES}
        if href:
            yield PageLink(rel, href, **more)


def _permalink(record: Record) -> str:
    """Return the first ``<guid>`` that is a URL and a permalink, as written."""
    for attributes, text in elements(record, "guid"):
        is_permalink = attributes.get("ispermalink", "").strip().lower() != "false"
        if is_permalink and is_http_url(resolve_url(text, None)):
            return text
    return ""


def _rel(attributes: Mapping[str, str]) -> str:
    """Return the relation of a link, without a script's message in it."""
    rel = attributes.get("rel")
    return remove_messages(clean_text(rel)) if rel else ""


def _is_page(link: PageLink) -> bool:
    return _is_alternate(link.rel)


def _is_alternate(rel: str) -> bool:
    """Tell whether a link with this ``rel`` is the page: without one, it is (RFC 4287 4.2.7.2)."""
    return not rel or not _ALTERNATE.isdisjoint(rel.lower().split())


def _page_link(record: Record, base: str | None) -> tuple[str, str | None]:
    """Return the first link to the page, as written, and its base URL."""
    outer = base
    attributes: dict[str, str] = {}
    for key, text in record:
        if key == "link":
            inner = inner_base(attributes.get(_BASE, ""), outer) if attributes else outer
            target = attributes.get("href") or text
            rel = _rel(attributes)
            if clean_text(target) and (not rel or _is_alternate(rel)):  # most have none
                return target, inner
            attributes = {}
        elif key.startswith("link@"):
            attributes[key[5:]] = text
        elif key == _BASE:
            outer = inner_base(text, base)
    return "", base
