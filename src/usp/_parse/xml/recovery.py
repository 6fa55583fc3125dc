"""Recovery: reading one entry that is not well-formed XML.

The entry is split into tags and text by their form, and the same builder gets them. A bare ``&`` is
kept, control characters are removed, entities of HTML are decoded, an element that is not closed
ends where the next field of its group or of the entry starts, a URL that is not closed at any start
tag, and an end tag without a start tag is ignored.
"""

import re
from bisect import bisect_left
from collections import Counter
from typing import Final

from usp._parse.values.html_page import is_page_element
from usp._parse.values.text import CONTROL_BYTES, decode_entities, remove_control_characters
from usp._parse.xml.attributes import parse_attributes
from usp._parse.xml.builder_state import KnownElements
from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.grammar import EXTENSION_NAMES, URL_TEXTS, Tag
from usp._parse.xml.markup_in_texts import MARKUP_IN_TEXT

_KNOWN: Final = rb"url|sitemap|loc|lastmod|changefreq|priority|item|entry|link|title"
_CDATA: Final = rb"<!?\s{0,9}+\[(?i:CDATA)\["
_IN_TAG: Final = (
    rb"""(?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"]*+"|'[^']*+'))*+\s*/?(?=>)"""
    rb"""|(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+(?=>)"""
)
"""What stands between the name of a start tag and its end."""
_TOKEN: Final = re.compile(
    # Each alternative starts with a literal, for speed; the last group tells which one it is.
    rb"<!--(?P<comment>)"
    # Where the end of CDATA is malformed, it ends before the next tag.
    rb"|%(cdata)s(?P<cdata>)(?:(?P<unclosed_cdata>[^<\]]*+)\]\s?(?:\]\s?|>)>?+(?=\s*+<))?"
    rb"|\]\]>|-->"  # an end without a start: only this delimiter is removed
    rb"|<[?!][^<>]*>"
    # A tag without ">" ends at the next one.
    rb"|<(?:/|\\/?)\s*+(?P<closed>[A-Za-z_][\w.:-]*)[^<>]*>?"
    rb"|/(?P<bare_closed>%(known)s)>(?=\s*+(?:<|\Z))"  # only the "<" of an end tag is missing
    rb"|<\s++(?:/\s*+(?P<spaced_closed>%(known)s)|(?P<spaced>%(known)s))\s*+>"
    rb"|<(?P<glued>(?:[\w.-]+:)?(?:loc|link))(?=https?://)"
    rb"|<(?P<name>(?!https?://)(?:link(?=href\s*+=)|[A-Za-z_][\w.:-]*+))(?P<attributes>%(in_tag)s"
    rb"|(?P<unterminated>\s[^<>]*+)(?=<|\Z))>?"  # after a space, since "a<b" in a text is no tag
    % {b"cdata": _CDATA, b"known": _KNOWN, b"in_tag": _IN_TAG},
    re.DOTALL,
)
_ROOT_ATTRIBUTES: Final = re.compile(rb"%s|[^<>]*+" % _IN_TAG)
_START_TAGS: Final = frozenset({"attributes", "glued", "spaced"})
_END_TAGS: Final = frozenset({"closed", "spaced_closed", "bare_closed"})
_CDATA_SECTIONS: Final = frozenset({"cdata", "unclosed_cdata"})
_MAX_NAME: Final = 32
_URL_PART: Final = re.compile(rb"[/.:]")
_JUNK: Final = re.compile(
    rb"</?+(?:%s|guid|id)[\s/>]|\A(?![A-Za-z_][\w.:-]*+\s*+=)[^\s/]|\A/." % _KNOWN
)
"""What is no attribute: the rest of a name, or tags between a quote and the next one."""
_FIELDS: Final = frozenset(
    {
        *("url", "sitemap", "item", "entry", "loc", "lastmod", "changefreq", "priority"),
        *("link", "guid", "id", "title", "description", "pubdate", "summary", "content"),
        *("published", "issued", "updated", "modified", "created"),
    }
)
"""The entries and their own fields: the start of one is missing if its end tag stands alone."""
_ONE_EACH: Final = frozenset({"loc", "link", "guid", "id", "title"})
"""The fields that tell entries apart: in an element that isn't closed, they are another entry's."""
_CUT_TAG: Final = re.compile(r"</?+[A-Za-z_][\w.:-]*+\Z")
"""A tag that the next one interrupts, at the end of a text."""
_ATTRIBUTE_START: Final = re.compile(rb"\s+[A-Za-z_][\w.:-]*\s*=")
_TAG_NAME: Final = re.compile(rb"<(/?+)\s{0,9}+([a-z_][\w.:-]*+)")


