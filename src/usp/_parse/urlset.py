"""XML sitemaps: what the entries of a ``<urlset>`` say about their pages."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from usp._parse import values
from usp._parse.dates import date, is_understood
from usp._parse.findings import Findings
from usp._parse.meaning import EntryMeaning, elements, first, groups
from usp._parse.sniff import Kind
from usp.objects.page import (
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
GROUPS: Final = (
    ("news:news", "news:", "news:title", "SM501"),
    ("image:image", "image:", "image:loc", "SM502"),
)
"""What an extension can't do without, and the code of the problem where it is missing."""
OWN_ENTRY: Final = {Kind.URLSET: "url", Kind.INDEX: "sitemap"}


class UrlsetMeaning(EntryMeaning):
    """Turns the record of a ``<url>`` into the values of its page."""

    values_of = {  # noqa: RUF012 -- a class's own table
        "lastmod": ("SM401", is_understood),
        "news:publication_date": ("SM401", is_understood),
        "priority": ("SM402", lambda text: values.priority(text) is not None),
        "changefreq": ("SM403", values.is_change_frequency),
    }
    url_keys = frozenset({"loc", "image:loc", "image:license", "xhtml:link@href"})
    plain_keys = frozenset({"news:title", "news:name", "image:caption", "image:title"})
    single_keys = frozenset({"lastmod", "changefreq", "priority", "news:news"})

    def urls(self, record: Record, findings: Findings) -> list[str]:
        """Return the URL of the page; where sites put two in one entry, both."""
        texts = (part for key, text in record if key == "loc" for part in values.several(text))
        found = [url for text in texts if (url := self._url(text))]
        if not found:
            findings.report("SM301", "an entry without a URL was left out")
        elif len(found) > 1:
            findings.report("SM304", f"an entry has {len(found)} URLs")
        return found

    def check(self, name: str, record: Record, findings: Findings) -> None:
        """Report what is wrong with an entry's values, or with the entry being here."""
        super().check(name, record, findings)
        if name != OWN_ENTRY[self._kind]:
            findings.report("SM216", f"a <{name}> doesn't belong here")
        for start, prefix, needed, code in GROUPS:
            for group in groups(record, start, prefix):
                if not values.clean(group.get(needed, "")):
                    findings.report(code, f"a <{start}> without <{needed}> was left out")
        for link, _ in elements(record, "xhtml:link"):
            if not all(values.clean(link.get(name, "")) for name in ("rel", "href")):
                findings.report("SM504", "a link without rel or href was left out")

    def priority(self, record: Record) -> Decimal:
        """Return ``<priority>``, or the default."""
        return values.priority_or_default(first(record, "priority"))

    def last_modified(self, record: Record) -> datetime | None:
        """Return ``<lastmod>``."""
        texts = (text for key, text in record if key == "lastmod")
        return next(filter(None, map(date, texts)), None)

    def change_frequency(self, record: Record) -> SitemapPageChangeFrequency | None:
        """Return ``<changefreq>``."""
        return values.change_frequency(first(record, "changefreq"))

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
        found = []
        for link, _ in elements(record, "xhtml:link"):
            language = values.clean(link.get("hreflang", ""))
            target = self._url(link.get("href", ""))
            if "alternate" in link.get("rel", "").lower() and language and target:
                found.append((language, target))
        return found or None


def _texts(group: Mapping[str, str], table: Mapping[str, str]) -> dict[str, Any]:
    return {name: values.text_or_none(group.get(key, "")) for key, name in table.items()}


def _lists(group: Mapping[str, str], table: Mapping[str, str]) -> dict[str, Any]:
    return {name: values.comma_list(group.get(key, "")) for key, name in table.items()}
