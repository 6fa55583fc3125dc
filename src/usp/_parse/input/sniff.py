"""Format detection: the kind of a document, by its first bytes and its URL.

It follows the flowchart in the documentation of 1.8.1. A document that starts with ``<`` is XML:
its root element decides, and one with an unknown root is no sitemap. Anything else is robots.txt by
its URL, a JSON Feed by its content, or plain text. Whitespace, comments, declarations and junk
before the document (PHP warnings, a browser's note above copied XML) are skipped.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from typing import Final, NamedTuple

from usp._parse.formats.json_items import looks_like_json_feed
from usp._parse.values.text import NULL_BLOCK


class Kind(StrEnum):
    """The kind of a document."""

    URLSET = "urlset"
    INDEX = "sitemapindex"
    RSS = "rss"
    ATOM = "atom"
    JSON_FEED = "jsonfeed"
    ROBOTS = "robots"
    TEXT = "text"
    HOMEPAGE = "homepage"
    """An HTML page that is searched for links to sitemaps; never detected, only requested."""
    INVALID = "invalid"


class SniffResult(NamedTuple):
    """The kind of a document and where it starts."""

    kind: Kind
    start: int = 0
    """The offset of the root element in XML, of the object in JSON."""
    junk: bool = False
    """Whether there is junk before it."""
    rootless: bool = False
    """Whether the entries have no root element around them."""
    starts_mid_entry: bool = False
    """Whether the start of the document is missing, and an entry before it is incomplete."""
    code: str = ""
    reason: str = ""
    """For a document that is no sitemap: the problem code, and why."""

    @property
    def is_usual_xml(self) -> bool:
        """Whether it is XML that begins as it should."""
        return self.kind in _XML_KINDS and not (self.junk or self.rootless or self.starts_mid_entry)


_XML_KINDS: Final = frozenset({Kind.URLSET, Kind.INDEX, Kind.RSS, Kind.ATOM})


NO_ROOT: Final = "It is not a sitemap: it has no root element"
"""The reason if there is no tag at all in what was looked at."""

_ROOTS: Final = {
    b"urlset": Kind.URLSET,
    b"sitemapindex": Kind.INDEX,
    b"rss": Kind.RSS,
    b"rdf": Kind.RSS,  # RSS 0.90 and 1.0
    b"feed": Kind.ATOM,
}
_ENTRIES: Final = {
    # Entries without a root element: the start of the document is missing.
    b"url": Kind.URLSET,
    b"sitemap": Kind.INDEX,
    b"channel": Kind.RSS,
    b"item": Kind.RSS,
    b"entry": Kind.ATOM,
}

_SCRIPT: Final = b"script"
_HTML: Final = frozenset({b"html", b"head", b"body", _SCRIPT})
_MESSAGE_TAGS: Final = frozenset({b"br", b"b", b"p", b"pre", b"font", b"div", b"span", b"i"})

_ENTRY_FIELDS: Final = frozenset(
    {b"loc", b"lastmod", b"changefreq", b"priority", b"title", b"link"}
)
"""Elements of an entry: where one comes first, the document starts inside an entry."""
_SKIPPED_TAGS: Final = _MESSAGE_TAGS | _ENTRY_FIELDS | {b"xml"}  # <xml version="1.0"?>
_MAX_SKIPPED_TAGS: Final = len(_SKIPPED_TAGS) + 4
"""With the misspelt root elements: to tell one takes long, and no document has many."""
_ROOT_NAMES: Final = ("urlset", "sitemapindex", "sitemaps", "rss", "feed")
_INNER_ROOTS: Final = frozenset({b"urlset", b"sitemapindex"})
"""Root elements that also count inside another XML document, such as a SOAP envelope."""
_FIELD_END: Final = re.compile(
    rb"</(?:[\w.-]++:)?(?:loc|url|sitemap|lastmod|link|item|entry)\s*>", re.IGNORECASE
)
_CUT_END: Final = re.compile(rb"(/?+)(?:[\w.-]*+:)?+([A-Za-z]*+)\s*+>")
"""What may be left of an end tag where a document begins: its slash, the end of its name."""
_BARE_URL: Final = re.compile(rb"\s*+>\s*+[^\s<][^<]*+<\s{0,9}+/")
"""A text after the name of a tag, and an end tag: ``<url>https://…</url>``."""
_FEED_END: Final = re.compile(rb"</(?:image|item|channel|rss)\s*>", re.IGNORECASE)
"""What shows that a ``<url>`` is that of a logo."""
_PROLOG: Final = re.compile(
    # Everything that is allowed before the root element (XML 1.0, 2.8).
    rb"(?:<\?xml\s+version%(value)s(?:\s+encoding%(value)s)?(?:\s+standalone%(value)s)?\s*\?>)?"
    rb"(?:\s|<!--(?:[^-]|-[^-])*+-->|<\?(?![xX][mM][lL][\s?])[A-Za-z_\x80-\xff]"
    rb"[\w.:\x80-\xff-]*+(?:\s.{0,200}?)?\?>"
    rb"""|<!DOCTYPE(?:[^<>\["']|"[^"]*"|'[^']*')*+(?:\[[^\]]*+\]\s*+)?>)*+"""
    % {b"value": rb"""\s*=\s*(?:"[^"<>?]+"|'[^'<>?]+')"""},
    re.DOTALL,
)
_WHOLE_DECLARATION: Final = re.compile(
    rb"""<\?xml(?:-|(?:\s++\w++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>?]++))*+\s*+\??+>)"""
)
"""An XML declaration, however it is written, or a stylesheet's instruction."""
_PLAIN_HEAD: Final = re.compile(
    # The same in the usual spelling, without a DOCTYPE, and the root element.
    rb"(?:<\?xml version=([\"'])1\.[01]\1(?: encoding=([\"'])[\w.-]{1,40}+\2)?"
    rb"(?: standalone=([\"'])(?:yes|no)\3)? ?\?>)?+"
    rb"(?:[ \t\r\n]++|<!--(?:[^-]|-[^-])*+-->|<\?xml-stylesheet(?: [^?<>]{0,190}+)?\?>)*+"
    rb"<(?:(urlset)|(sitemapindex)|(rss)|(feed)|(rdf:RDF))[ \t\r\n>]"
)
_PLAIN_ROOTS: Final = {4: Kind.URLSET, 5: Kind.INDEX, 6: Kind.RSS, 7: Kind.ATOM, 8: Kind.RSS}
"""By the group of the root element's name."""
_PLAIN_TEXT: Final = re.compile(rb"[ \t\r\n]*+(?!b[\"'])[A-Za-z0-9#/*]")
"""The start of text that is neither JSON nor a document in quotes (``unescape``)."""
_ROBOTS_LINE: Final = re.compile(rb"^[^\S\n]*+site-?map\s*+:", re.IGNORECASE | re.MULTILINE)
_PATH_END: Final = re.compile("[?#]")
_BLANKS: Final = re.compile(rb"(?:[ \t\r\n\0\x0b\x0c]++|\xef\xbb\xbf)*+")
"""Whitespace and byte order marks."""
_TAG: Final = re.compile(rb"<\s{0,9}+(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)(?=[^\w.:-])")
_SKIPPED: Final = re.compile(
    # An unclosed one extends to the end: searching inside it would take quadratic time.
    # The end of an instruction must be near, and no other one starts before it.
    rb"<!--.*?(?:-->|\Z)|<\?(?:[^?<]|\?(?!>)|<(?!\?)){0,200}+\?>|<\?[^<>]*+>?"
    rb"|<!\[CDATA\[.*?(?:\]\]>|\Z)",
    re.DOTALL,
)
_DOCTYPE: Final = re.compile(
    rb"<!DOCTYPE\s++([^\s>\[]*+)[^>\[]*+(?:\[.*?\]\s*+>|>)?", re.DOTALL | re.IGNORECASE
)
_FOLDING_MARKER: Final = re.compile("(?:[ \t\r+-]|\u25b6|\u25b8|\u25bc|\u25be)*+".encode())
"""What browsers show before an element that can be folded."""
_URL_LINE: Final = re.compile(
    rb"^(?:<|[^\S\n])*+https?://\S++[^\S\n]*+$", re.IGNORECASE | re.MULTILINE
)
_ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)
_SCRIPT_END: Final = re.compile(rb"</script\s*+>", re.IGNORECASE)
_IN_TAG: Final = re.compile(rb"[^<>]*+")