class Signs:
    """What shows that a malformed entry has lost something, or has run into another one."""

    __slots__ = ("bare_text", "bare_url", "dropped", "first", "last")

    def __init__(self) -> None:
        self.first = self.last = -1
        """After how many fields a tag is damaged or missing, for the first time and the last."""
        self.dropped = False
        """Whether something was dropped that may have been a part of a field."""
        self.bare_text = ""
        """The last text that is in no field: it is dropped, unless it is the URL."""
        self.bare_url = ""
        """The first of those texts that has a URL."""

    @property
    def tags(self) -> bool:
        """Whether tags are damaged or missing: a bare ``&`` is in none."""
        return self.first >= 0

    def note_damage(self, fields: int) -> None:
        """Note that a tag is damaged or missing, after so many fields."""
        self.first, self.last = self.first if self.tags else fields, fields


def recover_entry(entry: bytes, builder: EntryBuilder, *, is_closed: bool) -> Signs:
    """Send the elements and texts of a malformed entry to the builder; return what is odd in it.

    If it is not closed, it ends where the next one starts: maybe inside of its URL.
    """
    entry = entry.translate(None, CONTROL_BYTES)  # those in tags, too
    signs = Signs()
    tags, ends = _OpenTags(builder, signs, _TagPositions(entry)), _Delimiters(entry)
    position, size = 0, len(entry)
    while position < size and (token := _TOKEN.search(entry, position)):
        if token.start() > position:
            tags.text(_decode_text(entry[position : token.start()]))
        position = token.end()
        kind = token.lastgroup
        if kind in _START_TAGS:
            _open(tags, token)
        elif kind in _END_TAGS:
            tags.close(token[kind].decode("utf-8", "replace"), is_whole=token[0].endswith(b">"))
            signs.dropped |= bool(_URL_PART.search(entry, token.end(kind), position))
        elif kind == "comment":
            position = ends.find_end(b"-->", position) or position
        elif kind in _CDATA_SECTIONS:
            begin = token.end("cdata")
            end = ends.find_end(b"]]>", begin)
            position = end or position
            text = entry[begin : end - 3] if end else token["unclosed_cdata"] or b""
            builder.text(remove_control_characters(text.decode("utf-8", "replace")))
        else:
            signs.dropped |= b"://" in token[0]
    if position < size:
        tags.text(_decode_text(entry[position:]))
    if not is_closed and not builder.notes_open_url():
        signs.dropped |= builder.is_in_field or tags.has_ended_url
    tags.close_all()
    return signs


def resembles(name: str, other: str) -> bool:
    """Tell whether two names have at least half of their letters in common: one is misspelled."""
    longest = max(len(name), len(other))
    if longest > _MAX_NAME:
        return False
    return 2 * sum((Counter(name.lower()) & Counter(other.lower())).values()) >= longest


def recover_root(data: bytes, name: re.Match[bytes], builder: EntryBuilder) -> int:
    """Open a root element whose start tag is malformed: its namespaces and its base URL count.

    Return where the tag ends, given the match of its beginning.
    """
    attributes = _ROOT_ATTRIBUTES.match(data, name.end())
    written, end = (attributes[0], attributes.end()) if attributes else (b"", name.end())
    parsed, _ = parse_attributes(written, has_page=False)
    builder.start(name[0].lstrip(b"< \t\r\n\v\f").decode(), parsed)
    if written.rstrip().endswith(b"/"):
        builder.end()
    return end + data.startswith(b">", end)


class _Delimiters:
    """The closing delimiters in an entry; behind the last one, no search takes place."""

    __slots__ = ("_entry", "_last")

    def __init__(self, entry: bytes) -> None:
        self._entry = entry
        self._last: dict[bytes, int] = {}  # of those that were looked for: most entries have none

    def find_end(self, delimiter: bytes, begin: int) -> int:
        """Return where the next delimiter ends; 0 if there is none."""
        last = self._last.get(delimiter)
        if last is None:
            last = self._last[delimiter] = self._entry.rfind(delimiter)
        return 0 if begin > last else self._entry.find(delimiter, begin) + len(delimiter)


