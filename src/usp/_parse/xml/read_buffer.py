"""The bytes of a document that are still needed, and what was searched for in them.

After each fault the rest of the buffer is searched for the next entry, the end of a comment and so
on. What such a search finds is kept until reading has passed it, so that the faults of a document
take linear time, however many they are (issue 12).
"""

import re
from typing import Final

from usp._parse.diagnostics import Position, ReadPosition

Pattern = re.Pattern[bytes]
_PIECE: Final = 64 * 1024
"""How many bytes are searched at once: a search holds the interpreter lock, which event loops and
time limits wait for."""


class ReadBuffer:
    """A part of a document; an offset counts in the whole document, an index in the part."""

    def __init__(self, position: ReadPosition) -> None:
        self.data = b""
        self.start = 0
        """The offset of the first byte."""
        self._position = position
        self._last_position = 0, position
        """The last offset whose position was needed."""
        self._searches: dict[tuple[Pattern, str], tuple[int, re.Match[bytes] | None]] = {}
        """By pattern and purpose, from which index on it was searched for, and what was found."""

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.start + len(self.data)

    def append(self, data: bytes) -> None:
        """Add the next bytes of the document."""
        self.data += data
        self._searches.clear()

    def drop_before(self, offset: int, *, counting: bool) -> None:
        """Forget the bytes before an offset; lines are counted if somebody needs positions."""
        index = offset - self.start
        if counting:
            self._position = self._position.past(self.data[:index])
        self.data = self.data[index:]
        self.start = offset
        self._searches.clear()

    def position_of(self, offset: int) -> Position:
        """Return the line and the offset in the document as received.

        It is counted from the last one: most come in order.
        """
        known, position = self._last_position
        if not self.start <= known <= offset:
            known, position = self.start, self._position
        read = self.data[known - self.start : max(offset - self.start, 0)]
        self._last_position = max(offset, known), position.past(read)
        return self._last_position[1].position

    def search(self, pattern: Pattern, begin: int, purpose: str = "") -> re.Match[bytes] | None:
        """Return the first match from an index on, without searching the same bytes twice.

        Only a search from an earlier index than before has to begin again.

        :param purpose: tells searches apart that run ahead of one another with the same pattern.
        """
        key = pattern, purpose
        if key in self._searches:
            searched_from, found = self._searches[key]
            if begin >= searched_from and (found is None or found.start() >= begin):
                return found
        found = _first(pattern, self.data, begin)
        self._searches[key] = begin, found
        return found


def _first(pattern: Pattern, data: bytes, begin: int) -> re.Match[bytes] | None:
    """Return the first match, searching one piece after the other.

    A piece ends with a ``<``, which may begin what is searched for, and no match goes on over one.
    """
    while (stop := data.find(b"<", begin + _PIECE)) >= 0:
        found = pattern.search(data, begin, stop + 1)
        if found:
            return found
        begin = stop
    return pattern.search(data, begin)
