"""Recovery: reading one entry that is not well-formed XML.

The entry is split into tags and text by their form, and the same builder gets them. A bare ``&`` is
kept, control characters are removed, entities of HTML are decoded, an element that is not closed
ends where the next field of its group starts, and an end tag without a start tag is ignored.
"""

import re
from typing import Final

from usp._parse.values.text import CONTROL_BYTES, decode_entities, remove_control_characters
from usp._parse.xml.entry_builder import EntryBuilder

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
_ATTRIBUTE: Final = re.compile(
    r"""(?<![\w.:-])([A-Za-z_][\w.:-]*+)\s*+=\s*+(?:"([^"]*)"?|'([^']*)'?"""
    r"""|\\["']([^"']*?)\\["']|&quot;(.*?)&quot;"""
    "|[\u2018-\u201f]([^\u2018-\u201f]*)[\u2018-\u201f]"
    r"""|([^\s"'>]+))"""
)
_ATTRIBUTE_START: Final = re.compile(rb"\s+[A-Za-z_][\w.:-]*\s*=")


def recover_entry(entry: bytes, builder: EntryBuilder, *, is_closed: bool) -> None:
    """Send the elements and texts of a malformed entry to the builder.

    If it is not closed, it ends where the next one starts: maybe inside of its URL.
    """
    entry = entry.translate(None, CONTROL_BYTES)  # those in tags, too
    tags, ends = _OpenTags(builder), _Delimiters(entry)
    position, size = 0, len(entry)
    while position < size and (token := _TOKEN.search(entry, position)):
        if token.start() > position:
            builder.text(_decode_text(entry[position : token.start()]))
        position = token.end()
        kind = token.lastgroup
        if kind in _START_TAGS:
            _open(tags, builder, token)
        elif kind in _END_TAGS:
            tags.close(token[kind].decode("utf-8", "replace"))
        elif kind == "comment":
            position = ends.find_end(b"-->", position) or position
        elif kind in _CDATA_SECTIONS:
            begin = token.end("cdata")
            end = ends.find_end(b"]]>", begin)
            position = end or position
            text = entry[begin : end - 3] if end else token["unclosed_cdata"] or b""
            builder.text(remove_control_characters(text.decode("utf-8", "replace")))
    if position < size:
        builder.text(_decode_text(entry[position:]))
    if not is_closed:
        builder.notes_open_url()
    tags.close_all()


def recover_root(data: bytes, name: re.Match[bytes], builder: EntryBuilder) -> int:
    """Open a root element whose start tag is malformed: its namespaces and its base URL count.

    Return where the tag ends, given the match of its beginning.
    """
    attributes = _ROOT_ATTRIBUTES.match(data, name.end())
    written, end = (attributes[0], attributes.end()) if attributes else (b"", name.end())
    builder.start(name[0].lstrip(b"< \t\r\n\v\f").decode(), _parse_attributes(written))
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


def _open(tags: "_OpenTags", builder: EntryBuilder, token: re.Match[bytes]) -> None:
    """Open a tag; the content of one without ``>`` is text, unless it is attributes."""
    name = (token["name"] or token["glued"] or token["spaced"]).decode("utf-8", "replace")
    unterminated = token["unterminated"]
    if unterminated is None or _ATTRIBUTE_START.match(unterminated):
        tags.open(name, token["attributes"] or b"")
    else:
        tags.open(name, b"")
        builder.text(_decode_text(unterminated))


def _parse_attributes(text: bytes) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text.decode("utf-8", "replace")):
        attributes.setdefault(name, decode_entities(remove_control_characters("".join(values))))
    return attributes


def _decode_text(data: bytes) -> str:
    return decode_entities(remove_control_characters(data.decode("utf-8", "replace")))


class _OpenTags:
    """The open tags, in an entry where not every end tag has its start tag."""

    __slots__ = ("_builder", "_counts", "_open")

    def __init__(self, builder: EntryBuilder) -> None:
        self._builder = builder
        self._open: list[str] = []
        self._counts: dict[str, int] = {}  # so that an end tag without a start takes no search

    def open(self, name: str, attributes: bytes) -> None:
        if self._open and self._builder.implies_end_of_text(name):
            self._end()
        self._builder.start(name, _parse_attributes(attributes) if attributes else {})
        if attributes and attributes.rstrip().endswith(b"/"):
            self._builder.end()
        else:
            name = name.lower()
            self._open.append(name)
            self._counts[name] = self._counts.get(name, 0) + 1

    def close(self, name: str) -> None:
        name = name.lower()
        while self._counts.get(name) and self._end() != name:
            pass

    def close_all(self) -> None:
        for _ in self._open:
            self._builder.end()
        self._open = []

    def _end(self) -> str:
        name = self._open.pop()
        self._counts[name] -= 1
        self._builder.end()
        return name
