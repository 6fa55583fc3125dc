"""Where reading resumes after a fault: pure searches in the bytes around it.

All positions are indexes into the buffer. Reading the malformed entry itself is for ``recovery``;
which of these searches applies is decided by the expat reader. A search looks either between the
last fault and this one, or ahead with ``ReadBuffer.search``, which never looks twice.
"""

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final

from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.unparsed import (
    SECTION,
    UNPARSED,
    UNPARSED_START,
    UnparsedPart,
    unparsed_parts,
)

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


def find_unparsed(data: bytes, fault: int, begin: int) -> UnparsedPart | None:
    """Return the comment or the instruction that a fault is in; None if it is in none."""
    for part in unparsed_parts(data, begin, fault):
        if part.end == fault and part.kind is not SECTION:
            return part
    return None


def without_comments(data: bytes) -> bytes:
    """Return what is written outside of comments and instructions."""
    kept: list[bytes] = []
    at = 0
    for part in unparsed_parts(data):
        if part.kind is not SECTION and part.end < len(data):
            kept.append(data[at : part.start])
            at = part.end + len(part.kind.closing)
    return b"".join([*kept, data[at:]])


def skip_end_tags(data: bytes, begin: int, open_names: AbstractSet[str]) -> int:
    """Return where a sequence of end tags ends that close no open element."""
    end = begin
    while (tag := END_TAG.match(data, end)) and tag[1].decode("utf-8", "replace") not in open_names:
        end = tag.end()
    return end


def find_next_start(
    buffer: ReadBuffer, begin: int, starts: re.Pattern[bytes], *, final: bool
) -> int:
    """Return where the next entry starts, or where an incomplete tag starts, else the end.

    What is in a comment or an instruction is no entry. At one that goes on behind the buffer, and
    at a CDATA section, whose text counts, reading resumes.
    """
    while match := buffer.search(starts, begin):
        part = buffer.search(UNPARSED_START, begin)
        if part is None or part.start() > match.start():
            return match.start()
        kind = UNPARSED[part[0]]
        limit = buffer.search(kind.limit, part.end())
        is_closed = limit is not None and kind.is_closed_by(limit)
        if (limit is None and not final) or (is_closed and kind is SECTION):
            return part.start()
        # In one that is not closed, entries are read.
        begin = limit.end() if limit and is_closed else part.end()
    data = buffer.data
    last = -1 if final else data.rfind(b"<", begin + 1)
    return last if last >= 0 and b">" not in data[last:] else len(data)
