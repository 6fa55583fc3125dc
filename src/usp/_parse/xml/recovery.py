"""The rescue pattern_reader: reading one entry that is not XML.

The entry is cut into tags and text by what they look like, and the same builder is told of them.
A bare ``&`` stays, control characters go, HTML's entities are understood, a tag that is never
closed ends where the next field of its group begins, and a stray end tag is ignored.
"""

import re
from typing import Final

from usp._parse.values.text import decode_entities, drop_controls
from usp._parse.xml.entry_builder import EntryBuilder

_KNOWN: Final = rb"url|sitemap|loc|lastmod|changefreq|priority|item|entry|link|title"
_CDATA: Final = rb"<!?\s{0,9}+\[(?i:CDATA)\["
_TOKEN: Final = re.compile(
    # Each begins with a literal, so that re is quick; the last group tells which one it is.
    rb"<!--(?P<comment>)"
    # Where the end of CDATA is damaged, it ends before the next tag.
    rb"|%(cdata)s(?P<cdata>)(?:(?P<cut>[^<\]]*+)\]\s?(?:\]\s?|>)>?+(?=\s*+<))?"
    rb"|\]\]>|-->"  # one without its other half: only the mark goes
    rb"|<[?!][^<>]*>"
    # A tag that never ends is ended by the next one.
    rb"|<(?:/|\\/?)\s*+(?P<closed>[A-Za-z_][\w.:-]*)[^<>]*>?"
    rb"|<\s++(?:/\s*+(?P<spaced_closed>%(known)s)|(?P<spaced>%(known)s))\s*+>"
    rb"|<(?P<glued>(?:[\w.-]+:)?(?:loc|link))(?=https?://)"
    rb"|<(?P<name>(?!https?://)[A-Za-z_][\w.:-]*+)(?P<attributes>"
    rb"""(?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"]*+"|'[^']*+'))*+\s*/?(?=>)"""
    rb"""|(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+(?=>)"""
    rb"|(?P<unended>\s[^<>]*+)(?=<|\Z))>?"  # a blank, since "a<b" in a text is no tag
    % {b"cdata": _CDATA, b"known": _KNOWN},
    re.DOTALL,
)
_OPENED: Final = frozenset({"attributes", "glued", "spaced"})
_CLOSED: Final = frozenset({"closed", "spaced_closed"})
_SECTIONS: Final = frozenset({"cdata", "cut"})
_ATTRIBUTE: Final = re.compile(
    r"""(?<![\w.:-])([A-Za-z_][\w.:-]*+)\s*+=\s*+(?:"([^"]*)"?|'([^']*)'?"""
    r"""|\\["']([^"']*?)\\["']|&quot;(.*?)&quot;"""
    "|[\u2018-\u201f]([^\u2018-\u201f]*)[\u2018-\u201f]"
    r"""|([^\s"'>]+))"""
)
_ATTRIBUTE_BEGINS: Final = re.compile(rb"\s+[A-Za-z_][\w.:-]*\s*=")


def recover_entry(entry: bytes, builder: EntryBuilder) -> None:
    """Tell the builder what the entry says."""
    tags = _Tags(builder)
    comments, sections = _Ends(entry, b"-->"), _Ends(entry, b"]]>")
    at = 0
    while token := _TOKEN.search(entry, at):
        if token.start() > at:
            builder.text(_character_data(entry[at : token.start()]))
        at = token.end()
        kind = token.lastgroup
        if kind in _OPENED:
            _open(tags, builder, token)
        elif kind in _CLOSED:
            tags.close(token[kind].decode("utf-8", "replace"))
        elif kind == "comment":
            at = comments.behind(at) or at
        elif kind in _SECTIONS:
            begin = token.end("cdata")
            end = sections.behind(begin)
            at = end or at
            text = entry[begin : end - 3] if end else token["cut"] or b""
            builder.text(drop_controls(text.decode("utf-8", "replace")))
    builder.text(_character_data(entry[at:]))
    tags.close_all()


class _Ends:
    """Where something ends that was opened; once there is no more end, none is looked for."""

    def __init__(self, entry: bytes, mark: bytes) -> None:
        self._entry = entry
        self._mark = mark
        self._last = entry.rfind(mark)

    def behind(self, at: int) -> int:
        """Return where the next mark after this place ends; 0 if there is none."""
        return self._entry.find(self._mark, at) + len(self._mark) if at <= self._last else 0


def _open(tags: "_Tags", builder: EntryBuilder, token: re.Match[bytes]) -> None:
    """Open a tag; what stands in one that has lost its ``>`` is text, unless it is attributes."""
    name = (token["name"] or token["glued"] or token["spaced"]).decode("utf-8", "replace")
    unended = token["unended"]
    if unended is None or _ATTRIBUTE_BEGINS.match(unended):
        tags.open(name, token["attributes"] or b"")
    else:
        tags.open(name, b"")
        builder.text(_character_data(unended))


def _said(attributes: bytes) -> dict[str, str]:
    said: dict[str, str] = {}
    for key, *quoted in _ATTRIBUTE.findall(attributes.decode("utf-8", "replace")):
        said.setdefault(key, decode_entities(drop_controls("".join(quoted))))
    return said


def _character_data(data: bytes) -> str:
    return decode_entities(drop_controls(data.decode("utf-8", "replace")))


class _Tags:
    """The tags that are open, in an entry where not every end tag has its start."""

    def __init__(self, builder: EntryBuilder) -> None:
        self._builder = builder
        self._open: list[str] = []
        self._counts: dict[str, int] = {}  # so that a stray end tag costs no search

    def open(self, name: str, attributes: bytes) -> None:
        if self._open and self._builder.ends_text(name):
            self._end()
        self._builder.start(name, _said(attributes) if attributes else {})
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
        while self._open:
            self._end()

    def _end(self) -> str:
        name = self._open.pop()
        self._counts[name] -= 1
        self._builder.end()
        return name
