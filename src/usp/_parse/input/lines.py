"""The lines of a text document, with a limit on their length.

The last line of a document that is truncated is skipped: the start of a URL is another URL. A
document is known to be truncated by its transport, or because it ends inside of a character.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.values.text import NULL_BLOCK, decode_line

_LINE_END: Final = re.compile(rb"\r\n?|\n")
MAX_LINE: Final = 64 * 1024
"""How many bytes a line may have; a longer one is skipped."""
_PADDING: Final = b"\0 \t"
"""What may stand after the last line of a file that is longer than what was written into it."""
_PIECE: Final = 4 * 1024
"""How many bytes are looked at together: few enough that an odd line delays few others."""


def split_between_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of many lines; only a long line is cut."""
    is_between_lines = True
    for chunk in chunks:
        start = 0 if is_between_lines else chunk.find(b"\n") + 1
        if start:
            yield chunk[:start]
        while start < len(chunk):
            stop = chunk.rfind(b"\n", start, start + _PIECE) + 1 or start + _PIECE
            yield chunk[start:stop]
            start = stop
        is_between_lines = chunk.endswith(b"\n") if chunk else is_between_lines


class LineReader:
    """Reads the lines of one document, piece by piece."""

    def __init__(self, diagnostics: Diagnostics, start: ReadPosition = START) -> None:
        """Start at the first line, given its position in the document as received."""
        self._diagnostics = diagnostics
        self._length = start.length if diagnostics.locating else len
        self._position: Position = (start.line - 1, start.offset)  # of the last line
        self._start = start.offset  # where the next line starts
        self._incomplete = b""
        self._dropped = 0  # how long the part of a line is that was dropped
        self._too_long = self._after_return = False
        self.shown: Position | None = None
        """The position of a line that is looked at later than it was read."""
        diagnostics.position_of = lambda _at: self.shown or self._position
        diagnostics.here = 0

    @property
    def position(self) -> Position:
        """The position of the last line."""
        return self._position

    @property
    def is_between_lines(self) -> bool:
        """Whether the next piece begins with a new line."""
        return not (self._incomplete or self._too_long or self._after_return)

    def skip(self, piece: bytes) -> None:
        """Count the lines of a piece that begins and ends with one: they were read elsewhere."""
        number, _ = self._position
        self._start += self._length(piece)
        self._position = ((number or 0) + piece.count(b"\n"), self._start)

    def read(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that end in a chunk, trimmed."""
        begin = int(self._after_return and chunk.startswith(b"\n"))  # the second half of CR LF
        self._start += self._length(chunk[:begin])
        for end in _LINE_END.finditer(chunk, begin):
            line = self._incomplete + chunk[begin : end.start()]
            length = self._length(line + end[0]) + self._dropped
            is_too_long = self._too_long or len(line) > MAX_LINE
            self._incomplete, self._dropped, self._too_long = b"", 0, False
            yield self._line(None if is_too_long else line, ended=True)
            begin = end.end()
            self._start += length
        self._incomplete += chunk[begin:]
        if self._too_long or len(self._incomplete) > MAX_LINE:
            # What is too long is dropped, so that memory is bounded.
            self._dropped += self._length(self._incomplete)
            self._incomplete, self._too_long = b"", True
        self._after_return = chunk.endswith(b"\r") if chunk else self._after_return

    def end(self) -> Iterator[str]:
        """Yield the last line, which has no end."""
        yield self._line(None if self._too_long else self._incomplete, ended=False)

    def _line(self, line: bytes | None, *, ended: bool) -> str:
        number, _ = self._position
        self._position = ((number or 0) + 1, self._start)
        diagnostics = self._diagnostics
        is_cut = not ended and (diagnostics.truncated or diagnostics.cut_character)
        if line is None:
            diagnostics.report("SM310", f"a line longer than {MAX_LINE} bytes was skipped")
        elif is_cut and line.strip():
            diagnostics.report("SM209", "the last line is truncated and was skipped")
        elif NULL_BLOCK in line and (ended or line.strip(_PADDING)):
            diagnostics.report("SM209", "a line with a block of null bytes in it was skipped")
        else:
            return decode_line(line)
        return ""
