"""The open tags of a malformed entry, in which not every end tag has its start tag.

What the builder gets, and which faults of the tags have no harmless cause (``signs``). How an entry
is split into tags and texts is in ``recovery``.
"""

import re
from bisect import bisect_left
from typing import Final

from usp._parse.values.html_page import is_page_element
from usp._parse.xml.attributes import parse_attributes
from usp._parse.xml.builder_state import KnownElements
from usp._parse.xml.entry_builder import MAX_DEPTH, EntryBuilder
from usp._parse.xml.grammar import EXTENSION_NAMES, URL_TEXTS, Tag
from usp._parse.xml.markup_in_texts import MARKUP_IN_TEXT
from usp._parse.xml.signs import MAX_NAME, Signs, is_cut_to_nothing, is_html, resembles

_JUNK: Final = re.compile(
    rb"</?+(?:%s)[\s/>]|\A(?![A-Za-z_][\w.:-]*+\s*+=)[^\s/]|\A/."
    % b"|".join(
        (
            *(b"url", b"sitemap", b"loc", b"lastmod", b"changefreq", b"priority", b"item"),
            *(b"entry", b"link", b"title", b"guid", b"id"),
        )
    )
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
_TEXT_ATTRIBUTES: Final = frozenset({"type", "mode", "ispermalink", "xml:lang", "xml:base"})
"""The attributes of an element that has a text; with another one it may be all that there is."""
_DOCUMENTS: Final = frozenset({"html", "error"})
"""The page of a server, or the error of a storage service, in the middle of an entry."""
_TAG_NAME: Final = re.compile(rb"<(/?+)\s{0,9}+([a-z_][\w.:-]*+)")
_KNOWN, _UNKNOWN, _IN_TEXT = 0, 1, 2
"""What an open element is: a field or a group, an unknown one beside them, or markup in a text."""


class TagPositions:
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


class OpenTags:
    """The open tags, in an entry where not every end tag has its start tag."""

    __slots__ = (
        *("_builder", "_closed", "_counts", "_ended_url", "_entry_start", "_holds_entry", "_kinds"),
        *("_open", "_positions", "_signs", "_tag_end", "_unclosed", "_unknown", "_unknown_depth"),
        "has_ended_url",
    )

    def __init__(self, builder: EntryBuilder, signs: Signs, positions: TagPositions) -> None:
        self._builder = builder
        self._entry_start = builder.position()
        self._signs = signs
        self._positions = positions
        self._open: list[str] = []
        self._kinds: list[int] = []  # what each of them is
        self._unknown = ""  # the unknown element in the entry that is open: its content is dropped
        self._unknown_depth = 0  # how many are open, with it
        self._closed = ""  # the field whose end tag was the last thing
        self._tag_end = False  # whether the last text has a ">": maybe the rest of a tag
        self._holds_entry = False  # whether what may be a part of an entry is in it
        self.has_ended_url = False
        """Whether an unknown element has ended a URL that is not closed."""
        self._ended_url = ""  # the field that the unknown element has ended which is to be opened
        self._unclosed: set[str] = set()  # what was closed without its end tag
        self._counts: dict[str, int] = {}  # so that an end tag without a start takes no search

    def note_damage(self) -> None:
        """Note that a tag is damaged or missing here."""
        self._signs.note_damage(len(self._builder.open_record))

    @property
    def are_too_deep(self) -> bool:
        """Whether so many are open that another one is not kept; the builder has reported that."""
        return len(self._open) > MAX_DEPTH + 1

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
            self._end_unclosed(following=name.lower())
        elif innermost and innermost.children is None and key in (siblings or ()):
            self.note_damage()
            self._note_rest(name.lower())
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

    def open(self, name: str, attributes: bytes, *, is_cut: bool) -> None:
        """Open an element; its tag is cut off if the next one interrupts it after some attributes.

        One that only lacks its ``>`` is that of a known element.
        """
        builder, signs = self._builder, self._signs
        was_in_text = builder.is_in_text
        # In feeds; a link in a text is not that of the entry.
        has_page = not (builder.plain_texts or was_in_text)
        written = parse_attributes(attributes, has_page=has_page)
        builder.start(name, written.values)
        self._closed, self._tag_end = "", False
        if written.lost_url or (attributes and _JUNK.search(attributes)):
            signs.dropped = True
        is_unknown = builder.is_in_text and not (was_in_text or builder.is_in_field)
        if builder.is_in_text and name.lower() in _DOCUMENTS:
            signs.note_odd("page", name)
        if not was_in_text and (written.has_junk or (is_cut and (attributes or is_unknown))):
            signs.note_odd("tag", name)
        if attributes and attributes.rstrip().endswith(b"/"):
            builder.end()
            return
        name = name.lower()
        if is_unknown:
            self._unknown, self._unknown_depth = name, len(self._open) + 1
            self._holds_entry = False
        elif name in _ONE_EACH:
            self._holds_entry = True
        self._open.append(name)
        self._kinds.append(_UNKNOWN if is_unknown else _IN_TEXT if was_in_text else _KNOWN)
        self._counts[name] = self._counts.get(name, 0) + 1

    def text(self, text: str, *, is_cut: bool = False, has_end: bool = False) -> None:
        """Handle a text; it is cut off if what is left of a tag is its end.

        :param has_end: whether it has what may be the end of a tag.
        """
        self._closed = "" if text.strip() else self._closed
        self._tag_end = has_end
        signs = self._signs
        if not self._builder.is_in_text:
            if bare := text.strip():
                self.note_damage()
                signs.settle_bare_text()
                signs.bare_text = bare
                signs.dropped |= is_cut
                if "//" in bare and not signs.bare_url:
                    signs.bare_url = bare
        else:
            if is_cut:
                signs.note_odd("cut tag")
            if "://" in text and self._unknown != "id":  # that of an entry of Atom is a URL
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
        self._end_unclosed(name)
        closed = self._end()
        self._closed = closed if is_whole else ""

    def close_all(self, *, is_closed: bool) -> None:
        """Close what is open where the entry ends: its own element, if it has no end tag."""
        if not is_closed and self._signs.bare_text.endswith("<"):
            self._signs.note_odd("tag")  # nothing but its beginning is left of the end tag
        self._end_unclosed()
        if self._open:
            self._end()
        self._signs.settle_bare_text()

    def _end_unclosed(self, name: str = "", *, following: str = "") -> None:
        """Close what has no end tag, inside of an element or of the entry: fields are kept.

        One end tag may be missing. A field and its group that both lack it were cut off, and where
        an unknown element ends nobody knows.
        """
        known, has_rest = 0, self._tag_end  # of a text, also if it is in markup
        while len(self._open) > 1 and self._open[-1] != name:
            self.note_damage()
            if self._is_in_unknown and self._holds_entry:
                self._signs.dropped = True
            kind = self._kinds[-1]
            if kind == _KNOWN:
                self._tag_end, has_rest = self._tag_end or has_rest, False
                self._note_rest(following)
            ended = self._end()
            self._unclosed.add(ended)
            known += kind == _KNOWN
            if kind == _UNKNOWN or known > 1:
                self._signs.note_odd("not closed", ended)

    def _note_rest(self, following: str = "") -> None:
        """Note a field without an end tag in which a piece may be missing.

        Its text may have the rest of another tag in it, or nothing is left of it. A tag that is
        written twice, or the start tag in place of the end tag, is no such field.

        :param following: the name of the start tag that ends it, if there is one.
        """
        name = self._open[-1]
        if self._tag_end:
            self._signs.note_odd("rest of a tag", name)
        elif following != name and self._builder.is_in_field and self._is_cut_to_nothing(name):
            self._signs.note_odd("empty", name)

    def _is_cut_to_nothing(self, name: str) -> bool:
        """Tell whether nothing is left of the text of the open field, and it needs one."""
        record = self._builder.open_record
        element, _, attribute = record[-1][0].partition("@") if record else ("", "", "")
        for key, _text in reversed(record) if attribute else ():
            its_element, _, other = key.partition("@")
            if its_element != element or not other:
                break
            if other.lower() not in _TEXT_ATTRIBUTES:
                return False
        is_again = not attribute and element.rpartition(":")[2] == name.rpartition(":")[2]
        return not is_again and is_cut_to_nothing(self._builder.open_text)

    @property
    def _is_in_unknown(self) -> bool:
        """Whether the innermost open element is unknown, and directly in the entry or a group."""
        return len(self._open) == self._unknown_depth > 0 and self._open[-1] == self._unknown

    def _close_nothing(self, name: str, *, is_whole: bool) -> None:
        """Note an end tag without a start, unless it has a harmless cause."""
        innermost = self._open[-1] if self._open else ""
        is_known = name in EXTENSION_NAMES or name in _FIELDS
        if is_whole and not is_known and resembles(name, innermost):
            if len(self._open) > 1:  # else it is that of the entry, which ends anyway
                self._end()
        elif name.rpartition(":")[2] not in _FIELDS:
            # The next tag interrupts it, or what it ends is missing: not just crossed, or misnamed.
            is_crossed = name in self._unclosed
            self._signs.dropped |= not is_whole
            if not (is_crossed or is_html(name)):
                self._signs.note_odd("end tag", name, innermost)
        elif not self._is_misspelled_start(name, innermost):
            if name in _ONE_EACH or not is_whole:  # a template that loses URLs is no harmless one
                self._signs.dropped = True
            self._signs.note_odd("end of a field", name, innermost)

    def _is_misspelled_start(self, name: str, innermost: str) -> bool:
        """Tell whether the end tag of a field belongs to a start tag that is only misspelled.

        Not that of a field which was there before: then a piece is missing between the two.
        """
        signs = self._signs
        if name in _ONE_EACH or name in self._counts:
            return False
        if self._is_in_unknown and resembles(name, innermost):
            self._end()
            return True
        beginning = signs.bare_text[: MAX_NAME + 3]  # a text may be long, and end tags many
        written, _, rest = beginning.lstrip("<").partition(">")
        # Without its "<" it has one fault already; with two, a piece may be missing.
        has_start = beginning.startswith("<")
        is_alike = resembles(name, written) if has_start else name == written.lower()
        if not rest or not is_alike:
            return False
        if signs.bare_url == signs.bare_text:
            signs.bare_url = ""
        signs.bare_text = ""
        return True

    def _end(self) -> str:
        name = self._open.pop()
        self._kinds.pop()
        self._counts[name] -= 1
        self._tag_end = False
        self._builder.end()
        return name
