"""Which kind of document it is, decided on its first bytes as the seeds' flowchart goes.

Starts with ``<``: XML, by its root element, else no sitemap. Anything else: robots.txt by its URL,
a JSON Feed by what it holds, or plain text. Blanks, comments, declarations and what broken servers
print before the document (PHP warnings, a browser's remark above copied XML) are passed over.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from usp._parse.formats.json_items import looks_like_a_feed


class Kind(StrEnum):
    """What a document turned out to be."""

    URLSET = "urlset"
    INDEX = "sitemapindex"
    RSS = "rss"
    ATOM = "atom"
    JSON_FEED = "jsonfeed"
    ROBOTS = "robots"
    TEXT = "text"
    HOMEPAGE = "homepage"
    """An HTML page that was asked what it names; never found by looking at a document."""
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class SniffResult:
    """The kind of a document and where it begins."""

    kind: Kind
    start: int = 0
    """Where the root element begins, in an XML document; where the object begins, in JSON."""
    junk: bool = False
    """Whether something that doesn't belong there stands before it."""
    rootless: bool = False
    """Whether the entries have no root element around them."""
    lost: bool = False
    """Whether an entry stands before it that has lost its beginning."""
    code: str = ""
    reason: str = ""
    """For a document that is no sitemap: why."""


_ROOTS: Final = {
    b"urlset": Kind.URLSET,
    b"sitemapindex": Kind.INDEX,
    b"rss": Kind.RSS,
    b"rdf": Kind.RSS,  # RSS 0.90 and 1.0
    b"feed": Kind.ATOM,
}
_ENTRIES: Final = {
    # Entries without a root around them: a head that was cut off.
    b"url": Kind.URLSET,
    b"sitemap": Kind.INDEX,
    b"channel": Kind.RSS,
    b"item": Kind.RSS,
    b"entry": Kind.ATOM,
}

_HTML: Final = frozenset({b"html", b"head", b"body", b"script"})
_MARKUP_OF_WARNINGS: Final = frozenset({b"br", b"b", b"p", b"pre", b"font", b"div", b"span", b"i"})

_FIELDS: Final = frozenset({b"loc", b"lastmod", b"changefreq", b"priority", b"title", b"link"})
"""What an entry is made of: where one comes first, the head was cut off inside an entry."""
_PASSED_OVER: Final = _MARKUP_OF_WARNINGS | _FIELDS | {b"xml"}  # <xml version="1.0"?>
_ROOT_NAMES: Final = ("urlset", "sitemapindex", "sitemaps", "rss", "feed")
_INNER_ROOTS: Final = frozenset({b"urlset", b"sitemapindex"})
"""What is a sitemap also inside another XML document, such as an envelope of SOAP."""
_FIELD_END: Final = re.compile(rb"</(?:loc|url|sitemap|lastmod|link|item|entry)\s*>", re.IGNORECASE)
_PROLOG: Final = re.compile(
    # All that may stand before the root element (XML 1.0, 2.8).
    rb"(?:<\?xml\s+version%(value)s(?:\s+encoding%(value)s)?(?:\s+standalone%(value)s)?\s*\?>)?"
    rb"(?:\s|<!--(?:[^-]|-[^-])*+-->|<\?(?![xX][mM][lL][\s?])[A-Za-z_\x80-\xff]"
    rb"[\w.:\x80-\xff-]*+(?:\s.{0,200}?)?\?>"
    rb"""|<!DOCTYPE(?:[^<>\["']|"[^"]*"|'[^']*')*+(?:\[[^\]]*+\]\s*+)?>)*+"""
    % {b"value": rb"""\s*=\s*(?:"[^"<>?]+"|'[^'<>?]+')"""},
    re.DOTALL,
)
_ROBOTS_LINE: Final = re.compile(rb"^\s*site-?map\s*:", re.IGNORECASE | re.MULTILINE)
_PATH: Final = re.compile("[?#]")
_BLANK: Final = b" \t\r\n\0\x0b\x0c"
_MARK: Final = "\ufeff".encode()
_TAG: Final = re.compile(rb"<\s{0,9}+(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)(?=[^\w.:-])")
_SKIPPED: Final = re.compile(
    # An unclosed one reaches to the end: searching on inside it would cost quadratic time.
    # Nor is the end of an instruction looked for very far.
    rb"<!--.*?(?:-->|\Z)|<\?.{0,200}?\?>|<\?[^<>]*>?|<!\[CDATA\[.*?(?:\]\]>|\Z)",
    re.DOTALL,
)
_DOCTYPE: Final = re.compile(
    rb"<!DOCTYPE\s+([^\s>\[]*)[^>\[]*(?:\[.*?\]\s*>|>)?", re.DOTALL | re.IGNORECASE
)
_FOLDING: Final = re.compile("[ \t\r+\u25b6\u25b8\u25bc\u25be-]*".encode())
"""What browsers draw before an element that can be folded."""
_URL_LINE: Final = re.compile(rb"^[<\s]*https?://\S+\s*$", re.IGNORECASE | re.MULTILINE)
_ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)


