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
from usp._parse.xml.unparsed import COMMENT, INSTRUCTION

_COMMENT_START: Final = re.compile(rb"<!--")
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


def find_comment(data: bytes, fault: int, begin: int) -> int | None:
    """Return where the comment begins that a fault is in; None if it is in none."""
    last_end = data.rfind(b"-->", begin, fault)
    comment = data.find(b"<!--", max(last_end, begin), fault)
    return comment if comment >= 0 and not _is_in_section(data, begin, comment) else None


def _is_in_section(data: bytes, begin: int, at: int) -> bool:
    """Tell whether an index is inside of a CDATA section that starts after another one."""
    return data.rfind(b"<![CDATA[", begin, at) > data.rfind(b"]]>", begin, at)


def without_comments(data: bytes) -> bytes:
    """Return what is written outside of comments."""
    kept: list[bytes] = []
    at = 0
    while (begin := data.find(b"<!--", at)) >= 0 and (end := data.find(b"-->", begin)) >= 0:
        kept.append(data[at:begin])
        at = end + len(b"-->")
    return b"".join([*kept, data[at:]])


def is_unclosed_instruction(buffer: ReadBuffer, begin: int) -> bool:
    """Tell whether a processing instruction begins here that has no end."""
    is_begun = buffer.data.startswith(b"<?", begin)
    return is_begun and buffer.search(INSTRUCTION.end, begin) is None


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

    What is in a comment is no entry. At one that goes on behind the buffer, reading resumes.
    """
    while match := buffer.search(starts, begin):
        comment = buffer.search(_COMMENT_START, begin)
        if comment is None or comment.start() > match.start():
            return match.start()
        is_text = _is_in_section(buffer.data, begin, comment.start())
        limit = None if is_text else buffer.search(COMMENT.limit, comment.end())
        if limit is None and not (final or is_text):
            return comment.start()
        # One in which another one begins is not closed.
        begin = limit.end() if limit and limit[0] == b"-->" else comment.end()
    data = buffer.data
    last = -1 if final else data.rfind(b"<", begin + 1)
    return last if last >= 0 and b">" not in data[last:] else len(data)
