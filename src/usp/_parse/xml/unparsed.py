"""Comments, processing instructions and CDATA sections: no tag in them is one, nor is an entry.

A comment or an instruction that ends behind the buffer is passed without being held: whether it
ends at all is looked for ahead, since in one that is never closed entries are read. So it is with a
long CDATA section, whose text is read.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from usp._parse.input.chunks import CHUNK_SIZE, ChunksAhead
from usp._parse.xml.read_buffer import ReadBuffer


class Unparsed(NamedTuple):
    """How one kind of them ends."""

    closing: bytes
    end: re.Pattern[bytes]
    limit: re.Pattern[bytes]
    """Its end, or what proves that it has none: a comment begins in a comment."""

    def is_closed_by(self, limit: re.Match[bytes]) -> bool:
        """Tell whether a limit is its end."""
        return limit[0] == self.closing


COMMENT: Final = Unparsed(b"-->", re.compile(rb"-->"), re.compile(rb"-->|<!--"))
INSTRUCTION: Final = Unparsed(b"?>", re.compile(rb"\?>"), re.compile(rb"\?>"))
SECTION: Final = Unparsed(b"]]>", re.compile(rb"\]\]>"), re.compile(rb"\]\]>"))
UNPARSED: Final = {b"<!--": COMMENT, b"<?": INSTRUCTION, b"<![CDATA[": SECTION}
"""By how each begins."""
UNPARSED_START: Final = re.compile(rb"<!--|<\?|<!\[CDATA\[")
_COMMENT_END: Final = re.compile(rb"(?<!<!)(?<!<!-)-->")
"""The end of a comment, whatever begins in it; that of ``<!-->`` is part of its beginning."""
_LONGEST_LIMIT: Final = len(b"<!--")
PART_OF_END: Final = len(b"--")
"""How much of the end of a comment or an instruction may be the last bytes of a buffer."""


class UnparsedPart(NamedTuple):
    """One of them in some bytes: where it starts, and where its text begins and ends."""

    kind: Unparsed
    start: int
    text: int
    end: int


def unparsed_parts(data: bytes, begin: int = 0, stop: int | None = None) -> Iterator[UnparsedPart]:
    """Yield the unparsed parts; one that is not closed ends at ``stop``, or where the data does."""
    stop = len(data) if stop is None else stop
    while found := UNPARSED_START.search(data, begin, stop):
        kind = UNPARSED[found[0]]
        end = data.find(kind.closing, found.end(), stop)
        begin = end if end >= 0 else stop
        yield UnparsedPart(kind, found.start(), found.end(), begin)


class UnparsedAhead:
    """Passes a comment or an instruction that ends behind the buffer."""

    def __init__(self, buffer: ReadBuffer) -> None:
        self.chunks = ChunksAhead(())
        """What follows the buffer."""
        self._buffer = buffer
        self._end: re.Pattern[bytes] | None = None
        self.held_section: int | None = None
        """The offset of a CDATA section that goes on behind the buffer, and may have no end."""
        self._ending_section: int | None = None  # one that has an end

    def is_endless(self, section: int | None) -> bool:
        """Tell whether a CDATA section that is open at the end of the buffer never ends.

        Nearly all end soon: what follows is searched for the end of a long one only.

        :param section: its offset; None if none is open.
        """
        self.held_section = None
        if section is None or section == self._ending_section:
            return False
        if self._buffer.end - section < CHUNK_SIZE:
            self.held_section = section
            return False
        if self.chunks.find(SECTION.end, self._buffer.data, len(SECTION.closing)) is None:
            return True
        self._ending_section = section
        return False

    @property
    def is_passed(self) -> bool:
        """Whether one is being passed."""
        return self._end is not None

    def start(self, unparsed: Unparsed) -> bool:
        """Pass one that begins in the buffer, and has no limit there; False if it has no end."""
        found = self.chunks.find(unparsed.limit, self._buffer.data, _LONGEST_LIMIT)
        if found != unparsed.closing:
            return False
        self._end = unparsed.end
        return True

    def pass_fault(self, part: UnparsedPart, starts: re.Pattern[bytes], *, final: bool) -> int:
        """Return where to search for the next entry: after a comment or instruction with a fault.

        :param starts: what an entry starts with.
        """
        if part.kind is COMMENT:
            return self._pass_comment(part.start, starts, final=final)
        if end := self._buffer.search(INSTRUCTION.end, part.text):
            return end.end()
        is_passed = not final and self.start(INSTRUCTION)
        return len(self._buffer.data) if is_passed else part.text

    def _pass_comment(self, comment: int, starts: re.Pattern[bytes], *, final: bool) -> int:
        """Return where to search for the next entry: after a comment that has a fault.

        A comment may contain ``--`` (commented entries do, in their URLs), and begin again. One
        that has no end of its own, since another one begins after some entries, is none: these are
        read.

        :param comment: the index at which it begins.
        :param starts: what an entry starts with.
        """
        buffer = self._buffer
        first = buffer.search(starts, comment)
        end = buffer.search(_COMMENT_END, comment + len(b"<!--"))
        if end and (not first or end.start() < first.start()):
            return end.end()
        if first and (limit := buffer.search(COMMENT.limit, first.start(), "after an entry")):
            return limit.end() if COMMENT.is_closed_by(limit) else comment + 1
        is_passed = not final and self.start(COMMENT)
        return len(buffer.data) if is_passed else comment + 1

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
