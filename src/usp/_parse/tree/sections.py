"""Long CDATA sections of a feed, set aside before its tree is built.

Feeds have whole articles in CDATA, and nothing of them is markup. expat hands such a text over line
by line, which takes longer than all the rest of the document; mostly nobody reads it. So a section
gets a short text instead, which refers to the one that was set aside.
"""

import re
from typing import Final

from usp._parse.pattern.unsafe import may_have_unsafe
from usp._parse.xml.unparsed import SECTION, unparsed_parts

_CDATA: Final = b"<![CDATA["
_MARK: Final = "\ue000"
"""Encloses the number of a section. It means nothing in any script, so that hardly a document has
it or its neighbours; in one that has, nothing is set aside."""
_MARK_REFERENCE: Final = re.compile(rb"&#(?:0*+57344|x0*+[eE]000);")
"""The same, written as a reference."""
_LONG: Final = 200
"""Of shorter sections, to set them aside takes as long as it saves."""


class Sections:
    """The CDATA sections of one document, which is valid UTF-8."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._spans: list[tuple[int, int]] = []
        self._texts: list[bytes] = []
        if b"[" in data:  # a single byte is found many times as fast as several
            sections = (part for part in unparsed_parts(data) if part.kind is SECTION)
            self._spans = [(part.text, part.end) for part in sections]

    @property
    def are_nested(self) -> bool:
        """Whether one begins in another one, which was not closed then."""
        data = self._data
        return any(
            data.find(b"[", begin, end) >= 0 and data.rfind(_CDATA, begin, end) >= 0
            for begin, end in self._spans
        )

    def set_aside(self) -> bytes:
        """Return the document without the texts of its long sections.

        It is well-formed if and only if the document is.
        """
        data, mark = self._data, _MARK.encode()
        if not self._spans or mark[:1] in data or may_have_unsafe(data):
            return data
        if _MARK_REFERENCE.search(data):
            return data
        kept: list[bytes] = []
        copied = 0
        for begin, end in self._spans:
            if end - begin > _LONG:
                kept += data[copied:begin], mark, str(len(self._texts)).encode(), mark
                self._texts.append(data[begin:end])
                copied = end
        kept.append(data[copied:])
        return b"".join(kept)

    def restored(self, text: str) -> str:
        """Return a text with the sections that it refers to, as expat would have given it."""
        if not self._texts or _MARK not in text:
            return text
        pieces = text.split(_MARK)
        pieces[1::2] = [_with_line_ends(self._texts[int(number)]) for number in pieces[1::2]]
        return "".join(pieces)


def _with_line_ends(text: bytes) -> str:
    """Return a text as expat gives it: XML has one form of a line end (XML 1.0, 2.11)."""
    return (text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text).decode()
