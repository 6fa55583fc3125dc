"""The learned pattern_reader: reading entries with one pattern that is learned from the file itself.

Sitemaps are written by machines, so the entries of one file look alike. The expat_only pattern_reader reads the
first ones; from their shapes (``shape``) one regular expression is made for the file (``writer``):
tags literal, values captured, what some entries lack optional. Entries are matched one behind
the other, each where the last one ended, at a fraction of what expat and its handlers cost.

The pattern_reader never changes a result. It gives an entry only if the expat_only pattern_reader would give the same:

- The shape was read by expat first, under the same namespaces. What doesn't match goes to expat,
  and its shape is merged into the pattern, so that the next one like it does match.
- A value holds no ``<``. In a plain entry it holds nothing else that expat would refuse or change,
  either; for the others that is looked for once a block: control characters, ``]]>``, references
  that aren't plain. An entry with such a thing in it goes to expat.
- Whether entries are worth learning is decided by counting: a file in which no two entries are
  alike is left to the expat_only pattern_reader until its next block.

All matching is done on a text with one character for each byte (``characters``): indexes stay true.
"""

import re
from itertools import islice
from typing import Final

from usp._parse.pattern.compile import compile_pattern
from usp._parse.pattern.groups import EntryPattern, MatchRecord, MatchRun
from usp._parse.pattern.shape import BLANKS, Element, shape_of
from usp._parse.pattern.text_conversion import ANYTHING, REFERENCES, conversion_for
from usp._parse.values.plain import PLAIN_URL, plain_url_like
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.namespaces import NamespaceScope

_LONGEST_RUN: Final = 256
"""Few enough that what was matched is still in the processor's cache when its pages are made."""
_MISS: Final = 2
"""An entry that misses the pattern costs as much as two that match it save."""
_MISSES: Final = 64
"""So much more may be lost by misses than is saved, in one block; half as much in the next if
nothing matches."""
_FEWEST_MISSES: Final = 8
_MOST_LEFT: Final = 1024
_WORTH: Final = 8 * 1024
"""With less than this to read, compiling a pattern costs more than it saves."""
_LONGEST: Final = 64 * 1024
_CONTROLS: Final = bytes(code for code in range(32) if code not in b"\t\r\n")
_PLAIN_REFERENCE: Final = (
    # The five that XML has, and characters that are surely allowed.
    r"(?:amp|lt|gt|quot|apos"
    r"|#(?:3[2-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-47-9][0-9]{4}|[1-9][0-9]{5})"
    r"|#x(?:[2-9A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Ca-c][0-9A-Fa-f]{3}"
    r"|[1-9A-Fa-f][0-9A-Fa-f]{4}))"
)
_UNSAFE: Final = (
    # What is looked for, and the bytes one of which it begins with: those are found at once.
    (re.compile(rb"[%s]" % re.escape(_CONTROLS)), _CONTROLS),
    (re.compile(rb"\]\]>"), b"]"),
    (re.compile(rb"\xef\xbf[\xbe\xbf]"), b"\xef"),  # U+FFFE and U+FFFF
    (re.compile(rf"&(?!{_PLAIN_REFERENCE};)".encode()), b"&"),
)
"""What expat would refuse or change."""
_LEADING: Final = re.compile(BLANKS)


