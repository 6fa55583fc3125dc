"""XML sitemaps: the values of pages in a ``<urlset>``, with news, images, alternates and PageMaps.

Videos have their own file, ``video``.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final, cast

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import video
from usp._parse.formats.field_reader import (
    LINK_ATTRIBUTES,
    FieldReader,
    GroupedField,
    Resolve,
    Texts,
    Value,
    blocks,
    elements,
    first,
    first_value,
    groups,
    is_parsed_by,
    texts,
)
from usp._parse.input.sniff import Kind
from usp._parse.values.dates import is_valid_date, parse_aware_date, parse_date
from usp._parse.values.enumerations import is_change_frequency, parse_change_frequency
from usp._parse.values.html_page import INTERRUPTED, has_written_html_page
from usp._parse.values.numbers import parse_priority, priority_or_default
from usp._parse.values.plain import BLANKS, is_plain_url
from usp._parse.values.text import (
    cached_text_or_none,
    clean_text,
    split_commas,
    text_or_none,
)
from usp._parse.values.urls import check_url, split_urls
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

REQUIRED: Final = (
    ("news:news", "news:", "news:title", "SM501"),
    ("image:image", "image:", "image:loc", "SM502"),
)
"""The element that each extension requires, and the problem code if it is missing."""
LINK: Final = "xhtml:link"
_APP: Final = re.compile(r"(?:android|ios)-app:", re.IGNORECASE)
"""Links to apps: not HTTP, but valid in an alternate."""
is_language: Final = re.compile(r"[A-Za-z][A-Za-z-]{0,40}+").fullmatch
"""Tells whether a text is a language that needs no cleaning."""
_RELS: Final = frozenset({"alternate", None})
_MAX_LANGUAGES: Final = 1000
_languages: set[str | None] = set()
"""Such languages that were met before."""
_ENTRY_NAME: Final = {Kind.URLSET: "url", Kind.INDEX: "sitemap"}


def story_by(make: Callable[..., Value]) -> Callable[[list[Texts], Resolve], Value | None]:
    """Return what makes something of the values of the first story."""

    def story(rows: list[Texts], _resolve: Resolve) -> Value | None:
        for title, published, name, language, access, *lists in rows:
            # Like 1.8.1, a story needs a title and a readable date.
            if (headline := text_or_none(title)) and (date := parse_date(published or "")):
                return make(
                    headline,
                    date,
                    cached_text_or_none(name),
                    cached_text_or_none(language),
                    cached_text_or_none(access),
                    *map(split_commas, lists),
                )
        return None

    return story


def images_by(
    make: Callable[..., Value],
) -> Callable[[list[Texts], Resolve], list[Value] | None]:
    """Return what makes something of the values of each image."""
    return lambda rows, resolve: (
        [
            make(
                url,
                text_or_none(caption),
                text_or_none(geo_location),
                text_or_none(title),
                resolve(license_url) or None,
            )
            for loc, caption, geo_location, title, license_url in rows
            if (url := resolve(loc))
        ]
        or None
    )


def _plain_alternates(rels: Texts, languages: Texts, urls: Texts) -> list[tuple[str, str]] | None:
    """Return the alternates if none needs cleaning, as nearly always; else None.

    What has no rel, no language or no URL is none.
    """
    if not _RELS.issuperset(rels) or (None in rels and _lacks_rel(rels, urls)):
        return None
    if not _languages.issuperset(languages):
        if not all(language is None or is_language(language) for language in languages):
            return None
        if len(_languages) < _MAX_LANGUAGES:
            _languages.update(languages)
    if None in urls or None in languages or None in rels:
        links = zip(rels, languages, urls, strict=True)
        return [(language, url) for rel, language, url in links if rel and language and url]
    return list(zip(languages, urls, strict=True))  # type: ignore[arg-type]


def _lacks_rel(rels: Texts, urls: Texts) -> bool:
    """Tell whether a link that is there has no ``rel``: it is no alternate."""
    return any(rel is None and url is not None for rel, url in zip(rels, urls, strict=True))


def _alternates(rows: list[Texts], resolve: Resolve) -> list[tuple[str, str]] | None:
    return [
        (language, target)
        for rel, hreflang, href in rows
        if rel
        and "alternate" in rel.lower()
        and (language := cached_text_or_none(hreflang))
        and (target := resolve(href))
    ] or None


STORY: Final = GroupedField(
    "news:news",
    "news:",
    (
        *("news:title", "news:publication_date", "news:name", "news:language", "news:access"),
        *("news:genres", "news:keywords", "news:stock_tickers"),
    ),
    story_by(SitemapNewsStory),
)
IMAGES: Final = GroupedField(
    "image:image",
    "image:",
    ("image:loc", "image:caption", "image:geo_location", "image:title", "image:license"),
    images_by(SitemapImage),
    frozenset({"image:loc", "image:license"}),
)
ALTERNATES: Final = GroupedField(
    LINK,
    LINK,
    (f"{LINK}@rel", f"{LINK}@hreflang", f"{LINK}@href"),
    _alternates,
    frozenset({f"{LINK}@href"}),
    _plain_alternates,
)


class UrlsetFieldReader(FieldReader):
    """Turns the record of a ``<url>`` into the values of its page."""

    validators = {  # noqa: RUF012 -- a class's own table
        "lastmod": ("SM401", is_valid_date),
        "news:publication_date": ("SM401", is_valid_date),
        "priority": ("SM402", is_parsed_by(parse_priority)),
        "changefreq": ("SM403", is_change_frequency),
        **video.VALIDATORS,
    }
    single_texts = {  # noqa: RUF012 -- a class's own table
        "priority": ("priority", priority_or_default),
        "last_modified": ("lastmod", parse_date),
        "change_frequency": ("changefreq", parse_change_frequency),
    }
    grouped = {  # noqa: RUF012 -- a class's own table
        "news_story": STORY,
        "images": IMAGES,
        "alternates": ALTERNATES,
    }
    repeated_keys = frozenset({"priority", "changefreq"})
    url_key = "loc"
    lastmod_key = "lastmod"
    has_news = True
    url_keys = frozenset({"loc", "image:loc", "image:license"}) | video.URL_KEYS
    plain_text_keys = frozenset(
        {"news:title", "news:name", "image:caption", "image:title", "video:title"}
    )
    more_keys = ("xhtml:", "video:", "mobile:", "pagemap:", UNKNOWN)
    single_keys = frozenset({"lastmod", "changefreq", "priority", "news:news"})

    def urls(self, record: Record, diagnostics: Diagnostics) -> list[str]:
        """Return the URLs of the entry: some sites put several into one."""
        written = texts(record, "loc")
        if len(written) == 1 and is_plain_url(url := written[0].strip(BLANKS)):
            return [url]
        parts = (part for text in written for part in split_urls(text))
        urls = [url for text in parts if (url := self._url(text))]
        if any(map(has_written_html_page, written)):
            diagnostics.report(*INTERRUPTED)
        elif not urls:
            diagnostics.report("SM301", "an entry without a URL was skipped")
        elif len(urls) > 1:
            diagnostics.report("SM304", f"an entry has {len(urls)} URLs")
        return urls

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:
        """Report invalid values, incomplete extensions, and entries of another format."""
        super().check(name, record, diagnostics)
        if name != _ENTRY_NAME[self.kind]:
            diagnostics.report("SM216", f"a <{name}> doesn't belong in this document")
        for start, prefix, required, code in REQUIRED:
            for group in groups(record, start, prefix):
                if not clean_text(group.get(required, "")):
                    diagnostics.report(code, f"a <{start}> without <{required}> was skipped")
        video.check(record, diagnostics)
        for link, _ in elements(record, LINK):
            href = link.get("href", "")
            if not all(clean_text(link.get(name, "")) for name in ("rel", "href")):
                diagnostics.report("SM504", "a link without rel or href was skipped")
            elif not _APP.match(clean_text(href)):
                check_url(href, self.base, diagnostics)

    def priority(self, record: Record) -> Decimal:
        """Return ``<priority>``, or the default."""
        return priority_or_default(first(record, "priority"))

    def last_modified(self, record: Record) -> datetime | None:
        """Return ``<lastmod>``."""
        return first_value(record, "lastmod", parse_date)

    def change_frequency(self, record: Record) -> SitemapPageChangeFrequency | None:
        """Return ``<changefreq>``."""
        return parse_change_frequency(first(record, "changefreq"))

    def news_story(self, record: Record) -> SitemapNewsStory | None:
        """Return the first ``<news:news>`` that has a title and a readable date."""
        return cast("SitemapNewsStory | None", STORY.read(record, self.base))

    def images(self, record: Record) -> list[SitemapImage] | None:
        """Return each ``<image:image>`` that has a URL."""
        return cast("list[SitemapImage] | None", IMAGES.read(record, self.base))

    def alternates(self, record: Record) -> list[tuple[str, str]] | None:
        """Return the URLs in other languages: ``<xhtml:link rel="alternate" hreflang href>``."""
        return cast("list[tuple[str, str]] | None", ALTERNATES.read(record, self.base))

    def links(self, record: Record) -> list[PageLink] | None:
        """Return the links that are no alternates, or have more than a language and a URL."""
        links = (self._link(attributes) for attributes, _ in elements(record, LINK))
        return [link for link in links if link and not _is_alternate(link)] or None

    def _link(self, attributes: Mapping[str, str]) -> PageLink | None:
        rel, href = clean_text(attributes.get("rel", "")), self._url(attributes.get("href", ""))
        more = {name: text_or_none(attributes.get(name, "")) for name in LINK_ATTRIBUTES}
        return PageLink(rel, href, **more) if rel and href else None

    def videos(self, record: Record) -> list[SitemapVideo] | None:
        """Return each ``<video:video>`` that isn't empty."""
        return video.videos(record, self._url)

    def mobile(self, record: Record) -> bool:
        """Tell whether there is a ``<mobile:mobile/>``."""
        return any(key == "mobile:mobile" for key, _ in record)

    def page_map(self, record: Record) -> list[PageMapObject] | None:
        """Return each ``<DataObject>`` of the ``<PageMap>`` that isn't empty."""
        objects = map(_data_object, blocks(record, "pagemap:dataobject", "pagemap:"))
        return [data for data in objects if data != PageMapObject()] or None

    def title(self, record: Record) -> str | None:
        """Return the title of the news story, also of one without a readable date."""
        return first_value(record, "news:title", text_or_none)

    def published_at(self, record: Record) -> datetime | None:
        """Return the date of the news story, in UTC where it names no time zone."""
        return first_value(record, "news:publication_date", parse_aware_date)


def _is_alternate(link: PageLink) -> bool:
    """Tell whether ``alternates`` contains everything about the link."""
    nothing_else = link.media is link.type is link.title is None
    return nothing_else and link.hreflang is not None and link.rel.lower() == "alternate"


def _data_object(block: Record) -> PageMapObject:
    pairs = (
        (clean_text(attributes.get("name", "")), clean_text(text or attributes.get("value", "")))
        for attributes, text in elements(block, "pagemap:attribute")
    )
    return PageMapObject(
        text_or_none(first(block, "pagemap:dataobject@type")),
        text_or_none(first(block, "pagemap:dataobject@id")),
        tuple((name, value) for name, value in pairs if name),
    )