class _TagPositions:
    """Where the tags of an entry are, by their names; found when they are first asked for."""

    __slots__ = ("_entry", "_found")

    def __init__(self, entry: bytes) -> None:
        self._entry = entry
        self._found: dict[bytes, tuple[list[int], list[bool]]] | None = None

    def is_closed(self, name: str, at: int) -> bool:
        """Tell whether an open element has its end tag after a position, and before it is repeated.

        :param name: its name in lower case.
        """
        if self._found is None:
            self._found = {}
            for tag in _TAG_NAME.finditer(self._entry.lower()):
                positions, are_ends = self._found.setdefault(tag[2], ([], []))
                positions.append(tag.start())
                are_ends.append(bool(tag[1]))
        positions, are_ends = self._found.get(name.encode(), ([], []))
        following = bisect_left(positions, at)
        return following < len(positions) and are_ends[following]


def _open(tags: "_OpenTags", token: re.Match[bytes]) -> None:
    """Open a tag; the content of one without ``>`` is text, unless it is attributes."""
    name = (token["name"] or token["glued"] or token["spaced"]).decode("utf-8", "replace")
    tags.note_markup(token.start())
    tags.end_before(name, token.start())
    unterminated = token["unterminated"]
    if unterminated is not None:
        tags.note_damage()
    is_text = unterminated is not None and not _ATTRIBUTE_START.match(unterminated)
    tags.open(name, b"" if is_text else token["attributes"] or b"")
    tags.end_remainder(name, token.end())
    if is_text:
        tags.text(_decode_text(unterminated))


def _decode_text(data: bytes) -> str:
    return decode_entities(remove_control_characters(data.decode("utf-8", "replace")))


