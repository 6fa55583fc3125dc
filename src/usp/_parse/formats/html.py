"""HTML homepages: their links to sitemaps and feeds, in ``<link>`` elements and ``Link`` headers.

HTML is not parsed, only searched: comments and scripts are skipped, and whatever has the form of a
``<link>`` is one.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from usp._parse.values.text import decode_html
from usp._parse.values.urls import is_http_url, resolve_url

MAX_HOMEPAGE_BYTES: Final = 1024 * 1024
"""How much of a homepage is searched; links belong in its head."""
_SKIPPED: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*+>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG: Final = re.compile(
    r"""<(link|base)\b ((?> "[^"<]*" | '[^'<]*' | [^<>] )*+) >""", re.VERBOSE | re.IGNORECASE
)
"""A quote that isn't closed before the next tag is an ordinary character."""
ATTRIBUTE: Final = re.compile(
    r"""(?<![a-z-]) ([a-z-]++) \s*+=\s*+ (?: "([^"]*+)" | '([^']*+)' | ([^\s"'>]++) )""",
    re.VERBOSE | re.IGNORECASE,
)
_PARAMETER: Final = re.compile(
    r"""; \s*+ ([a-z-]++) \s*+=\s*+ (?: "([^"]*+)" | ([^\s;,"]++) )""", re.VERBOSE | re.IGNORECASE
)
_HEADER_LINK: Final = re.compile(r"<([^<>]*+)>((?:[^,\"]|\"[^\"]*+\")*+)")
_FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)
_JSON: Final = "application/json"
"""The type of JSON Feed 1.0; but most links of this type lead to an API."""


class Rel(StrEnum):
    """What a link of a homepage leads to."""

    SITEMAP = "sitemap"
    FEED = "feed"


def links(page: str, header: str | None, base: str) -> Iterator[tuple[str, Rel]]:
    """Yield the sitemaps and feeds that a homepage links to, without duplicates."""
    seen: set[tuple[str, Rel]] = set()
    for url, attributes in (*links_in_header(header or "", base), *_links_in_html(page, base)):
        rel = _rel(attributes, url)
        if rel is not None and is_http_url(url) and (url, rel) not in seen:
            seen.add((url, rel))
            yield url, rel


def links_in_header(header: str, base: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the targets of a ``Link`` header (RFC 8288)."""
    for href, parameters in _HEADER_LINK.findall(header):
        yield resolve_url(href, base, keep_userinfo=True), parse_attributes(_PARAMETER, parameters)


def _links_in_html(page: str, url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the targets of ``<link>`` elements, resolved against the first ``<base>``."""
    base = ""
    for name, inside in _TAG.findall(_SKIPPED.sub("", page)):
        attributes = parse_attributes(ATTRIBUTE, inside)
        if name.lower() == "base":
            base = base or resolve_url(attributes.get("href"), url)
        elif attributes.get("href"):
            target = resolve_url(attributes["href"], base or url, keep_userinfo=True)
            yield target, attributes


def parse_attributes(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, *values in pattern.findall(text):
        attributes.setdefault(name.lower(), decode_html("".join(values)))
    return attributes


def _rel(attributes: dict[str, str], url: str) -> Rel | None:
    words = attributes.get("rel", "").lower().split()
    if "sitemap" in words:
        return Rel.SITEMAP
    mime_type = attributes.get("type", "").partition(";")[0].strip().lower()
    is_json_file = mime_type == _JSON and url.partition("?")[0].lower().endswith(".json")
    is_feed = is_json_file or mime_type in _FEED_TYPES
    return Rel.FEED if "alternate" in words and is_feed else None
