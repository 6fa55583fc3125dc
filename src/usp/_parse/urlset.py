"""XML sitemaps: what the entries of a ``<urlset>`` say about their pages."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from usp._parse import values
from usp._parse.dates import date
from usp._parse.findings import Findings
from usp._parse.sniff import Kind
from usp.objects.page import (
    SITEMAP_PAGE_DEFAULT_PRIORITY,
    Record,
    SitemapImage,
    SitemapNewsStory,
    SitemapPageChangeFrequency,
)

STORY_TEXTS: Final = {
    "news:name": "publication_name",
    "news:language": "publication_language",
    "news:access": "access",
}
STORY_LISTS: Final = {
    "news:genres": "genres",
    "news:keywords": "keywords",
    "news:stock_tickers": "stock_tickers",
}
IMAGE_TEXTS: Final = {
    "image:caption": "caption",
    "image:geo_location": "geo_location",
    "image:title": "title",
}

CHECKS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "lastmod": ("SM401", date),
    "news:publication_date": ("SM401", date),
    "priority": ("SM402", lambda text: values.priority(text) is not None),
    "changefreq": ("SM403", values.is_change_frequency),
}
"""What must be understood, and the code of the problem where it isn't."""

GROUPS: Final = (
    ("news:news", "news:", "news:title", "SM501"),
    ("image:image", "image:", "image:loc", "SM502"),
)
"""What an extension can't do without, and the code of the problem where it is missing."""
URL_KEYS: Final = frozenset({"loc", "image:loc", "image:license", "xhtml:link@href"})


def first(record: Record, key: str) -> str | None:
    """Return what the entry says first under this key."""
    return next((text for known, text in record if known == key), None)


def groups(record: Record, start: str, prefix: str) -> Iterator[dict[str, str]]:
    """Yield each group of an extension, such as one image, as a dictionary of its texts."""
    group: dict[str, str] | None = None
    for key, text in record:
        if key == start:
            if group is not None:
                yield group
            group = {}
        elif key.startswith(prefix):
            group = {} if group is None else group
            group.setdefault(key, text)
    if group is not None:
        yield group


class UrlsetMeaning:
    """Turns the record of a ``<url>`` into the values of its page."""

    def __init__(self, base: str | None, kind: Kind = Kind.URLSET) -> None:
        self._base = base
        self._own_entry = "sitemap" if kind is Kind.INDEX else "url"

    def urls(self, record: Record, findings: Findings) -> list[str]:
        """Return the URL of the page; where sites put two in one entry, both."""
        found = [url for url in (values.url(text, self._base) for text in _locs(record)) if url]
        if not found:
            findings.report("SM301", "an entry without a URL was left out")
        elif len(found) > 1:
            findings.report("SM304", f"an entry has {len(found)} URLs")
        return found

    def check(self, name: str, record: Record, findings: Findings) -> None:
        """Report what is wrong with an entry's values; what it costs is reported where it does."""
        if name != self._own_entry:
            findings.report("SM216", f"a <{name}> doesn't belong here")
        if name == "sitemap":
            self.urls(record, findings)
        for key, text in record:
            if (row := CHECKS.get(key)) and values.clean(text):
                code, understood = row
                if not understood(text):
                    findings.report(code, f"{key} {values.clean(text)[:80]!r} isn't understood")
            if key in URL_KEYS:
                values.check_url(text, self._base, findings)
        for start, prefix, needed, code in GROUPS:
            for group in groups(record, start, prefix):
                if not values.clean(group.get(needed, "")):
                    findings.report(code, f"a <{start}> without <{needed}> was left out")

    def priority(self, record: Record) -> Decimal:
        """Return ``<priority>``, or the default."""
        text = first(record, "priority")
        return SITEMAP_PAGE_DEFAULT_PRIORITY if text is None else values.priority_or_default(text)

    def last_modified(self, record: Record) -> datetime | None:
        """Return ``<lastmod>``."""
        text = first(record, "lastmod")
        return None if text is None else date(text)

    def change_frequency(self, record: Record) -> SitemapPageChangeFrequency | None:
        """Return ``<changefreq>``."""
        text = first(record, "changefreq")
        return None if text is None else values.change_frequency(text)

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the first ``<news:news>`` that has a title."""
        for group in groups(record, "news:news", "news:"):
            title = values.clean(group.get("news:title", ""))
            if title:
                return SitemapNewsStory(
                    title=title,
                    publish_date=date(group.get("news:publication_date", "")),
                    **_texts(group, STORY_TEXTS),
                    **_lists(group, STORY_LISTS),
                )
        return None

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return each ``<image:image>`` that has a URL."""
        found = [
            SitemapImage(
                loc=loc,
                license_=self._url(group.get("image:license", "")) or None,
                **_texts(group, IMAGE_TEXTS),
            )
            for group in groups(record, "image:image", "image:")
            if (loc := self._url(group.get("image:loc", "")))
        ]
        return found or None

    def alternates(self, record: Record) -> list[tuple[str, str]] | None:
        """Return the page in other languages: ``<xhtml:link rel="alternate" hreflang href>``."""
        found: list[tuple[str, str]] = []
        link: dict[str, str] = {}
        for key, text in record:
            if key == "xhtml:link":
                language = values.clean(link.get("xhtml:link@hreflang", ""))
                target = self._url(link.get("xhtml:link@href", ""))
                if "alternate" in link.get("xhtml:link@rel", "").lower() and language and target:
                    found.append((language, target))
                link = {}
            elif key.startswith("xhtml:link@"):
                link[key] = text
        return found or None

    def _url(self, text: str) -> str:
        return values.url(text, self._base)


def _locs(record: Record) -> list[str]:
    return [text for key, text in record if key == "loc"]


def _texts(group: Mapping[str, str], table: Mapping[str, str]) -> dict[str, Any]:
    return {name: values.text_or_none(group.get(key, "")) for key, name in table.items()}


def _lists(group: Mapping[str, str], table: Mapping[str, str]) -> dict[str, Any]:
    return {name: values.comma_list(group.get(key, "")) for key, name in table.items()}
