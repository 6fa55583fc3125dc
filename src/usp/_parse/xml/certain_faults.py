"""Faults that need no expat: what stands where reading has resumed is rejected for certain.

A new expat parser that finds such a fault takes as long as the repair of an entry, and a hostile
document has tens of thousands of them. Each function returns the offset that expat would give; what
else expat would meet before it, such as an unknown prefix, is told when the entry is recovered.
"""

import re
from typing import Final

_NAME: Final = rb"[A-Za-z_][A-Za-z0-9_.:-]*+"
_BLANK: Final = rb"[ \t\r\n]*+"
_TEXT: Final = rb"[\t\n\r !-%'-;=?-~]*+"
_IN_ENTRY: Final = re.compile(
    # A blank before the name of the entry's tag; after it another tag, or what begins no attribute.
    rb"<(?:(?=[ \t\r\n])|%(name)s%(blank)s(?:(?:(?<=[ \t\r\n])%(name)s%(blank)s)?+(?=<)"
    rb"|(?=[!-.0-9;=?@\[-^`{-~]))"
    # After some plain tags and texts: a control character, an interrupted tag, a bare "&".
    rb"|%(name)s%(blank)s>%(text)s(?:<%(name)s%(blank)s>%(text)s){0,4}+"
    rb"(?:(?=[\0-\x08\x0b\x0c\x0e-\x1f])|(?=</<)|<(?=[ \t\r\n<])|<%(name)s%(blank)s(?=<)"
    rb"|&(?:#x?+|%(name)s)?+(?=[ <&])))" % {b"name": _NAME, b"blank": _BLANK, b"text": _TEXT}
)
"""Up to the first character of an entry that is invalid."""
_PLAIN_END: Final = re.compile(rb"[ \t\r\n]*+</([A-Za-z_][A-Za-z0-9_.-]*+)[ \t\r\n]*+>")


def find_fault_in_entry(data: bytes, begin: int) -> int | None:
    """Return where an entry that starts here is not well-formed, if that is plain to see.

    Such as ``<url <url>``, ``<url ">``, ``<url></<url>``, ``< url>``, ``<url><loc>a & b``.
    """
    found = _IN_ENTRY.match(data, begin)
    return found.end() if found else None


def find_end_tag(data: bytes, begin: int, open_name: str) -> int | None:
    """Return where the end tag of another element than the open one stands, after blanks."""
    found = _PLAIN_END.match(data, begin)
    if found is None or found[1].decode() == open_name:
        return None
    return found.start(1) - len(b"</")
