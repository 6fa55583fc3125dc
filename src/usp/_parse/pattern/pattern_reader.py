"""The pattern reader: reads entries by their shape, at a fraction of expat's cost.

An entry is split into tags and texts (``shape``). If its tags are those of a known pattern, its
texts are where that pattern says. An unknown shape is learned from a sample that expat reads
(``learning``), or put together from children that are known.

The pattern reader never changes a result. It gives an entry only if expat would give the same:

- expat has read a sample with exactly these tags, where the names mean the same.
- There is nothing else in it that expat would reject: no control characters, only references that
  are certainly valid, and only whitespace where the sample has none.

Any other entry goes to expat. Whether all this is worth its cost is decided by counting: in a block
in which few entries match, the rest is left to expat.
"""

import re
from collections.abc import Iterable
from typing import Final

from usp._parse.pattern.fits import ABSENT, Fit, FitTable, table_of
from usp._parse.pattern.known_patterns import find_pattern, learn_pattern
from usp._parse.pattern.layout import MatchRun, Row
from usp._parse.pattern.shape import MARKED, replace_sections, split_attributes
from usp._parse.pattern.text_conversion import convert_texts
from usp._parse.pattern.uniform import uniform_rows
from usp._parse.pattern.unsafe import BAD_REFERENCE, UnsafeSearch
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.namespaces import NamespaceScope

_LONGEST_RUN: Final = 256
"""Few enough that the rows are still in the CPU cache when their pages are made."""
_BUDGET: Final = 40
"""For misses in one block; half of it in the next block if nothing matches."""
_SMALLEST_BUDGET: Final = 12
_LARGEST_BUDGET: Final = 1024
_SAMPLE: Final = 4
"""A shape that needs a sample costs about as much as four matches save."""
_MISS: Final = 3
"""An entry that is left to expat costs as much as three matches save."""
_ENTRY_NAME: Final = re.compile(r"[ \t\r\n]*+<([^\s<>/!?\"'=&]++)")
_NO_SECTIONS: Final[list[str]] = []
_ALIKE: Final = 8
"""After so many entries of one shape, the next ones are read together; more after each failure."""
_MAX_REFUSED: Final = 4096
"""How many shapes of one document are remembered that are left to expat."""


