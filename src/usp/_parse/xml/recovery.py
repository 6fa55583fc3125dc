"""Recovery: reading one entry that is not well-formed XML.

The entry is split into tags and text by their form, and the same builder gets them. A bare ``&`` is
kept, control characters are removed, entities of HTML are decoded, an element that is not closed
ends where the next field of its group or of the entry starts, a URL that is not closed at any start
tag, and an end tag without a start tag is ignored.
"""

import re
from collections.abc import Callable
from typing import Final

from usp._parse.values.text import (
    CONTROL_BYTES,
    NULL_BLOCK,
    decode_entities,
    remove_control_characters,
)
from usp._parse.xml.attributes import parse_attributes
from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.open_tags import OpenTags, TagPositions
from usp._parse.xml.signs import Signs, ends_in_cut_tag

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
_CHECKED_BYTES: Final = 16 * 1024
"""After so many bytes of an entry, the time is looked at."""
_URL_PART: Final = re.compile(rb"[/.:]")
_ATTRIBUTE_START: Final = re.compile(rb"\s+[A-Za-z_][\w.:-]*\s*=")


def recover_entry(
    entry: bytes, builder: EntryBuilder, check_time: Callable[[], None], *, is_closed: bool
) -> Signs:
    """Send the elements and texts of a malformed entry to the builder; return what is odd in it.

    If it is not closed, it ends where the next one starts: maybe inside of its URL.

    :param check_time: raises ``TimeoutError`` if reading should end: an entry may have many tags.
    """
    entry = entry.translate(None, CONTROL_BYTES)  # those in tags, too
    signs = Signs()
    tags, ends = OpenTags(builder, signs, TagPositions(entry)), _Delimiters(entry)
    position, size, checked_at = 0, len(entry), 0
    while position < size and (token := _TOKEN.search(entry, position)):
        if position - checked_at > _CHECKED_BYTES:
            check_time()
            checked_at = position
        if token.start() > position:
            _add_text(tags, entry[position : token.start()])
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
            signs.note_declaration(token[0])
    if position < size:
        _add_text(tags, entry[position:])
    if not is_closed:
        tags.note_damage()
        is_noted = builder.notes_open_url()
        signs.dropped |= not is_noted and (builder.is_in_field or tags.has_ended_url)
    tags.close_all(is_closed=is_closed)
    return signs


def recover_root(data: bytes, name: re.Match[bytes], builder: EntryBuilder) -> tuple[int, bool]:
    """Open a root element whose start tag is malformed: its namespaces and its base URL count.

    Return where the tag ends, given the match of its beginning, and whether a piece of it may be
    missing, and maybe entries with it.
    """
    found = _ROOT_ATTRIBUTES.match(data, name.end())
    written, end = (found[0], found.end()) if found else (b"", name.end())
    attributes = parse_attributes(written, has_page=False)
    builder.start(name[0].lstrip(b"< \t\r\n\v\f").decode(), attributes.values)
    if written.rstrip().endswith(b"/"):
        builder.end()
    is_damaged = attributes.has_junk or NULL_BLOCK in written
    return end + data.startswith(b">", end), is_damaged


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


def _open(tags: OpenTags, token: re.Match[bytes]) -> None:
    """Open a tag; the content of one without ``>`` is text, unless it is attributes."""
    name = (token["name"] or token["glued"] or token["spaced"]).decode("utf-8", "replace")
    tags.note_markup(token.start())
    tags.end_before(name, token.start())
    if tags.are_too_deep:
        tags.note_damage()
        return
    unterminated = token["unterminated"]
    if unterminated is not None:
        tags.note_damage()
    is_text = unterminated is not None and not _ATTRIBUTE_START.match(unterminated)
    attributes = b"" if is_text else token["attributes"] or b""
    tags.open(name, attributes, is_cut=unterminated is not None)
    tags.end_remainder(name, token.end())
    if is_text:
        tags.text(_decode_text(unterminated))


def _add_text(tags: OpenTags, written: bytes) -> None:
    is_cut, has_end = ends_in_cut_tag(written), b">" in written
    tags.text(_decode_text(written), is_cut=is_cut, has_end=has_end)


def _decode_text(data: bytes) -> str:
    return decode_entities(remove_control_characters(data.decode("utf-8", "replace")))
