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

_COMMENT_END: Final = re.compile(rb"-->")
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


def skip_comment(buffer: ReadBuffer, fault: int, begin: int, starts: re.Pattern[bytes]) -> int:
    """Return where to search for the next entry, if the fault is inside a comment, else ``fault``.

    That is after the comment if it only contains ``--``, and inside it if it has no end of its own:
    another comment or entry starts before the next ``-->``.
    """
    data = buffer.data
    comment = data.find(b"<!--", begin, fault)
    if comment < 0 or data.find(b"-->", comment, fault) >= 0:
        return fault
    end = buffer.search(_COMMENT_END, fault)
    if end is None or data.find(b"<!--", fault, end.start()) >= 0:
        return comment + 1
    return comment + 1 if starts.search(data, comment, fault) else end.end()


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
