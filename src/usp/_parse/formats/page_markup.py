"""What the HTML of a page says about itself: robots, canonical URL, alternates, dates, its text.

HTML is not parsed into a tree, only split into tags and texts by one regular expression, so that
any page takes linear time and needs no library: a parser of HTML repairs nesting, which none of
these facts depends on. ``html`` searches homepages for links to sitemaps.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from usp._parse.formats.html import ATTRIBUTE, links_in_header, parse_attributes
from usp._parse.values.text import decode_html
from usp._parse.values.urls import is_http_url, resolve_url

_TOKEN: Final = re.compile(
    r"""<!--.*?(?:-->|\Z) | <[!?][^<>]*+>
    | <(?P<raw>script|style|template|noscript|textarea|svg)\b(?P<raw_inside>[^<>]*+)>
      (?P<content>.*?)(?:</(?P=raw)\s*+>|\Z)
    | <(?P<end>/?)(?P<name>[a-z][a-z0-9-]*+)\b
      (?P<inside>(?> "[^"<]*" | '[^'<]*' | [^<>] )*+) >""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""A comment or declaration, an element whose content is not text of the page, or a tag."""
_SPACE: Final = re.compile(r"\s++")
_LD_JSON: Final = "application/ld+json"
_MODIFIED: Final = re.compile(r'"dateModified"\s*+:\s*+"([^"]{4,40})"')
_DATES: Final = frozenset({"article:modified_time", "og:updated_time", "datemodified"})
_MEDIA: Final = frozenset(
    {"img", "picture", "video", "audio", "iframe", "object", "embed", "canvas"}
)
"""Elements that are content without being text."""
_ALTERNATE: Final = "alternate"


@dataclass(frozen=True, slots=True)
class PageMarkup:
    """What the HTML of a page says."""

    robots: tuple[tuple[str, str], ...]
    """The names of ``<meta>`` elements, in lower case, with their contents."""
    canonicals: tuple[str, ...]
    """The canonical URLs that it gives: one, if it is right."""
    alternates: tuple[tuple[str, str], ...]
    """The codes of languages, and URLs."""
    modified: str
    """The date of its last change, as it is written; empty if it gives none."""
    text_digest: str
    """A hash of its text, without markup; empty if it has none."""
    is_hollow: bool
    """Whether its ``<main>``, or else its body, has neither text nor media."""
    title: str = ""
    forwards: bool = False
    """Whether it sends visitors to another page at once (``http-equiv="refresh"``)."""


@dataclass(slots=True)
class _MarkupReading:
    """What was read so far."""

    url: str
    base: str = ""
    in_body: bool = False
    modified: str = ""
    ld_modified: str = ""
    title: str = ""
    forwards: bool = False
    in_main: int = 0
    has_main: bool = False
    has_content: bool = False
    main_has_content: bool = False
    robots: list[tuple[str, str]] = field(default_factory=list)
    canonicals: list[str] = field(default_factory=list)
    alternates: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def add_content(self) -> None:
        self.has_content = True
        self.main_has_content = self.main_has_content or self.in_main > 0

    def meta(self, attributes: dict[str, str]) -> None:
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        name, content = (name or "").strip().lower(), attributes.get("content", "")
        if attributes.get("http-equiv", "").strip().lower() == "refresh":
            self.forwards = self.forwards or "url" in content.lower()
        elif name in _DATES:
            self.modified = self.modified or content.strip()
        elif attributes.get("name"):
            self.robots.append((name, content))

    def link(self, attributes: dict[str, str]) -> None:
        words = attributes.get("rel", "").lower().split()
        target = resolve_url(attributes.get("href"), self.base or self.url)
        if not is_http_url(target):
            return
        # Google ignores a canonical URL in the body: users may have written it.
        if "canonical" in words and not self.in_body:
            self.canonicals.append(target)
        if _ALTERNATE in words and attributes.get("hreflang"):
            self.alternates.append((attributes["hreflang"].strip(), target))

    def tag(self, name: str, inside: str, *, is_end: bool) -> None:
        if name == "main":
            self.in_main = max(self.in_main + (-1 if is_end else 1), 0)
            self.has_main = True
        elif name == "body":
            self.in_body = True
        elif name in _MEDIA:
            self.add_content()
        elif is_end:
            return
        elif name == "meta":
            self.meta(parse_attributes(ATTRIBUTE, inside))
        elif name == "link":
            self.link(parse_attributes(ATTRIBUTE, inside))
        elif name == "base":
            href = parse_attributes(ATTRIBUTE, inside).get("href")
            self.base = self.base or resolve_url(href, self.url)

    def text(self, written: str, *, is_title: bool) -> None:
        found = _SPACE.sub(" ", written).strip()
        if not found:
            return
        if is_title:
            self.title = self.title or decode_html(found)
        else:
            self.texts.append(found)
            self.add_content()


def read_page_markup(html: str, url: str) -> PageMarkup:
    """Return what the HTML of a page says; relative URLs are resolved against its URL."""
    reading = _MarkupReading(url)
    in_title = False
    at = 0
    for match in _TOKEN.finditer(html):
        reading.text(html[at : match.start()], is_title=in_title)
        at = match.end()
        name = (match["name"] or "").lower()
        if name == "title":
            in_title = not match["end"]
        elif name:
            reading.tag(name, match["inside"], is_end=bool(match["end"]))
        elif match["raw"]:
            _read_raw(reading, match)
    reading.text(html[at:].partition("<")[0], is_title=in_title)
    return _markup(reading)


def _read_raw(reading: _MarkupReading, match: re.Match[str]) -> None:
    """Look at an element whose content is not text of the page."""
    name = match["raw"].lower()
    if name == "script" and not reading.ld_modified and _LD_JSON in match["raw_inside"].lower():
        found = _MODIFIED.search(match["content"])
        reading.ld_modified = found[1] if found else ""
    elif name == "svg":
        reading.add_content()


def _markup(reading: _MarkupReading) -> PageMarkup:
    text = " ".join(reading.texts)
    content = reading.main_has_content if reading.has_main else reading.has_content
    return PageMarkup(
        tuple(reading.robots),
        tuple(dict.fromkeys(reading.canonicals)),
        tuple(dict.fromkeys(reading.alternates)),
        reading.modified or reading.ld_modified,
        sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else "",
        not content,
        reading.title,
        reading.forwards,
    )


def links_of_header(values: tuple[str, ...], url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the targets of ``Link`` headers, with their parameters."""
    for value in values:
        yield from links_in_header(value, url)
