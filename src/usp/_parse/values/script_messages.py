"""The messages of PHP inside of a text: warnings, notices and errors, as text or as HTML.

PHP prints them wherever it is in its output, so also in the middle of a URL. Their form is fixed:
the kind and a colon, then the message, and the line at its end. What stands before and after one
belongs together. What a message means for a list of lines is decided in ``formats.script_lines``.
"""

import re
from typing import Final

_KINDS: Final = (
    r"(?:PHP\s++)?(?:Warning|Notice|Deprecated|Strict Standards"
    r"|(?:[A-Z][a-z]++ (?:fatal )?)?[Ee]rror)"
)
_FATAL_KINDS: Final = ("atal error", "Parse error")
"""What the kinds of errors have in their names that end a script: also of one that it includes."""
MESSAGE_START: Final = re.compile(rf"(?:<b>)?+{_KINDS}(?:</b>)?+\s*+:")
HTML_START: Final = re.compile(rf"<b>{_KINDS}</b>\s*+:")
MESSAGE_END: Final = re.compile(
    r"\son line (?:<b>)?+[0-9]++(?:</b>)?+(?:\s{0,9}+<br\s?/?>)?+\s*+", re.IGNORECASE
)
LINE_BREAK_BEFORE: Final = re.compile(r"<br\s?/?>\s{0,9}\Z", re.IGNORECASE)
"""What PHP prints before a message in HTML, besides blanks."""
_ON_LINE: Final = " on line "
_LONGEST_BREAK: Final = 16


def may_have_message(text: str) -> bool:
    """Tell whether a message may begin or end in a text; nearly always not."""
    return _ON_LINE in text or "<b>" in text or is_fatal(text)


def is_fatal(text: str) -> bool:
    """Tell whether a text has the name of an error that ends a script."""
    return _FATAL_KINDS[0] in text or _FATAL_KINDS[1] in text


def remove_messages(text: str) -> str:
    """Return a text without the messages in it, if it has any that is complete."""
    if _ON_LINE not in text:
        return text
    kept, end = [], 0
    while (start := MESSAGE_START.search(text, end)) and (
        last := MESSAGE_END.search(text, start.end())
    ):
        kept.append(without_line_break(text[end : start.start()]))
        end = last.end()
    return "".join([*kept, text[end:]])


def without_line_break(before: str) -> str:
    """Return what stands before a message without the line break that PHP prints before it."""
    begin = max(len(before) - _LONGEST_BREAK, 0)
    if line_break := LINE_BREAK_BEFORE.search(before, begin):
        return before[: line_break.start()]
    return before.rstrip()


def is_incomplete_message(text: str) -> bool:
    """Tell whether a message in HTML begins in a text, and its end is missing."""
    return (
        HTML_START.search(text) is not None and HTML_START.search(remove_messages(text)) is not None
    )