def sniff_plain_head(head: bytes) -> SniffResult | None:
    """Return the kind of a document whose head has nothing odd, as nearly all have; else None."""
    match = _PLAIN_HEAD.match(head)
    if match is None:
        return None
    name = match.lastindex or 0
    return SniffResult(_PLAIN_ROOTS[name], match.start(name) - len(b"<"))


def sniff_plain_text(document: bytes, *urls: str) -> SniffResult | None:
    """Return the kind of a whole document that can be nothing but lines of text; else None."""
    if b"<" in document or b"\0" in document or not _PLAIN_TEXT.match(document):
        return None
    return SniffResult(Kind.ROBOTS if _is_robots(urls) else Kind.TEXT)


def sniff(head: bytes, *urls: str) -> SniffResult:
    """Return the kind of a document, given its first bytes and the URLs that it is known by."""
    return sniff_plain_head(head) or _sniff_any(head, urls)


def is_sitemap(part: bytes) -> bool:
    """Tell whether what stands before or after a document is one, too: XML, JSON, lines of URLs."""
    kind = sniff(part).kind
    if kind is Kind.TEXT:
        return _is_text(_blank_out(part))
    return kind in _XML_KINDS or kind is Kind.JSON_FEED


def _sniff_any(head: bytes, urls: tuple[str, ...]) -> SniffResult:
    blanks = _BLANKS.match(head)
    start = blanks.end() if blanks else 0
    is_robots = _is_robots(urls)
    if head[start : start + 1] == b"<":
        result = _sniff_xml(head, start)
        if result.code == "SM201" and _is_text(head) and not is_robots:
            return SniffResult(Kind.TEXT)
        if not (is_robots and result.code == "SM201" and _ROBOTS_LINE.search(head)):
            return result
    if is_robots:
        return SniffResult(Kind.ROBOTS)
    if head[start : start + 1] == b"{" and looks_like_json_feed(head[start:]):
        return SniffResult(Kind.JSON_FEED, start)
    result = _sniff_xml(head, start)
    if result.kind is not Kind.INVALID and _is_start_of_xml(head, result):
        return result
    return SniffResult(Kind.TEXT)