def sniff(head: bytes, *urls: str) -> SniffResult:
    """Tell the kind of the document that begins so, and was fetched from one of these URLs."""
    lead = _length_of_blanks(head)
    is_robots = any(f"/{_PATH.split(url, 1)[0]}".lower().endswith("/robots.txt") for url in urls)
    if head[lead : lead + 1] == b"<":
        found = _sniff_xml(head, lead)
        if found.code == "SM201" and _is_text(head) and not is_robots:
            return SniffResult(Kind.TEXT)
        if not (is_robots and found.code == "SM201" and _ROBOTS_LINE.search(head)):
            return found
    if is_robots:
        return SniffResult(Kind.ROBOTS)
    if head[lead : lead + 1] == b"{" and looks_like_a_feed(head[lead:]):
        return SniffResult(Kind.JSON_FEED, lead)
    found = _sniff_xml(head, lead)
    if found.kind is not Kind.INVALID and _stands_as_xml(head, found):
        return found
    return SniffResult(Kind.TEXT)


def _is_text(head: bytes) -> bool:
    """Tell whether these are lines of URLs, though a script's warning or a bracket comes first."""
    tags = {tag[1].lower() for tag in _TAG.finditer(head)}
    return tags <= _MARKUP_OF_WARNINGS and bool(_URL_LINE.search(head))


def _length_of_blanks(head: bytes) -> int:
    at = 0
    while True:
        rest = head[at:]
        step = len(rest) - len(rest.lstrip(_BLANK)) or (len(_MARK) * rest.startswith(_MARK))
        if not step:
            return at
        at += step


def _stands_as_xml(head: bytes, found: SniffResult) -> bool:
    """Tell whether a tag in a document that doesn't begin with one is the beginning of XML.

    It begins a line (browsers draw a hyphen before what can be folded), or the rest of markup comes
    before it: a head that was cut off.
    """
    before = head[: found.start]
    line = before[before.rfind(b"\n") + 1 :]
    if b"<?xml" in before or b">" in line or (found.rootless and b">" in before):
        return True
    return not found.rootless and bool(_FOLDING.fullmatch(line))


def _sniff_xml(head: bytes, lead: int) -> SniffResult:
    # Blanked out rather than cut out, so that offsets stay true.
    seen = _SKIPPED.sub(lambda match: b" " * len(match[0]), head)
    strict = head[lead : lead + 1] == b"<"
    first = _TAG.search(seen)
    doctype = _DOCTYPE.search(seen)
    if doctype and (not first or doctype.start() < first.start()):
        known = _TAG.search(seen, doctype.end())
        if doctype[1].lower() == b"html" and not (known and known[1].lower() in _ROOTS):
            return _invalid("SM202", "It is an HTML page")
        first = _TAG.search(seen, doctype.end())
        if _ENTITY.search(seen, doctype.start(), first.start() if first else len(seen)):
            return _invalid("SM203", "The DOCTYPE declares entities, which are never expanded")
    tag, loc = first, None
    foreign = False
    while tag:
        name = tag[1].lower()
        kind = _ROOTS.get(name) or _ENTRIES.get(name)
        if kind and (name in _INNER_ROOTS or not foreign):
            return _found(head, kind, tag)
        if name in _HTML and not (foreign and b":" in tag[0]):  # SOAP has a Body
            if foreign:
                break
            return _invalid("SM202", "It is an HTML page")
        if not foreign and name == b"loc":
            loc = loc or tag
        foreign = foreign or (strict and name not in _PASSED_OVER and not _is_misspelt_root(name))
        tag = _TAG.search(seen, tag.end())
    if loc and not foreign:
        return _found(head, Kind.URLSET, loc)  # there is nothing around it
    root = first[1].decode("ascii", "replace")[:60] if first else ""
    what = f"the root element is <{root}>" if root else "it has no root element"
    return _invalid("SM201", f"It is no sitemap: {what}")


def _found(head: bytes, kind: Kind, tag: re.Match[bytes]) -> SniffResult:
    before = head[: tag.start()]
    junk = not _PROLOG.fullmatch(before)
    return SniffResult(
        kind,
        tag.start(),
        junk=junk,
        rootless=tag[1].lower() not in _ROOTS,
        lost=junk and bool(_FIELD_END.search(before)),
    )


def _is_misspelt_root(name: bytes) -> bool:
    """Tell whether a tag is nearly that of a root: its entries will show what it was."""
    written = name.decode("ascii", "replace")
    return bool(get_close_matches(written, _ROOT_NAMES, n=1, cutoff=0.8))


def _invalid(code: str, reason: str) -> SniffResult:
    return SniffResult(Kind.INVALID, code=code, reason=reason)
