"""The pattern reader: reads entries by their shape, at a fraction of expat's cost.

An entry is split into tags and texts (``shape``). If its tags are those of a known pattern, its
texts are where that pattern says. An unknown shape is learned from a sample that expat reads
(``learning``), or put together from children that are known.

The pattern reader never changes a result. It gives an entry only if expat would give the same:

- expat has read a sample with exactly these tags, under namespaces in which the names mean the same.
- There is nothing else in it that expat would reject: no control characters, only references that
  are certainly valid, and only whitespace where the sample has none.

Any other entry goes to expat. Whether all this is worth its cost is decided by counting: in a block
in which few entries match, the rest is left to expat.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from usp._parse.pattern.known_patterns import (
    MAX_COLUMNS,
    EntryPattern,
    find_pattern,
    layout_of,
    learn_pattern,
)
from usp._parse.pattern.layout import Element, Form, MatchRun, Row, RowLayout
from usp._parse.pattern.learning import EMPTY
from usp._parse.pattern.shape import MARKED, keep_namespaces, replace_sections, split_attributes
from usp._parse.pattern.text_conversion import COMMENT, convert_texts
from usp._parse.pattern.unsafe import BAD_REFERENCE, UNSAFE, UnsafeSearch
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
_MAX_LAYOUTS: Final = 16
"""How often the layout of a document grows: then its entries all differ."""
_ENTRY_NAME: Final = re.compile(r"[ \t\r\n]*+<([^\s<>/!?\"'=&]++)")
_ABSENT: Final = ("", None)
"""What is added to the parts of an entry, for the columns that it has no text for."""
_NONE: Final = -1
_NO_TEXT: Final = -2
_NO_SECTIONS: Final[list[str]] = []
_IGNORED: Final = f" \t\r\n{COMMENT}"
_MAX_FITS: Final = 4096
"""How many shapes of one document are remembered."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """How the parts of entries of one shape become a row."""

    tags: int
    length: int
    gaps: Callable[[list[str]], tuple[str, ...]]
    row: Callable[[list[str | None]], Row]
    layout: RowLayout
    form: Form
    name: str


class PatternReader:
    """Reads the entries of one document whose shape is known or can be learned."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._scope: NamespaceScope | None = None  # under which the patterns are valid
        self._layout: RowLayout | None = None  # of most entries so far
        self._layouts = 0
        self._fits: dict[str, _Fit | None] = {}
        self._budget = _BUDGET
        self._left = 0  # what is left of the budget
        self._block = b""
        self._text: str | None = None  # the block as text
        self._byte = self._index = 0  # an offset in the block, and the same in the text
        self._unsafe = UnsafeSearch(b"", "", ())
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
        if self._left <= 0 or scope.base:
            return None, begin
        if self._text is None:
            # What is not UTF-8 is a character that the block cuts in two, at its end.
            self._text = self._block.decode("utf-8", "surrogateescape")
            self._unsafe = UnsafeSearch(self._block, self._text, UNSAFE)
            self._has_namespaces = self._block.find(b"xmlns", begin) >= 0
            # A single character is found many times as fast as two.
            self._has_sections = b"!" in self._block and b"<!" in self._block
            self._has_references = b"&" in self._block or b"\r" in self._block
        if scope is not self._scope:
            self._scope = scope
            self._fits = {}
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
        find, fits = text.find, self._fits
        last = self._unsafe.next(index)
        has_sections, has_references = self._has_sections, self._has_references
        has_namespaces = self._has_namespaces
        rows: list[Row] = []
        begins: list[int] = []
        used: set[_Fit] = set()
        last_fit: _Fit | None = None
        sections = _NO_SECTIONS
        at, step = index, len(end_tag)
        for _ in range(_LONGEST_RUN):
            stop = find(end_tag, at)
            if stop < 0 or stop > last:
                break
            written = text[at:stop]
            if has_sections:
                sections = []
                replaced = replace_sections(written, sections)
                if replaced is None:
                    break
                written = replaced
            marked = written.replace("<", MARKED)
            parts = marked.split(">")
            shape = "".join(parts[1::2])
            length = len(parts)
            if "=" in shape:
                split = split_attributes(shape)
                if split is None:
                    break
                shape, values = keep_namespaces(*split) if has_namespaces else split
                parts += values
            fit = fits.get(shape)
            if fit is None:
                fit = self._new_fit(shape)
                if fit is None:
                    break
            if fit is not last_fit:
                if last_fit is not None and fit.layout is not last_fit.layout:
                    break
                used.add(fit)
                last_fit = fit
            if length != fit.length or len(marked) - len(written) != fit.tags:
                break
            if "".join(fit.gaps(parts)).strip():
                break
            parts += _ABSENT  # type: ignore[arg-type]  # the last one is None
            row = fit.row(parts)
            if has_references and ("&" in written or "\r" in written):
                if BAD_REFERENCE.search(marked):
                    break
                row = convert_texts(row, sections)
            elif sections:
                row = convert_texts(row, sections)
            rows.append(row)
            begins.append(at)
            at = stop + step
        if last_fit is None or not rows:
            return None, index
        forms = {fit.form for fit in used}
        run = MatchRun(last_fit.name, last_fit.layout, rows, forms, text, begins, (index, offset))
        return run, at

    def _new_fit(self, shape: str) -> _Fit | None:
        """Return how a shape fits into the layout of the document, which grows if it has to."""
        scope = self._scope
        if shape in self._fits or scope is None or self._left <= 0:
            return None
        pattern = find_pattern(shape, self._grammar, scope)
        if pattern is None:
            pattern, is_sampled = learn_pattern(shape, self._grammar, scope)
            self._left -= _SAMPLE if is_sampled else 1
        if len(self._fits) >= _MAX_FITS:
            self._fits.clear()
        fit = self._fits[shape] = self._fitted(pattern) if pattern else None
        return fit

    def _fitted(self, pattern: EntryPattern) -> _Fit:
        elements = pattern.elements
        layout = self._layout
        positions = _positions(layout.elements, elements) if layout else None
        if layout is None or positions is None:
            merged = _merged(layout.elements, elements) if layout else elements
            if sum(map(len, merged)) <= MAX_COLUMNS and self._layouts < _MAX_LAYOUTS:
                self._layouts += 1
                self._layout = layout = layout_of(merged)
                self._fits.clear()  # those of the earlier layout
                positions = _positions(merged, elements) or []
            else:
                layout, positions = layout_of(elements), list(range(len(elements)))
        starts = [column for _, column in layout.columns()]
        columns = [_NONE] * max(len(layout.keys), 2)
        form: list[tuple[int, bool]] = []
        for position, texts in zip(positions, pattern.texts, strict=True):
            for column, text in enumerate(texts, starts[position]):
                columns[column] = _NO_TEXT if text == EMPTY else text
                form.append((column, text != EMPTY))
        return _Fit(
            pattern.tags,
            pattern.length,
            itemgetter(*pattern.gaps),
            itemgetter(*columns),
            layout,
            tuple(form),
            pattern.name,
        )

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


def _positions(layout: tuple[Element, ...], elements: tuple[Element, ...]) -> list[int] | None:
    """Return where elements are among those of a layout, in order; None if some aren't there."""
    found: list[int] = []
    at = 0
    for element in elements:
        try:
            at = layout.index(element, at)
        except ValueError:
            return None
        found.append(at)
        at += 1
    return found


def _merged(ours: tuple[Element, ...], theirs: tuple[Element, ...]) -> tuple[Element, ...]:
    """Return elements that cover both, each in its own order."""
    merged: list[Element] = []
    at = 0
    for element in theirs:
        if element not in ours[at:]:
            merged.append(element)
            continue
        found = ours.index(element, at)
        merged += ours[at : found + 1]
        at = found + 1
    return (*merged, *ours[at:])
