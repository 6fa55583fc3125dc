"""The pattern reader: reads entries with one regular expression, at a fraction of expat's cost.

A pattern has the tags of an entry literally, captures its values, and has elements that some
entries lack as optional. Some patterns are known from the start or from other documents
(``known_patterns``). Others are learned: the expat reader reads the first entries, and their shapes
(``shape``) are merged and compiled (``compile``).

The pattern reader never changes a result. It gives an entry only if expat would give the same:

- Each name in the pattern has the same meaning under the namespaces of the document. An entry that
  does not match goes to expat; while a pattern is learned, its shape is merged into the pattern.
- A value contains no ``<``, except as CDATA, and no ``]]>``. A value of a plain entry contains
  nothing else that expat would reject. For other entries each block is searched for such things
  once: control characters, references that aren't plain. An entry with one goes to expat.

Whether it is worth its cost is decided by counting. Compiling a pattern takes as long as reading
some tens of kilobytes, so it is done only where much more is left, in this document or in earlier
ones with the same namespaces. A file in which few entries match is left to expat.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from usp._parse.pattern.compile import compile_pattern
from usp._parse.pattern.groups import EntryPattern, MatchRecord, MatchRun, Way
from usp._parse.pattern.known_patterns import keep_pattern, known_patterns, note_use
from usp._parse.pattern.shape import BLANKS, Element, merge_shapes, shape_of
from usp._parse.pattern.text_conversion import ANYTHING, REFERENCES, conversion_for
from usp._parse.values.plain import NOT_PLAIN
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.namespaces import NamespaceScope

_LONGEST_RUN: Final = 256
"""Few enough that the matches are still in the CPU cache when their pages are made."""
_MISS: Final = 3
"""An entry that does not match costs as much as three matches save."""
_MISSES: Final = 64
"""The budget for misses in one block while a pattern is learned; half of it in the next block if
nothing matches."""
_FEWEST_MISSES: Final = 12
"""The same where nothing is learned."""
_MOST_LEFT: Final = 1024
_MAX_LESSONS: Final = 100
"""How many entries of new shapes a pattern is learned from: then its odd entries all differ."""
_WORTH_TRYING: Final = 800
"""A smaller document is read by expat before a pattern is prepared."""
_WORTH_LEARNING: Final = 96 * 1024
"""In fewer bytes than these, learning a pattern costs more than a quarter of what it saves."""
_LONGEST_ENTRY: Final = 64 * 1024
_CONTROLS: Final = "".join(map(chr, [*range(9), 11, 12, *range(14, 32)]))
_PLAIN_REFERENCE: Final = (
    # The five entities of XML, and characters that XML certainly allows.
    r"(?:amp|lt|gt|quot|apos"
    r"|#(?:3[2-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-47-9][0-9]{4}|[1-9][0-9]{5})"
    r"|#x(?:[2-9A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Ca-c][0-9A-Fa-f]{3}"
    r"|[1-9A-Fa-f][0-9A-Fa-f]{4}))"
)
_Hazards = tuple[tuple[re.Pattern[str], tuple[bytes, ...]], ...]
"""Patterns, and the bytes that each can begin with, which are fast to search for."""
_UNSAFE: Final[_Hazards] = (
    (re.compile(f"[{re.escape(_CONTROLS)}]"), tuple(char.encode() for char in _CONTROLS)),
    (re.compile("[\ufffe\uffff]"), (b"\xef\xbf",)),
    (re.compile(f"&(?!{_PLAIN_REFERENCE};)"), (b"&",)),
)
"""What expat would reject or change; in CDATA it may be harmless, and expat reads it then."""
_LEADING: Final = re.compile(BLANKS)


class _Search:
    """Finds the next match of any of some patterns in a text."""

    def __init__(self, block: bytes, text: str, hazards: _Hazards) -> None:
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


class PatternReader:
    """Reads the entries of one document that match a pattern, and learns the pattern if needed."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._shape: Element | None = None
        self._scope: NamespaceScope | None = None  # the namespaces under which it was learned
        self._entry_pattern: EntryPattern | None = None
        self._alike = 0  # entries without a new shape since the last pattern
        self._wanted = 2  # how many of them are needed before the next pattern
        self._lessons = 0  # entries with a new shape, learned or not
        self._misses = _MISSES
        self._left = 0  # what is left of the budget for misses
        self._block = b""
        self._view: str | None = None  # the block as text
        self._byte = self._index = 0  # an offset in the block, and the same in the text
        self._not_plain = self._unsafe = _Search(b"", "", ())  # where the two ways have to stop
        self._conversion = REFERENCES
        self._longest_general_run = 1

    def show(self, block: bytes) -> None:
        """Start with a new block of bytes."""
        self._block = block
        self._view = None
        self._byte = self._index = 0
        budget = 0
        if len(block) >= _WORTH_LEARNING:
            budget = self._misses
        elif len(block) >= _WORTH_TRYING or self._entry_pattern is not None:
            budget = _FEWEST_MISSES
        self._left = max(self._left, budget)

    @property
    def is_active(self) -> bool:
        """Whether it still tries to match entries of this block."""
        return self._left > 0

    def read(self, begin: int, scope: NamespaceScope, start: int) -> tuple[MatchRun | None, int]:
        """Return the entries that match from an offset in the block on, and where they end.

        ``start`` is the offset of the block in the document.
        """
        if self._left <= 0:
            return None, begin
        if self._view is None:
            self._view = self._open_block()
        blanks = _LEADING.match(self._view, self._index_of(begin))
        index = blanks.end() if blanks else self._index
        begin += index - self._index  # blanks are ASCII
        if self._view.startswith("</", index):  # the end of the document
            return None, begin
        for pattern in self._patterns(scope):
            run = self._run(pattern, index, start + begin)
            if run:
                if pattern is not self._entry_pattern:
                    self._entry_pattern, self._scope = pattern, scope
                    self._shape = pattern.shape
                    note_use(self._grammar, pattern)
                self._left = min(self._left + len(run.matches), _MOST_LEFT)
                self._misses = _MISSES
                end = run.matches[-1].end()
                length = len(self._view[index:end].encode())
                self._byte, self._index = begin + length, end
                return run, self._byte
        return None, begin

    def _patterns(self, scope: NamespaceScope) -> Iterator[EntryPattern]:
        """Yield the patterns to try: the last one that matched, then others that are known.

        Where it pays to learn, the last one is extended instead: one pattern for all entries is
        faster than to take turns.
        """
        last = self._entry_pattern if scope is self._scope else None
        if last:
            yield last
            if self._is_worth_learning(self._byte):
                return
        for pattern in known_patterns(self._grammar, scope):
            if pattern is not last:
                yield pattern

    def _open_block(self) -> str:
        """Prepare the block for matching; return its text."""
        # What is not UTF-8 is a character that the block cuts in two, at its end.
        view = self._block.decode("utf-8", "surrogateescape")
        self._not_plain = _Search(self._block, view, NOT_PLAIN)
        self._unsafe = _Search(self._block, view, _UNSAFE)
        self._conversion = conversion_for(self._block)
        return view

    def _run(self, pattern: EntryPattern, index: int, start: int) -> MatchRun | None:
        """Return the entries that match a pattern from here on; None if there are none."""
        if pattern.plain and (run := self._run_of(pattern.plain, pattern, index, start)):
            self._longest_general_run = 1  # what follows an entry that isn't plain probably is
            return run
        run = self._run_of(pattern.general, pattern, index, start)
        self._longest_general_run = min(self._longest_general_run * 2, _LONGEST_RUN)
        return run

    def _run_of(self, way: Way, pattern: EntryPattern, index: int, start: int) -> MatchRun | None:
        hazards, longest = (
            (self._not_plain, _LONGEST_RUN)
            if way.layout.plain
            else (self._unsafe, self._longest_general_run)
        )
        scanner = way.pattern.scanner(self._view, index, hazards.next(index))  # type: ignore[attr-defined]
        found = list(islice(iter(scanner.match, None), longest))  # as re.Scanner does it
        if not found:
            return None
        return MatchRun(pattern.shape.key, start, way.layout, self._conversion, found)

    def _index_of(self, byte: int) -> int:
        """Return the index in the text of an offset in the block, which never decreases."""
        self._index += len(self._block[self._byte : byte].decode("utf-8", "surrogateescape"))
        self._byte = byte
        return self._index

    def miss(self) -> None:
        """Record that what looked like the end of an entry was inside a comment."""
        self._left //= 2

    def miss_entry(self) -> None:
        """Record an entry that did not match."""
        self._left -= _MISS
        if self._left <= 0:
            self._misses = max(self._misses // 2, _FEWEST_MISSES)
            self._forget()

    def learn(self, begin: int, stop: int, scope: NamespaceScope, entry: Entry) -> None:
        """Learn from an entry that did not match and was read by expat, given its offsets."""
        self.miss_entry()
        if self._left <= 0:
            return
        if stop - begin > _LONGEST_ENTRY or not self._is_worth_learning(stop):
            return
        if self._lessons >= _MAX_LESSONS:
            return
        text = self._block[begin:stop].decode()
        pattern = self._entry_pattern if scope is self._scope else None
        if pattern and pattern.general.pattern.fullmatch(text):
            return  # it was split between two blocks, or contains something unsafe
        shape = shape_of(text, self._grammar, scope)
        if shape is None:
            return
        if scope is not self._scope:
            self._forget()
            self._scope = scope
        merged = merge_shapes(self._shape, shape) if self._shape else shape
        if merged is None or merged != self._shape:
            self._lessons += 1
            self._shape = merged or self._shape
            return
        self._alike += 1
        if self._alike >= self._wanted:
            self._compile(merged, text, entry)

    def _is_worth_learning(self, offset: int) -> bool:
        return len(self._block) - offset >= _WORTH_LEARNING

    def _compile(self, shape: Element, text: str, entry: Entry) -> None:
        """Compile the pattern of the merged shape; keep it only if it reproduces this entry."""
        self._alike = 0
        self._wanted *= 2
        pattern = compile_pattern(shape, self._grammar.plain_values)
        match = pattern.general.pattern.fullmatch(text) if pattern else None
        if pattern is None or match is None:
            return
        if list(MatchRecord(pattern.general.layout, match.groups(), ANYTHING)) != list(entry[1]):
            return
        self._entry_pattern = pattern
        if not shape.declares_namespaces and self._scope and self._scope.means(pattern.names):
            keep_pattern(self._grammar, pattern)

    def _forget(self) -> None:
        self._shape = self._entry_pattern = self._scope = None
        self._alike = self._lessons = 0
