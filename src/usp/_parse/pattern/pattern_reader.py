"""The pattern reader: reads entries with one regular expression that is learned from the file.

The expat reader reads the first entries. Their shapes (``shape``) are compiled into one regular
expression (``compile``): tags literal, values captured, elements that some entries lack optional.
Consecutive entries are matched at a fraction of the cost of expat and its handlers.

The pattern reader never changes a result. It gives an entry only if expat would give the same:

- The shape was read by expat first, under the same namespaces. An entry that does not match goes to
  expat, and its shape is merged into the pattern, so that the next one like it matches.
- A value contains no ``<``. A value of a plain entry contains nothing else that expat would reject
  or change. For other entries each block is searched for such things once: control characters,
  ``]]>``, references that aren't plain. An entry with one of them goes to expat.
- Whether a pattern is worth its cost is decided by counting: a file in which no two entries are
  alike is left to expat until its next block, and no more is learned from one whose odd entries
  are all different.

Matching works on a str with one character for each byte (``text_conversion``): offsets stay true.
"""

import re
from itertools import islice
from typing import Final

from usp._parse.pattern.compile import compile_pattern
from usp._parse.pattern.groups import EntryPattern, MatchRecord, MatchRun
from usp._parse.pattern.shape import BLANKS, Element, merge_shapes, shape_of
from usp._parse.pattern.text_conversion import ANYTHING, REFERENCES, TextConversion, conversion_for
from usp._parse.values.plain import PLAIN_URL, plain_url_like
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.namespaces import NamespaceScope

_LONGEST_RUN: Final = 256
"""Few enough that the matches are still in the CPU cache when their pages are made."""
_MISS: Final = 2
"""An entry that does not match costs as much as two matches save."""
_MISSES: Final = 64
"""The budget for misses in one block; half of it in the next block if nothing matches."""
_FEWEST_MISSES: Final = 8
_MOST_LEFT: Final = 1024
_MAX_LESSONS: Final = 100
"""How many entries of new shapes a pattern is learned from."""
_WORTH: Final = 8 * 1024
"""In fewer bytes than these, compiling a pattern costs more than it saves."""
_LONGEST: Final = 64 * 1024
_CONTROLS: Final = bytes(code for code in range(32) if code not in b"\t\r\n")
_PLAIN_REFERENCE: Final = (
    # The five entities of XML, and characters that XML certainly allows.
    r"(?:amp|lt|gt|quot|apos"
    r"|#(?:3[2-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-47-9][0-9]{4}|[1-9][0-9]{5})"
    r"|#x(?:[2-9A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Ca-c][0-9A-Fa-f]{3}"
    r"|[1-9A-Fa-f][0-9A-Fa-f]{4}))"
)
_UNSAFE: Final = (
    # A pattern, and the bytes that it can begin with, which are fast to search for.
    (re.compile(rb"[%s]" % re.escape(_CONTROLS)), _CONTROLS),
    (re.compile(rb"\]\]>"), b"]"),
    (re.compile(rb"\xef\xbf[\xbe\xbf]"), b"\xef"),  # U+FFFE and U+FFFF
    (re.compile(rf"&(?!{_PLAIN_REFERENCE};)".encode()), b"&"),
)
"""What expat would reject or change."""
_LEADING: Final = re.compile(BLANKS)


