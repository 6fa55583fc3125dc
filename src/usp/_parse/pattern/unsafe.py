"""What an entry must not contain: what expat would reject, or read in another way."""

import re
from typing import Final

Hazards = tuple[tuple[re.Pattern[str], tuple[bytes, ...]], ...]
"""Patterns, and the bytes that each can begin with, which are fast to search for."""

_CONTROLS: Final = "".join(map(chr, [*range(9), 11, 12, *range(14, 32)]))
UNSAFE: Final[Hazards] = (
    (re.compile(f"[{re.escape(_CONTROLS)}]"), tuple(char.encode() for char in _CONTROLS)),
    (re.compile("[\ufffe\uffff]"), (b"\xef\xbf",)),
)
BAD_REFERENCE: Final = re.compile(
    # Good are the five entities of XML, and characters that XML certainly allows.
    r"&(?!(?:amp|lt|gt|quot|apos"
    r"|#(?:3[2-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-47-9][0-9]{4}|[1-9][0-9]{5})"
    r"|#x(?:[2-9A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Ca-c][0-9A-Fa-f]{3}"
    r"|[1-9A-Fa-f][0-9A-Fa-f]{4}));)"
)


class UnsafeSearch:
    """Finds the next match of any of some patterns in a text."""

    def __init__(self, block: bytes, text: str, hazards: Hazards) -> None:
        self._text = text
        self._block = block
        self._hazards = hazards
        # The next index of each pattern that may occur; None before the first search.
        self._next: dict[re.Pattern[str], int] | None = None

    def next(self, begin: int) -> int:
        """Return the index of the next one, or the length of the text.

        Each pattern is searched for only behind its last index. Otherwise a rare one would be
        searched for through the whole block at each occurrence of a frequent one.
        """
        text = self._text
        if self._next is None:
            occurs = self._block.__contains__
            self._next = {
                pattern: -1 for pattern, begins in self._hazards if any(map(occurs, begins))
            }
        for pattern, index in self._next.items():
            if index < begin:
                found = pattern.search(text, begin)
                self._next[pattern] = found.start() if found else len(text)
        return min(self._next.values(), default=len(text))
