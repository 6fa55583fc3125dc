"""Comments and processing instructions: nothing in them is an entry, however long they are.

One that ends behind the buffer is passed without being held: whether it ends at all is looked for
ahead, since in one that is never closed entries are read.
"""

import re
from typing import Final, NamedTuple

from usp._parse.input.chunks import ChunksAhead
from usp._parse.xml.read_buffer import ReadBuffer


class Unparsed(NamedTuple):
    """How a comment or a processing instruction ends."""

    end: re.Pattern[bytes]
    limit: re.Pattern[bytes]
    """Its end, or what proves that it has none: a comment begins in a comment."""


COMMENT: Final = Unparsed(re.compile(rb"-->"), re.compile(rb"-->|<!--"))
INSTRUCTION: Final = Unparsed(re.compile(rb"\?>"), re.compile(rb"\?>"))
_STARTS: Final = {b"<!--": COMMENT, b"<?": INSTRUCTION}
_LONGEST_LIMIT: Final = len(b"<!--")
PART_OF_END: Final = len(b"--")
"""How much of the end of a comment or an instruction may be the last bytes of a buffer."""


def unparsed_at(data: bytes, begin: int) -> Unparsed | None:
    """Return what begins at an index: a comment, an instruction, or None."""
    return next((known for start, known in _STARTS.items() if data.startswith(start, begin)), None)


class UnparsedAhead:
    """Passes a comment or an instruction that ends behind the buffer."""

    def __init__(self, buffer: ReadBuffer) -> None:
        self.chunks = ChunksAhead(())
        """What follows the buffer."""
        self._buffer = buffer
        self._end: re.Pattern[bytes] | None = None

    @property
    def is_passed(self) -> bool:
        """Whether one is being passed."""
        return self._end is not None

    def start(self, unparsed: Unparsed) -> bool:
        """Pass one that begins in the buffer, and has no limit there; False if it has no end."""
        found = self.chunks.find(unparsed.limit, self._buffer.data, _LONGEST_LIMIT)
        if found is None or not unparsed.end.fullmatch(found):
            return False
        self._end = unparsed.end
        return True

    def end(self, offset: int) -> int | None:
        """Return where the one that is passed ends; None if it goes on.

        :param offset: up to where it was read.
        """
        begin = max(offset - PART_OF_END - self._buffer.start, 0)
        found = self._end.search(self._buffer.data, begin) if self._end else None
        if found is None:
            return None
        self._end = None
        return self._buffer.start + found.end()
