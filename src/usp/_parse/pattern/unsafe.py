"""What an entry must not contain: what expat would reject, or read in another way."""

import re
from typing import Final

from usp._parse.values.bounded_cache import BoundedLookup

_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32)])
_UNSAFE: Final = re.compile(f"[{re.escape(_CONTROLS.decode())}\ufffe\uffff]")
_NO_CHARACTER: Final = re.compile(b"\xef\xbf[\xbe\xbf]").search
"""Finds U+FFFE and U+FFFF: a third of the time of ``in`` for several bytes."""
_FIRST_OF_THESE: Final = b"\xef"
"""Their first byte. A single one is found many times as fast, and most blocks don't contain it."""
_GOOD_REFERENCE: Final = re.compile(
    # The five entities of XML, and characters that XML certainly allows.
    r"(?:amp|lt|gt|quot|apos"
    r"|#0{0,5}(?:3[2-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-47-9][0-9]{4}|[1-9][0-9]{5})"
    r"|#x0{0,5}(?:[2-9A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Ca-c][0-9A-Fa-f]{3}"
    r"|[1-9A-Fa-f][0-9A-Fa-f]{4}));"
)
_WRITTEN_REFERENCES: Final = re.compile("&([#0-9A-Za-z]*+;?+)").findall
_MAX_NAMES: Final = 4096
_LONGEST_NAME: Final = 16
"""How many references are remembered, and how long their names are."""
_is_good_reference: Final = BoundedLookup(
    lambda name: _GOOD_REFERENCE.fullmatch(name) is not None, _MAX_NAMES, _LONGEST_NAME
)
"""By what follows the ``&``, with the semicolon."""


def has_bad_reference(text: str) -> bool:
    """Tell whether a reference in a text may be invalid: much faster than a search for one."""
    return not all(map(_is_good_reference.__getitem__, set(_WRITTEN_REFERENCES(text))))


def may_have_unsafe(block: bytes) -> bool:
    """Tell whether there may be a character in some bytes that XML can't contain.

    Most have none, which is found out at once: a search for each is the fastest.
    """
    if any(map(block.__contains__, _CONTROLS)):
        return True
    return _FIRST_OF_THESE in block and _NO_CHARACTER(block) is not None


class UnsafeSearch:
    """Finds the characters in a text that XML can't contain."""

    def __init__(self, block: bytes, text: str) -> None:
        self._text = text
        self._next = -1 if may_have_unsafe(block) else len(text)

    def next(self, begin: int) -> int:
        """Return the index of the next one, or the length of the text; never search twice."""
        if self._next < begin:
            found = _UNSAFE.search(self._text, begin)
            self._next = found.start() if found else len(self._text)
        return self._next