class PatternReader:
    """Learns the pattern of the entries of one document, and reads those that match it."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._shape: Element | None = None
        self._scope: NamespaceScope | None = None  # the namespaces under which it was learned
        self._entry_pattern: EntryPattern | None = None
        self._name = ""  # of the entries
        self._alike = 0  # entries without a new shape since the last pattern
        self._wanted = 2  # how many of them are needed before the next pattern
        self._lessons = 0  # entries with a new shape, learned or not
        self._misses = _MISSES
        self._left = 0  # what is left of the budget for misses
        self._block = b""
        self._view = ""
        # The next offset of each unsafe pattern; None before the first search.
        self._unsafe: dict[re.Pattern[bytes], int] | None = None
        self._conversion: TextConversion | None = None  # None before it is needed

    def show(self, block: bytes) -> None:
        """Start with a new block of bytes."""
        self._block = block
        self._view = ""
        self._unsafe = self._conversion = None
        # A small document is not worth a pattern.
        worth_it = self._entry_pattern is not None or len(block) >= _WORTH
        self._left = max(self._left, self._misses) if worth_it else 0

    @property
    def is_learning(self) -> bool:
        """Whether it still tries to match entries of this block."""
        return self._left > 0

    def read(self, begin: int, scope: NamespaceScope, zero: int) -> tuple[MatchRun | None, int]:
        """Return the entries that match from an offset in the block on, and where they end.

        ``zero`` is the offset of the block in the document.
        """
        entry_pattern = self._entry_pattern
        if entry_pattern is None or scope is not self._scope or self._left <= 0:
            return None, begin
        self._view = self._view or self._block.decode("latin-1")
        blanks = _LEADING.match(self._view, begin)
        begin = blanks.end() if blanks else begin
        conversion = REFERENCES
        found = self._matches(entry_pattern.plain_pattern, begin, len(self._view))
        if not found:
            conversion = self._conversion = self._conversion or conversion_for(self._block)
            found = self._matches(entry_pattern.pattern, begin, self._next_unsafe(begin))
        if not found:
            return None, begin
        self._left = min(self._left + len(found), _MOST_LEFT)
        self._misses = _MISSES
        return MatchRun(self._name, zero, entry_pattern, conversion, found), found[-1].end()

    def _matches(
        self, pattern: re.Pattern[str] | None, begin: int, stop: int
    ) -> list[re.Match[str]]:
        """Return consecutive matches."""
        if pattern is None:
            return []
        scanner = pattern.scanner(self._view, begin, stop)  # type: ignore[attr-defined]
        return list(islice(iter(scanner.match, None), _LONGEST_RUN))  # as re.Scanner does it

    def miss(self) -> None:
        """Record that what looked like the end of an entry was inside a comment."""
        self._left //= 2

    def _next_unsafe(self, begin: int) -> int:
        """Return the next unsafe offset, or the end of the block.

        Each pattern is searched for only behind its last offset. Otherwise a rare one would be
        searched for through the whole block at each occurrence of a frequent one.
        """
        if self._unsafe is None:
            self._unsafe = {
                pattern: -1
                for pattern, begins in _UNSAFE
                if any(map(self._block.__contains__, begins))
            }
        for pattern, place in self._unsafe.items():
            if place < begin:
                found = pattern.search(self._block, begin)
                self._unsafe[pattern] = found.start() if found else len(self._block)
        return min(self._unsafe.values(), default=len(self._block))

    def learn(self, begin: int, stop: int, scope: NamespaceScope, entry: Entry) -> None:
        """Learn from an entry that the expat reader has read, given its offsets."""
        text = self._block[begin:stop].decode("latin-1")
        self._left -= _MISS
        if self._left <= 0:
            self._misses = max(self._misses // 2, _FEWEST_MISSES)
        known = self._entry_pattern is not None and scope is self._scope
        if known and self._entry_pattern and self._entry_pattern.pattern.fullmatch(text):
            return  # it was split between two blocks, or contains something unsafe
        if self._left <= 0:
            self._forget()
            return
        if len(text) > _LONGEST or self._lessons >= _MAX_LESSONS:
            return
        shape = shape_of(text, self._grammar, scope)
        if shape is None:
            return
        if scope is not self._scope:
            self._forget()
            self._scope = scope
        merged = merge_shapes(self._shape, shape) if self._shape else shape
        if merged is not None and merged == self._shape:
            self._alike += 1
        else:
            self._lessons += 1
            self._shape = merged or self._shape
        if self._alike >= self._wanted and len(self._block) - stop >= _WORTH:
            self._compile(text, entry)

    def _compile(self, text: str, entry: Entry) -> None:
        """Compile the pattern of the merged shape; keep it only if it reproduces this entry."""
        self._alike = 0
        self._wanted *= 2
        url = next((text for key, text in entry[1] if key == self._grammar.url_field), "")
        plain = {
            key: plain_url_like(url) if pattern == PLAIN_URL else pattern
            for key, pattern in self._grammar.plain_values.items()
        }
        entry_pattern = compile_pattern(self._shape, plain) if self._shape else None
        match = entry_pattern.pattern.fullmatch(text) if entry_pattern else None
        if entry_pattern and match:
            groups = match.groups()
            if list(MatchRecord(entry_pattern.layout(groups), groups, ANYTHING)) == list(entry[1]):
                self._entry_pattern = entry_pattern
                self._name = entry[0]

    def _forget(self) -> None:
        self._shape = self._entry_pattern = self._scope = None
        self._alike = self._lessons = 0