class PatternReader:
    """Reads the entries of one document whose shape is known or can be learned."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._scope: NamespaceScope | None = None  # under which the patterns are valid
        self._table = FitTable()
        self._alike = _ALIKE
        self._refused: set[str] = set()  # shapes that are left to expat
        self._budget = _BUDGET
        self._left = 0  # what is left of the budget
        self._block = b""
        self._text: str | None = None  # the block as text
        self._byte = self._index = 0  # an offset in the block, and the same in the text
        self._unsafe = UnsafeSearch(b"", "")
        self._has_sections = self._has_references = self._has_namespaces = False

    def show(self, block: bytes) -> None:
        """Start with a new block of bytes."""
        self._block = block
        self._text = None
        self._byte = self._index = 0
        self._left = max(self._left, self._budget)

    @property
    def is_active(self) -> bool:
        """Whether it still tries to match entries of this block."""
        return self._left > 0

    def read(self, begin: int, scope: NamespaceScope, start: int) -> tuple[MatchRun | None, int]:
        """Return the entries that match from an offset in the block on, and where they end.

        ``start`` is the offset of the block in the document.
        """
        if self._left <= 0 or scope.base or not scope.has_root:
            return None, begin
        if self._text is None:
            # What is not UTF-8 is a character that the block cuts in two, at its end.
            self._text = self._block.decode("utf-8", "surrogateescape")
            self._unsafe = UnsafeSearch(self._block, self._text)
            self._has_namespaces = self._block.find(b"xmlns", begin) >= 0
            # A single character is found many times as fast as two.
            self._has_sections = b"!" in self._block and b"<!" in self._block
            self._has_references = b"&" in self._block or b"\r" in self._block
        if scope is not self._scope:
            self._scope = scope
            self._table = table_of(self._grammar, scope)
            self._refused.clear()
        index = self._index_of(begin)
        name = _ENTRY_NAME.match(self._text, index)
        run, end = self._run(f"</{name[1]}>", index, start + begin) if name else (None, index)
        if run is None:
            if name:
                self.miss_entry()
            return None, begin
        self._left = min(self._left + len(run.rows), _LARGEST_BUDGET)
        self._budget = _BUDGET
        text = self._text
        length = end - index if text.isascii() else len(text[index:end].encode())
        self._byte, self._index = begin + length, end
        return run, self._byte

    def _run(self, end_tag: str, index: int, offset: int) -> tuple[MatchRun | None, int]:
        """Return the entries that match from an index on, and where they end."""
        text = self._text or ""
        last = self._unsafe.next(index)
        rows: list[Row] = []
        used: dict[Fit, None] = {}
        fit: Fit | None = None
        at, alike = index, 0
        while len(rows) < _LONGEST_RUN:
            if fit and alike >= self._alike:
                more, at = uniform_rows(text, at, last, fit, end_tag)
                rows += more
                alike = len(more)
                self._alike = _ALIKE if more else min(2 * self._alike, _LONGEST_RUN)
                continue
            stop = text.find(end_tag, at)
            if stop < 0 or stop > last:
                break
            match = self._match(text[at:stop])
            if match is None or (fit and fit.layout is not match[0].layout):
                break
            alike = alike + 1 if match[0] is fit and fit.tag_texts else 0
            fit, row = match
            used[fit] = None
            rows.append(row)
            at = stop + len(end_tag)
        if fit is None:
            return None, index
        self._report(used)
        forms = [fit.form for fit in used]
        start, length = (index, offset), at - index
        return MatchRun(fit.name, fit.layout, rows, forms, text, end_tag, start, length), at

    def _match(self, written: str) -> tuple[Fit, Row] | None:
        """Return the row of an entry, given without its end tag; None if it is left to expat."""
        sections = _NO_SECTIONS
        if self._has_sections and "!" in written:
            sections = []
            replaced = replace_sections(written, sections)
            if replaced is None:
                return None
            written = replaced
        marked = written.replace("<", MARKED)
        parts = marked.split(">")
        length = len(parts)
        shape = "".join(parts[1::2])
        if "=" in shape:
            split = split_attributes(shape, with_namespaces=self._has_namespaces)
            if split is None:
                return None
            shape, values = split
            parts += values
        fit = self._table.fits.get(shape) or self._new_fit(shape)
        if fit is None or length != fit.length or len(marked) - len(written) != fit.tags:
            return None
        if "".join(fit.gaps(parts)).strip():
            return None
        parts += ABSENT  # type: ignore[arg-type]  # the last one is None
        row = fit.row(parts)
        if self._has_references and ("&" in written or "\r" in written):
            return None if BAD_REFERENCE.search(marked) else (fit, convert_texts(row, sections))
        return fit, row if sections is _NO_SECTIONS else convert_texts(row, sections)

    def _report(self, used: Iterable[Fit]) -> None:
        """Report the names in shapes that are a problem, as expat would have the builder do."""
        for fit in used:
            for code, message in fit.problems:
                if self._scope:
                    self._scope.problems.add(code, message)

    def _new_fit(self, shape: str) -> Fit | None:
        """Return how entries of a shape become rows; None if they are left to expat."""
        scope, table = self._scope, self._table
        if shape in self._refused or scope is None or self._left <= 0:
            return None
        pattern = find_pattern(shape, self._grammar, scope)
        if pattern is None:
            pattern, is_sampled = learn_pattern(shape, self._grammar, scope)
            self._left -= _SAMPLE if is_sampled else 1
        if pattern:
            return table.add(shape, pattern)
        if len(self._refused) < _MAX_REFUSED:
            self._refused.add(shape)
        return None

    def _index_of(self, byte: int) -> int:
        """Return the index in the text of an offset in the block, which never decreases."""
        self._index += len(self._block[self._byte : byte].decode("utf-8", "surrogateescape"))
        self._byte = byte
        return self._index

    def miss(self) -> None:
        """Record that what looked like the end of an entry was inside a comment."""
        self._left //= 2

    def miss_entry(self) -> None:
        """Record an entry that is left to expat."""
        self._left -= _MISS
        if self._left <= 0:
            self._budget = max(self._budget // 2, _SMALLEST_BUDGET)
