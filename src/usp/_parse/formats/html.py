"""What a homepage says of sitemaps and feeds: its ``<link>`` elements, and the ``Link`` header.

HTML in the wild is not parsed here, only searched: comments and scripts are passed over, and what
looks like a ``<link>`` is one. A homepage that says nothing costs nothing but the search.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from html import unescape
from typing import Final

from usp._parse.values.text import is_http_url, url

MOST_READ: Final = 1024 * 1024
"""So much of a homepage is searched; links belong into its head."""
_PASSED_OVER: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG: Final = re.compile(
    r"""<(link|base)\b ((?> "[^"<]*" | '[^'<]*' | [^<>] )*+) >""", re.VERBOSE | re.IGNORECASE
)
"""A quote that isn't closed before the next tag is a character like any other."""
_ATTRIBUTE: Final = re.compile(
    r"""(?<![a-z-]) ([a-z-]+) \s*=\s* (?: "([^"]*)" | '([^']*)' | ([^\s"'>]+) )""",
    re.VERBOSE | re.IGNORECASE,
)
_PARAMETER: Final = re.compile(
    r"""; \s* ([a-z-]+) \s*=\s* (?: "([^"]*)" | ([^\s;,"]+) )""", re.VERBOSE | re.IGNORECASE
)
_HEADER_LINK: Final = re.compile(r"<([^<>]*)>((?:[^,\"]|\"[^\"]*\")*)")
_FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)
_JSON: Final = "application/json"
"""What JSON Feed 1.0 asks for; but most links of that type lead to the answers of some API."""


class Rel(StrEnum):
    """What a homepage calls what it links to."""

    SITEMAP = "sitemap"
    FEED = "feed"


def links(page: str, header: str | None, base: str) -> Iterator[tuple[str, Rel]]:
    """Yield the sitemaps and feeds that a homepage names, each once: URL and what it is."""
    seen: set[tuple[str, Rel]] = set()
    for href, attributes in (*_in_header(header or ""), *_in_html(page)):
        found = url(href, url(attributes.get("base", ""), base) or base)
        rel = _rel(attributes, found)
        if rel is not None and is_http_url(found) and (found, rel) not in seen:
            seen.add((found, rel))
            yield found, rel


def _in_header(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the targets of a ``Link`` header (RFC 8288)."""
    for href, parameters in _HEADER_LINK.findall(header):
        yield href, _attributes(_PARAMETER, parameters)


def _in_html(page: str) -> Iterator[tuple[str, dict[str, str]]]:
    base = ""
    for name, inside in _TAG.findall(_PASSED_OVER.sub("", page)):
        attributes = _attributes(_ATTRIBUTE, inside)
        if name.lower() == "base":
            base = base or attributes.get("href", "")
        elif attributes.get("href"):
            yield attributes["href"], attributes | {"base": base}


def _attributes(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, *values in pattern.findall(text):
        found.setdefault(name.lower(), unescape("".join(values)))
    return found


def _rel(attributes: dict[str, str], found: str) -> Rel | None:
    words = attributes.get("rel", "").lower().split()
    if "sitemap" in words:
        return Rel.SITEMAP
    kind = attributes.get("type", "").partition(";")[0].strip().lower()
    named = kind == _JSON and found.partition("?")[0].lower().endswith(".json")
    return Rel.FEED if "alternate" in words and (named or kind in _FEED_TYPES) else None
