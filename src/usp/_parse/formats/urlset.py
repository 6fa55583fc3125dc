"""XML sitemaps: what the entries of a ``<urlset>`` say about their pages."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from typing import Final, cast

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import video
from usp._parse.formats.field_reader import (
    LINK_TEXTS,
    FieldReader,
    GroupedField,
    blocks,
    elements,
    first,
    first_understood,
    groups,
    texts,
)
from usp._parse.input.sniff import Kind
from usp._parse.pattern.groups import NOTHING, GroupIndexes, Groups, Row
from usp._parse.values import text as values
from usp._parse.values.dates import date, is_understood
from usp._parse.xml.grammar import UNKNOWN
from usp.objects.page import (
    PageLink,
    PageMapObject,
    Record,
    SitemapImage,
    SitemapNewsStory,
    SitemapPageChangeFrequency,
    SitemapVideo,
)

GROUPS: Final = (
    ("news:news", "news:", "news:title", "SM501"),
    ("image:image", "image:", "image:loc", "SM502"),
)
"""What an extension can't do without, and the code of the problem where it is missing."""
_LINK: Final = "xhtml:link"
_APP: Final = re.compile(r"(?:android|ios)-app:", re.IGNORECASE)
"""Links into apps, which no browser follows and which are right here."""
OWN_ENTRY: Final = {Kind.URLSET: "url", Kind.INDEX: "sitemap"}


def _story(rows: list[Row], _base: str | None) -> SitemapNewsStory | None:
    for title, published, name, language, access, *lists in rows:
        if headline := values.text_or_none(title):
            return SitemapNewsStory(
                headline,
                date(published or ""),
                values.word(name),
                values.word(language),
                values.word(access),
                *map(values.comma_list, lists),
            )
    return None


def _plain_story(indexes: GroupIndexes) -> Callable[[list[Groups]], SitemapNewsStory | None]:
    title, published, name, language, access, genres, keywords, tickers = indexes

    def story(rows: list[Groups]) -> SitemapNewsStory | None:
        for row in rows:
            if headline := row[title]:
                return SitemapNewsStory(
                    headline,
                    date(when) if (when := row[published]) else None,
                    row[name] or None,
                    row[language] or None,
                    row[access] or None,
                    values.plain_list(listed) if (listed := row[genres]) else None,
                    values.plain_list(listed) if (listed := row[keywords]) else None,
                    values.plain_list(listed) if (listed := row[tickers]) else None,
                )
        return None

    return story


def _images(rows: list[Row], base: str | None) -> list[SitemapImage] | None:
    clean = values.text_or_none
    return [
        SitemapImage(
            url, clean(caption), clean(place), clean(title), values.url(terms, base) or None
        )
        for loc, caption, place, title, terms in rows
        if (url := values.url(loc, base))
    ] or None


def _plain_images(indexes: GroupIndexes) -> Callable[[list[Groups]], list[SitemapImage] | None]:
    loc, caption, place, title, terms = indexes
    return lambda rows: (
        [
            SitemapImage(
                url,
                row[caption] or None,
                row[place] or None,
                row[title] or None,
                row[terms] or None,
            )
            for row in rows
            if (url := row[loc])
        ]
        or None
    )


def _alternates(rows: list[Row], base: str | None) -> list[tuple[str, str]] | None:
    return [
        (language, target)
        for rel, hreflang, href in rows
        if rel
        and "alternate" in rel.lower()
        and (language := values.word(hreflang))
        and (target := values.url(href, base))
    ] or None


def _plain_alternates(indexes: GroupIndexes) -> Callable[[list[Groups]], list[Groups] | None]:
    # rel is "alternate" in all of them (see the grammar's plain values), and they all have the same
    # attributes: mostly just these two, so that nothing is left to be done.
    if NOTHING in indexes:
        return lambda _: None
    pick, in_order = itemgetter(*indexes), indexes == tuple(range(len(indexes)))

    def alternates(rows: list[Groups]) -> list[Groups] | None:
        as_they_are = in_order and rows and len(rows[0]) == len(indexes)
        return (rows if as_they_are else list(map(pick, rows))) or None

    return alternates


_STORY: Final = GroupedField(
    "news:news",
    "news:",
    (
        *("news:title", "news:publication_date", "news:name", "news:language", "news:access"),
        *("news:genres", "news:keywords", "news:stock_tickers"),
    ),
    _story,
    _plain_story,
)
_IMAGES: Final = GroupedField(
    "image:image",
    "image:",
    ("image:loc", "image:caption", "image:geo_location", "image:title", "image:license"),
    _images,
    _plain_images,
)
_ALTERNATES: Final = GroupedField(
    _LINK,
    _LINK,
    (f"{_LINK}@rel", f"{_LINK}@hreflang", f"{_LINK}@href"),
    _alternates,
    _plain_alternates,
    (f"{_LINK}@hreflang", f"{_LINK}@href"),
)