class PatternReader:
    """Learns what the entries of one document look like, and reads those that look so."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._shape: Element | None = None
        self._scope: NamespaceScope | None = None  # the namespaces under which it was learned
        self._looks: EntryPattern | None = None
        self._name = ""  # of the entries
        self._alike = 0  # so many entries have brought nothing new since the last pattern
        self._wanted = 2  # so many are wanted before the next one
        self._misses = _MISSES
        self._left = 0  # so much may still be lost
        self._block = b""
        self._view = ""
        # Where the next of each unsafe kind stands; None if nobody has looked.
        self._unsafe: dict[re.Pattern[bytes], int] | None = None

    def show(self, block: bytes) -> None:
        """Begin with new bytes."""
        self._block = block
        self._view = ""
        self._unsafe = None
        # In a small document nothing would be compiled: then there is nothing to learn for.
        worth_it = self._looks is not None or len(block) >= _WORTH
        self._left = max(self._left, self._misses) if worth_it else 0

    @property
    def is_learning(self) -> bool:
        """Whether it hasn't given up on this block."""
        return self._left > 0

    def read(self, begin: int, scope: NamespaceScope, zero: int) -> tuple[MatchRun | None, int]:
        """Read the entries that look as learned, from a place in the block on; tell where they end.

        ``zero`` is the place of the block in the document.
        """
        looks = self._looks
        if looks is None or scope is not self._scope or self._left <= 0:
            return None, begin
        self._view = self._view or self._block.decode("latin-1")
        blanks = _LEADING.match(self._view, begin)
        begin = blanks.end() if blanks else begin
        conversion = REFERENCES
        found = self._matches(looks.plain_pattern, begin, len(self._view))
        if not found:
            conversion = conversion_for(self._block)
            found = self._matches(looks.pattern, begin, self._next_unsafe(begin))
        if not found:
            return None, begin
        self._left = min(self._left + len(found), _MOST_LEFT)
        self._misses = _MISSES
        return MatchRun(self._name, zero, looks, conversion, found), found[-1].end()

    def _matches(
        self, pattern: re.Pattern[str] | None, begin: int, stop: int
    ) -> list[re.Match[str]]:
        """Return matches, each where the last one ended."""
        if pattern is None:
            return []
        scanner = pattern.scanner(self._view, begin, stop)  # type: ignore[attr-defined]
        return list(islice(iter(scanner.match, None), _LONGEST_RUN))  # as re.Scanner does it

    def miss(self) -> None:
        """Take note that what looked like the end of an entry was none: it stood in a comment."""
        self._left //= 2

    def _next_unsafe(self, begin: int) -> int:
        """Tell where the next thing stands that is unsafe, or where the block ends.

        Each kind is looked for again only behind its last place: else a rare one would be looked
        for through the whole block at each place of a frequent one.
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
        """Take note of an entry that the expat_only pattern_reader has read, and of where it stands."""
        text = self._block[begin:stop].decode("latin-1")
        self._left -= _MISS
        if self._left <= 0:
            self._misses = max(self._misses // 2, _FEWEST_MISSES)
        known = self._looks is not None and scope is self._scope
        if known and self._looks and self._looks.pattern.fullmatch(text):
            return  # it lay across two blocks, or has something unsafe in it
        if self._left <= 0:
            self._forget()
            return
        if len(text) > _LONGEST:
            return
        shape = shape_of(text, self._grammar, scope)
        if shape is None:
            return
        if scope is not self._scope:
            self._forget()
            self._scope = scope
        merged = self._shape.merged(shape) if self._shape else shape
        if merged is None:
            return
        self._alike += merged == self._shape
        self._shape = merged
        if self._alike >= self._wanted and len(self._block) - stop >= _WORTH:
            self._compile(text, entry)

    def _compile(self, text: str, entry: Entry) -> None:
        """Make the pattern of what was learned, unless it is no good."""
        self._alike = 0
        self._wanted *= 2
        url = next((text for key, text in entry[1] if key == self._grammar.url_field), "")
        plain = {
            key: plain_url_like(url) if pattern == PLAIN_URL else pattern
            for key, pattern in self._grammar.plain_values.items()
        }
        looks = compile_pattern(self._shape, plain) if self._shape else None
        match = looks.pattern.fullmatch(text) if looks else None
        if looks and match:
            groups = match.groups()
            if list(MatchRecord(looks.layout(groups), groups, ANYTHING)) == list(entry[1]):
                self._looks = looks
                self._name = entry[0]

    def _forget(self) -> None:
        self._shape = self._looks = self._scope = None
        self._alike = 0
