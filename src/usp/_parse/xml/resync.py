"""Where reading resumes after a fault: pure searches in the bytes around it.

All positions are indexes into the buffer. Reading the malformed entry itself is for ``recovery``;
which of these searches applies is decided by the expat reader. A search looks either between the
last fault and this one, or ahead with ``ReadBuffer.search``, which never looks twice.
"""

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from usp._parse.input.chunks import ChunksAhead
from usp._parse.xml.read_buffer import ReadBuffer

_COMMENT_END: Final = re.compile(rb"-->")
_COMMENT_LIMIT: Final = re.compile(rb"-->|<!--")
_INSTRUCTION_END: Final = re.compile(rb"\?>")
_LONGEST_LIMIT: Final = len(b"<!--")
PART_OF_END: Final = len(b"--")
"""How much of the end of a comment or an instruction may be the last bytes of a buffer."""
END_TAG: Final = re.compile(rb"\s*</([^\s<>]+)[ \t\r\n]*>")
"""An end tag that expat accepts, after whitespace of any kind: XML knows four of the six."""


def find_malformed_start(
    data: bytes, fault: int, begin: int, is_start: Callable[[bytes, int], bool]
) -> int | None:
    """Return where the entry starts whose start tag is malformed at ``fault``; None if none is.

    The search ends at ``begin``, where reading last resumed: otherwise it would find the same fault
    again and again.
    """
    tag = data.rfind(b"<", begin, fault)
    written = data[tag:fault] if tag >= 0 else b">"
    unfinished = b">" not in written or written.count(b'"') % 2 or written.count(b"'") % 2
    for start in (tag if unfinished else -1, fault):
        if start >= 0 and is_start(data, start):
            return start
    return None


class Unparsed(NamedTuple):
    """What may contain anything that looks like a tag, and means nothing: how it ends."""

    end: re.Pattern[bytes]
    limit: re.Pattern[bytes]
    """Its end, or what proves that it has none: a comment begins in a comment."""

    def is_closed_ahead(self, data: bytes, ahead: ChunksAhead) -> bool:
        """Tell whether it ends, given that it begins in this data, and has no limit there."""
        found = ahead.find(self.limit, data, _LONGEST_LIMIT)
        return found is not None and self.end.fullmatch(found) is not None


COMMENT: Final = Unparsed(_COMMENT_END, _COMMENT_LIMIT)
UNPARSED: Final = {b"<!--": COMMENT, b"<?": Unparsed(_INSTRUCTION_END, _INSTRUCTION_END)}
"""By how it begins."""


def find_comment(data: bytes, fault: int, begin: int) -> int | None:
    """Return where the comment begins that a fault is in; None if it is in none."""
    comment = data.find(b"<!--", begin, fault)
    if comment < 0 or data.find(b"-->", comment, fault) >= 0:
        return None
    return comment


def is_unclosed_instruction(buffer: ReadBuffer, begin: int) -> bool:
    """Tell whether a processing instruction begins here that has no end."""
    is_begun = buffer.data.startswith(b"<?", begin)
    return is_begun and buffer.search(_INSTRUCTION_END, begin) is None


def skip_end_tags(data: bytes, begin: int, open_names: AbstractSet[str]) -> int:
    """Return where a sequence of end tags ends that close no open element."""
    end = begin
    while (tag := END_TAG.match(data, end)) and tag[1].decode("utf-8", "replace") not in open_names:
        end = tag.end()
    return end


def find_next_start(
    buffer: ReadBuffer, begin: int, starts: re.Pattern[bytes], *, final: bool
) -> int:
    """Return where the next entry starts, or where an incomplete tag starts, else the end."""
    match = buffer.search(starts, begin)
    if match:
        return match.start()
    data = buffer.data
    last = -1 if final else data.rfind(b"<", begin + 1)
    return last if last >= 0 and b">" not in data[last:] else len(data)