class UrlsetFieldReader(FieldReader):
    """Turns the record of a ``<url>`` into the values of its page."""

    values_of = {  # noqa: RUF012 -- a class's own table
        "lastmod": ("SM401", is_understood),
        "news:publication_date": ("SM401", is_understood),
        "priority": ("SM402", lambda text: values.priority(text) is not None),
        "changefreq": ("SM403", values.is_change_frequency),
        **video.VALUES_OF,
    }
    single_texts = {  # noqa: RUF012 -- a class's own table
        "priority": ("priority", values.priority_or_default),
        "last_modified": ("lastmod", date),
        "change_frequency": ("changefreq", values.change_frequency),
    }
    grouped = {  # noqa: RUF012 -- a class's own table
        "news_story": _STORY,
        "images": _IMAGES,
        "alternates": _ALTERNATES,
    }
    repeated_keys = frozenset({"priority", "changefreq"})
    url_key = "loc"
    url_keys = frozenset({"loc", "image:loc", "image:license"}) | video.URL_KEYS
    plain_keys = frozenset(
        {"news:title", "news:name", "image:caption", "image:title", "video:title"}
    )
    more_keys = ("xhtml:", "video:", "mobile:", "pagemap:", UNKNOWN)
    single_keys = frozenset({"lastmod", "changefreq", "priority", "news:news"})

    def urls(self, record: Record, diagnostics: Diagnostics) -> list[str]:
        """Return the URL of the page; where sites put two in one entry, both."""
        parts = (part for text in texts(record, "loc") for part in values.several(text))
        found = [url for text in parts if (url := self._url(text))]
        if not found:
            diagnostics.report("SM301", "an entry without a URL was left out")
        elif len(found) > 1:
            diagnostics.report("SM304", f"an entry has {len(found)} URLs")
        return found

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:
        """Report what is wrong with an entry's values, or with the entry being here."""
        super().check(name, record, diagnostics)
        if name != OWN_ENTRY[self._kind]:
            diagnostics.report("SM216", f"a <{name}> doesn't belong here")
        for start, prefix, needed, code in GROUPS:
            for group in groups(record, start, prefix):
                if not values.clean(group.get(needed, "")):
                    diagnostics.report(code, f"a <{start}> without <{needed}> was left out")
        video.check(record, diagnostics)
        for link, _ in elements(record, _LINK):
            href = link.get("href", "")
            if not all(values.clean(link.get(name, "")) for name in ("rel", "href")):
                diagnostics.report("SM504", "a link without rel or href was left out")
            elif not _APP.match(values.clean(href)):
                values.check_url(href, self.base, diagnostics)

    def priority(self, record: Record) -> Decimal:
        """Return ``<priority>``, or the default."""
        return values.priority_or_default(first(record, "priority"))

    def last_modified(self, record: Record) -> datetime | None:
        """Return ``<lastmod>``."""
        return next(filter(None, map(date, texts(record, "lastmod"))), None)

    def change_frequency(self, record: Record) -> SitemapPageChangeFrequency | None:
        """Return ``<changefreq>``."""
        return values.change_frequency(first(record, "changefreq"))

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the first ``<news:news>`` that has a title."""
        return cast("SitemapNewsStory | None", _STORY.read(record, self.base))

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return each ``<image:image>`` that has a URL."""
        return cast("list[SitemapImage] | None", _IMAGES.read(record, self.base))

    def alternates(self, record: Record) -> list[tuple[str, str]] | None:
        """Return the page in other languages: ``<xhtml:link rel="alternate" hreflang href>``."""
        return cast("list[tuple[str, str]] | None", _ALTERNATES.read(record, self.base))

    def links(self, record: Record) -> list[PageLink] | None:
        """Return the links that are no alternates, or say more than a language and a URL."""
        found = [link for said, _ in elements(record, _LINK) if (link := self._link(said))]
        return [link for link in found if not _is_alternate(link)] or None

    def _link(self, said: Mapping[str, str]) -> PageLink | None:
        rel, href = values.clean(said.get("rel", "")), self._url(said.get("href", ""))
        more = {name: values.text_or_none(said.get(name, "")) for name in LINK_TEXTS}
        return PageLink(rel, href, **more) if rel and href else None

    def videos(self, record: Record) -> list[SitemapVideo] | None:
        """Return each ``<video:video>`` that says something."""
        return video.videos(record, self._url)

    def mobile(self, record: Record) -> bool:
        """Tell whether there is a ``<mobile:mobile/>``."""
        return any(key == "mobile:mobile" for key, _ in record)

    def page_map(self, record: Record) -> list[PageMapObject] | None:
        """Return each ``<DataObject>`` of the ``<PageMap>`` that says something."""
        found = map(_data_object, blocks(record, "pagemap:dataobject", "pagemap:"))
        return [data for data in found if data != PageMapObject()] or None

    def title(self, record: Record) -> str | None:
        """Return the title of the news story."""
        return first_understood(record, "news:title", values.text_or_none)

    def published_at(self, record: Record) -> datetime | None:
        """Return the date of the news story."""
        return first_understood(record, "news:publication_date", date)


def _is_alternate(link: PageLink) -> bool:
    """Tell whether ``alternates`` holds all that the link says."""
    plain = link.media is link.type is link.title is None
    return plain and link.hreflang is not None and link.rel.lower() == "alternate"


def _data_object(block: Record) -> PageMapObject:
    named = (
        (values.clean(said.get("name", "")), values.clean(text or said.get("value", "")))
        for said, text in elements(block, "pagemap:attribute")
    )
    return PageMapObject(
        values.text_or_none(first(block, "pagemap:dataobject@type")),
        values.text_or_none(first(block, "pagemap:dataobject@id")),
        tuple((name, value) for name, value in named if name),
    )