class _OpenTags:
    """The open tags, in an entry where not every end tag has its start tag."""

    __slots__ = (
        *("_builder", "_closed", "_counts", "_ended_url", "_entry_start", "_holds_entry", "_open"),
        *("_positions", "_signs", "_unclosed", "_unknown", "_unknown_depth", "has_ended_url"),
    )

    def __init__(self, builder: EntryBuilder, signs: Signs, positions: _TagPositions) -> None:
        self._builder = builder
        self._entry_start = builder.position()
        self._signs = signs
        self._positions = positions
        self._open: list[str] = []
        self._unknown = ""  # the unknown element in the entry that is open: its content is dropped
        self._unknown_depth = 0  # how many are open, with it
        self._closed = ""  # the field whose end tag was the last thing
        self._holds_entry = False  # whether what may be a part of an entry is in it
        self.has_ended_url = False
        """Whether an unknown element has ended a URL that is not closed."""
        self._ended_url = ""  # the field that the unknown element has ended which is to be opened
        self._unclosed: set[str] = set()  # what was closed without its end tag
        self._counts: dict[str, int] = {}  # so that an end tag without a start takes no search

    def note_damage(self) -> None:
        """Note that a tag is damaged or missing here."""
        self._signs.note_damage(len(self._builder.open_record))

    def note_markup(self, at: int) -> None:
        """Report a start tag in a text, where texts never contain markup, given its position."""
        builder = self._builder
        if builder.plain_texts and builder.is_in_field:
            builder.structure_problems.add(*MARKUP_IN_TEXT, self._entry_start + at)

    def end_before(self, name: str, at: int) -> None:
        """End what this start tag shows to be unclosed, given its position.

        A field ends a text beside it. One of the entry itself ends what else is in the entry, such
        as an image, if that is never closed.
        """
        elements = self._builder.open_elements() if self._open else None
        if elements is None:
            return
        key = self._builder.scope.peek(name)
        (fields, outermost, *_), (siblings, innermost, *_) = elements
        is_beside = self._is_beside(outermost, key, fields)
        if is_beside and not self._positions.is_closed(self._open[1], at):
            is_misspelled = self._is_misspelled_end(outermost)
            self._signs.dropped |= innermost is None and not is_misspelled
            while len(self._open) > 1:
                self._end_unclosed()
        elif innermost and innermost.children is None and key in (siblings or ()):
            self.note_damage()
            self._end()
        elif innermost and innermost.key in URL_TEXTS and self._ends_url(name, at):
            self.note_damage()
            self._ended_url = self._end()
            self.has_ended_url = True

    def _ends_url(self, name: str, at: int) -> bool:
        """Tell whether an unknown element is not inside of the open URL, but beside it.

        What is in a URL that is closed may be markup. An HTML page means that there is no URL.
        """
        is_page = ":" not in name and is_page_element(name)
        return not is_page and not self._positions.is_closed(self._open[-1], at)

    def end_remainder(self, name: str, at: int) -> None:
        """End the element that has ended a URL, if it has no end tag: what follows is not in it.

        It is the end tag of the URL, misspelled, or what is left of two tags.
        """
        field, self._ended_url = self._ended_url, ""
        if not field or not self._is_in_unknown or self._positions.is_closed(name.lower(), at):
            return
        self._signs.dropped |= not resembles(field, name)
        self._end()

    def _is_misspelled_end(self, outermost: Tag | None) -> bool:
        """Tell whether an unknown element ends a text: ``<lastmod>2020<xlastmod>``.

        Else it may be what is left of two tags, where a piece is missing.
        """
        field, *inside = self._open[1:]
        is_text = outermost is not None and outermost.children is None
        return is_text and len(inside) == 1 and resembles(field, inside[0])

    def _is_beside(self, outermost: Tag | None, key: str, fields: KnownElements) -> bool:
        """Tell whether an element in another one belongs in the entry, if that is not closed.

        What is in a text of a feed may be HTML.
        """
        if outermost is None or not (outermost.children or self._builder.plain_texts):
            return False
        return key in (fields or ()) and not outermost.may_have(key)

    def open(self, name: str, attributes: bytes) -> None:
        builder = self._builder
        was_in_text = builder.is_in_text
        has_page = not builder.plain_texts  # in feeds
        parsed, is_damaged = parse_attributes(attributes, has_page=has_page)
        builder.start(name, parsed)
        self._closed = ""
        if is_damaged or (attributes and _JUNK.search(attributes)):
            self._signs.dropped = True
        if attributes and attributes.rstrip().endswith(b"/"):
            builder.end()
        else:
            name = name.lower()
            if builder.is_in_text and not (was_in_text or builder.is_in_field):
                self._unknown, self._unknown_depth = name, len(self._open) + 1
                self._holds_entry = False
            elif name in _ONE_EACH:
                self._holds_entry = True
            self._open.append(name)
            self._counts[name] = self._counts.get(name, 0) + 1

    def text(self, text: str) -> None:
        self._closed = "" if text.strip() else self._closed
        if not self._builder.is_in_text:
            if bare := text.strip():
                self.note_damage()
                self._signs.bare_text = bare
                self._signs.dropped |= _CUT_TAG.search(bare[-_MAX_NAME:]) is not None
                if "//" in bare and not self._signs.bare_url:
                    self._signs.bare_url = bare
        elif "://" in text and self._unknown != "id":  # that of an entry of Atom is a URL
            self._holds_entry = True
        self._builder.text(text)

    def close(self, name: str, *, is_whole: bool) -> None:
        """Close an element and those inside it; an end tag without a start is ignored."""
        name = name.lower()
        if not self._counts.get(name):
            self.note_damage()
            if name != self._closed:  # else it is one too many
                self._close_nothing(name, is_whole=is_whole)
            return
        if not is_whole:
            self.note_damage()
        while self._open[-1] != name:
            self._end_unclosed()
        closed = self._end()
        self._closed = closed if is_whole else ""

    def close_all(self) -> None:
        """Close what is open where the entry ends: its own element, if it has no end tag."""
        while len(self._open) > 1:
            self._end_unclosed()
        if self._open:
            self._end()

    def _end_unclosed(self) -> None:
        """Close an element that has no end tag: the content of a field is kept."""
        self.note_damage()
        if self._is_in_unknown and self._holds_entry:
            self._signs.dropped = True
        self._unclosed.add(self._end())

    @property
    def _is_in_unknown(self) -> bool:
        """Whether the innermost open element is unknown, and directly in the entry or a group."""
        return len(self._open) == self._unknown_depth > 0 and self._open[-1] == self._unknown

    def _close_nothing(self, name: str, *, is_whole: bool) -> None:
        """Note an end tag without a start, unless one of the two is only misspelled."""
        innermost = self._open[-1] if self._open else ""
        if name.rpartition(":")[2] not in _FIELDS:
            # The next tag interrupts it, or what it ends is missing: not just crossed, or misnamed.
            is_lost = name in EXTENSION_NAMES and name not in self._unclosed
            self._signs.dropped |= not is_whole or (is_lost and not self._builder.is_in_text)
            return
        if self._is_in_unknown and name not in _ONE_EACH and resembles(name, innermost):
            self._end()
            return
        beginning = self._signs.bare_text[: _MAX_NAME + 3]  # a text may be long, and end tags many
        written, _, rest = beginning.lstrip("<").partition(">")
        if rest and name not in _ONE_EACH and resembles(name, written):
            if self._signs.bare_url == self._signs.bare_text:
                self._signs.bare_url = ""
            self._signs.bare_text = ""
        else:
            self._signs.dropped = True

    def _end(self) -> str:
        name = self._open.pop()
        self._counts[name] -= 1
        self._builder.end()
        return name