def _is_robots(urls: Iterable[str]) -> bool:
    return any(f"/{_PATH_END.split(url, 1)[0]}".lower().endswith("/robots.txt") for url in urls)


def _is_text(head: bytes) -> bool:
    """Tell whether these are lines of URLs, though a script's warning or a ``<`` comes first."""
    tags = {tag[1].lower() for tag in _TAG.finditer(head)}
    return tags <= _MESSAGE_TAGS and bool(_URL_LINE.search(head))


def _is_start_of_xml(head: bytes, result: SniffResult) -> bool:
    """Tell whether a tag is the start of XML, in a document that doesn't start with a tag.

    It starts a line (browsers show a hyphen before what can be folded), or it follows the rest of
    markup whose start is missing.
    """
    before = head[: result.start]
    line = before[before.rfind(b"\n") + 1 :]
    if b"<?xml" in before or b">" in line or (result.rootless and b">" in before):
        return True
    return not result.rootless and bool(_FOLDING_MARKER.fullmatch(line))


def _blank_out(head: bytes) -> bytes:
    """Replace comments and the like by spaces, so that offsets stay the same."""
    return _SKIPPED.sub(lambda match: b" " * len(match[0]), head)


def _sniff_xml(head: bytes, start: int) -> SniffResult:
    text = _blank_out(head)
    strict = head[start : start + 1] == b"<"
    first = _TAG.search(text)
    doctype = _DOCTYPE.search(text)
    if doctype and (not first or doctype.start() < first.start()):
        first = _TAG.search(text, doctype.end())
        if doctype[1].lower() == b"html" and not (first and first[1].lower() in _ROOTS):
            return _invalid("SM202", "It is an HTML page")
        if _ENTITY.search(text, doctype.start(), first.start() if first else len(text)):
            return _invalid("SM203", "The DOCTYPE declares entities, which are never expanded")
    tag = _skip_scripts(text, first)
    result = _sniff_tags(head, text, tag, strict=strict)
    if tag is not first and (result is None or result.rootless):
        return _invalid("SM202", "It is an HTML page")
    if result:
        return result
    if first is None:
        return _invalid("SM201", NO_ROOT)
    root = first[1].decode("ascii", "replace")[:60]
    return _invalid("SM201", f"It is not a sitemap: the root element is <{root}>")


