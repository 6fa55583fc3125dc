"""An expat parser that begins inside of open elements, at an offset of the document.

expat remembers every name and every open element as long as a parser lives. How much that is can be
asked for here; when to replace a parser is decided by the expat reader.
"""

from typing import Final
from xml.parsers import expat

from usp._parse.xml.entry_builder import MAX_DEPTH, EntryBuilder
from usp._parse.xml.swallowed import SwallowedEntries

_MAX_NAMES: Final = 4096
_MAX_NAMES_LENGTH: Final = 1024 * 1024
"""How many names a parser may remember, and how long they may be in all."""


_DEFERS: Final = hasattr(expat.ParserCreate(), "SetReparseDeferralEnabled")


class ExpatParser:
    """Sends the elements and texts of a part of a document to the builder."""

    def __init__(
        self, builder: EntryBuilder, path: list[str], offset: int, swallowed: SwallowedEntries
    ) -> None:
        """Begin at an offset, inside the elements of the path."""
        self._parser = parser = expat.ParserCreate("utf-8")  # overrides the XML declaration
        self._builder = builder
        parser.buffer_text = True
        if _DEFERS:  # not needed, since tokens are bounded
            parser.SetReparseDeferralEnabled(False)
        head = "".join(f"<{name}>" for name in path).encode()
        if head:
            parser.Parse(head, False)
        self._zero = offset - len(head)  # the offset of the parser's own byte 0
        parser.StartElementHandler = builder.start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = builder.text
        parser.StartCdataSectionHandler = self._start_section
        parser.EndCdataSectionHandler = self._end_section
        self._swallowed = swallowed
        self.section: int | None = None
        """The offset of the CDATA section that is open."""
        self.refuses_sections = False
        """Whether it stops where a CDATA section begins: it is known that none ends."""
        builder.position = self._position
        builder.nesting.refuse = self._stop
        self.refused_at: int | None = None
        """The offset at which the builder refused to continue; it gets nothing after it."""
        self.parse = parser.Parse
        """Parses bytes; raises ``ExpatError`` at a fault."""

    def offset(self) -> int:
        """Return the offset of the current event, or of a token that is incomplete."""
        return self._zero + self._parser.CurrentByteIndex

    def _position(self) -> int:
        """Return the offset of the current event, or of the CDATA section that it is in.

        expat hands over the text of a section in parts: which ones depends on how it is fed.
        """
        return self.offset() if self.section is None else self.section

    def _start_section(self) -> None:
        self.section = self.offset()
        if self.refuses_sections:
            self._stop()
            return
        self._swallowed.start(self.section)

    def _end_section(self) -> None:
        self.section = None
        self._swallowed.end(self.offset())

    def _stop(self) -> None:
        self.refused_at = self.offset()
        self._remove_handlers()

    @property
    def error_offset(self) -> int:
        """The offset of the fault."""
        return self._zero + self._parser.ErrorByteIndex

    def flush_text(self) -> None:
        """Send the text before a fault, which the parser holds back."""
        self._parser.buffer_text = False

    @property
    def is_crowded(self) -> bool:
        """Whether there are more names or open elements than any real document has."""
        names = self._parser.intern
        return (
            len(names) > _MAX_NAMES
            or self._builder.depth > MAX_DEPTH
            or sum(map(len, names)) > _MAX_NAMES_LENGTH
        )

    def skip(self, length: int) -> None:
        """Continue behind bytes that were read without this parser."""
        self._zero += length

    def release(self) -> None:
        """Break the reference cycles with the builder."""
        self._builder.position = int
        self._builder.nesting.refuse = None
        self._remove_handlers()

    def _remove_handlers(self) -> None:
        self._parser.StartElementHandler = None
        self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = None
        self._parser.StartCdataSectionHandler = None
        self._parser.EndCdataSectionHandler = None
