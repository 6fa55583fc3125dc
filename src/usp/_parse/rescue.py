"""The rescue lane: reading one entry that is not XML.

The entry is cut into tags and text by what they look like, and the same builder is told of them.
A bare ``&`` stays, control characters go, HTML's entities are understood, a tag that is never
closed ends where the next field of its group begins, and a stray end tag is ignored.
"""

import re
from collections import Counter
from typing import Final

from usp._parse.builder import Builder
from usp._parse.values import decode_entities, drop_controls

_TOKEN: Final = re.compile(
    rb"<!--.*?-->"
    rb"|<!\[CDATA\[(?P<cdata>.*?)\]\]>"
    rb"|<!--|<!\[CDATA\[|\]\]>|-->"  # one without its other half: only the mark goes
    rb"|<[?!][^<>]*>"
    # A tag that never ends is ended by the next one.
    rb"|</(?P<closed>[A-Za-z_][\w.:-]*)[^<>]*>?"
    rb"|<(?P<name>[A-Za-z_][\w.:-]*)(?P<attributes>"
    rb"""(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+(?=>)"""
    rb"|\s[^<>]*+(?=<|\Z))>?",  # a blank, since "a<b" in a text is no tag
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    r"""([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s"'>]+))"""
)


def read_damaged(entry: bytes, builder: Builder) -> None:
    """Tell the builder what the entry says."""
    tags = _Tags(builder)
    at = 0
    for token in _TOKEN.finditer(entry):
        if token.start() > at:
            builder.text(_character_data(entry[at : token.start()]))
        at = token.end()
        if token["cdata"] is not None:
            builder.text(drop_controls(token["cdata"].decode("utf-8", "replace")))
        elif token["closed"] is not None:
            tags.close(token["closed"].decode("utf-8", "replace"))
        elif token["name"] is not None:
            tags.open(token["name"].decode("utf-8", "replace"), token["attributes"])
    builder.text(_character_data(entry[at:]))
    tags.close_all()


def _character_data(data: bytes) -> str:
    return decode_entities(drop_controls(data.decode("utf-8", "replace")))


class _Tags:
    """The tags that are open, in an entry where not every end tag has its start."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()  # so that a stray end tag costs no search

    def open(self, name: str, attributes: bytes) -> None:
        if self._open and self._builder.ends_text(name):
            self._end()
        written = attributes.decode("utf-8", "replace")
        said: dict[str, str] = {}
        for key, double, single, plain in _ATTRIBUTE.findall(written):
            said.setdefault(key, decode_entities(drop_controls(double or single or plain)))
        self._builder.start(name, said)
        if written.rstrip().endswith("/"):
            self._builder.end()
        else:
            self._open.append(name.lower())
            self._counts[name.lower()] += 1

    def close(self, name: str) -> None:
        while self._counts[name.lower()] and self._end() != name.lower():
            pass

    def close_all(self) -> None:
        while self._open:
            self._end()

    def _end(self) -> str:
        name = self._open.pop()
        self._counts[name] -= 1
        self._builder.end()
        return name