def _skip_scripts(text: bytes, first: re.Match[bytes] | None) -> re.Match[bytes] | None:
    """Return the first tag after the scripts that a document begins with.

    A host or a proxy adds one to whatever it sends.
    """
    tag = first
    while tag and tag[1].lower() == _SCRIPT:
        within = _IN_TAG.match(text, tag.end())
        begin = within.end() if within else tag.end()
        is_empty = text.endswith(b"/", tag.end(), begin)
        end = None if is_empty else _SCRIPT_END.search(text, begin)
        if not is_empty and end is None:
            return None
        tag = _TAG.search(text, end.end() if end else begin)
    return tag


def _sniff_tags(
    head: bytes, text: bytes, first: re.Match[bytes] | None, *, strict: bool
) -> SniffResult | None:
    """Return what the first tag of a root or of an entry shows; None if there is none."""
    tag, loc, bare = first, None, None
    foreign = False
    skipped = set(_SKIPPED_TAGS)
    while tag:
        name = tag[1].lower()
        kind = _ROOTS.get(name) or _ENTRIES.get(name)
        if name == b"url" and _BARE_URL.match(text, tag.end()) and not foreign:
            bare = bare or tag
        elif kind and (name in _INNER_ROOTS or not foreign):
            return _found(head, kind, bare if bare and kind is Kind.URLSET else tag)
        if name in _HTML and not (foreign and b":" in tag[0]):  # SOAP has a Body
            return None if foreign else _invalid("SM202", "It is an HTML page")
        if not foreign and name == b"loc":
            loc = loc or tag
        foreign = foreign or (strict and not _is_skipped(name, skipped))
        tag = _TAG.search(text, tag.end())
    if bare and _FEED_END.search(text, bare.end()):
        bare = None
    start = bare or (None if foreign else loc)  # a <loc> without any entry around it
    return _found(head, Kind.URLSET, start) if start else None


def _found(head: bytes, kind: Kind, tag: re.Match[bytes]) -> SniffResult:
    before = head[: tag.start()]
    name = tag[1].lower()
    junk = not _PROLOG.fullmatch(before)
    return SniffResult(
        kind,
        tag.start(),
        junk=junk,
        rootless=name not in _ROOTS,
        starts_mid_entry=junk
        and (
            bool(_FIELD_END.search(before))
            or _is_cut_end(before, name)
            or (name not in _ROOTS and _is_damaged(before))
        ),
    )


def _is_damaged(before: bytes) -> bool:
    """Tell whether a piece is missing in what stands before the first entry, with the root."""
    if NULL_BLOCK in before:
        return True
    begin = before.find(b"<?xml")
    return begin >= 0 and _WHOLE_DECLARATION.match(before, begin) is None


def _is_cut_end(before: bytes, first: bytes) -> bool:
    """Tell whether a document begins inside the end tag of an entry.

    If it begins earlier, the whole tag is there. Without its slash a rest may also be that of a
    root element, unless none follows.

    :param first: the name of the root element, or of the first entry.
    """
    blanks = _BLANKS.match(before)
    cut = _CUT_END.match(before, blanks.end() if blanks else 0)
    if cut is None or not (cut[1] or first not in _ROOTS):
        return False
    name = cut[2].lower()
    return any(entry.endswith(name) for entry in _ENTRIES if entry != b"channel")


def _is_skipped(name: bytes, skipped: set[bytes]) -> bool:
    """Tell whether a tag may stand before the entries; a misspelt root element is added."""
    if name not in skipped and len(skipped) < _MAX_SKIPPED_TAGS and _is_misspelt_root(name):
        skipped.add(name)
    return name in skipped


def _is_misspelt_root(name: bytes) -> bool:
    """Tell whether a name is nearly that of a root element: its entries then decide the kind."""
    return bool(get_close_matches(name.decode("ascii", "replace"), _ROOT_NAMES, n=1, cutoff=0.8))


def _invalid(code: str, reason: str) -> SniffResult:
    return SniffResult(Kind.INVALID, code=code, reason=reason)
