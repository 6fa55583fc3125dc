"""The pattern reader: reads entries by their shape, at a fraction of expat's cost.

Entries are split into tags and texts, many at once (``stretch``). If the tags of one are those of a
known pattern, its texts are where that pattern says. An unknown shape is learned from a sample that
expat reads (``learning``), or put together from children that are known.

The pattern reader never changes a result. It gives an entry only if expat would give the same:

- expat has read a sample with exactly these tags, where the names mean the same.
- There is nothing else in it that expat would reject: no control characters, only references that
  are certainly valid, and only whitespace where the sample has none.
- Nothing in it looks like the start or the end of another entry: expat reads that in another way
  soon after a fault.

Any other entry goes to expat. Whether all this is worth its cost is decided by counting: in a block
in which few entries match, the rest is left to expat.
"""

import re
from collections.abc import Iterable
from typing import Final

from usp._parse.pattern.exact import ExactPattern, exact_pattern
from usp._parse.pattern.fits import Fit, FitTable, is_kept, table_of
from usp._parse.pattern.known_patterns import find_pattern, learn_pattern
from usp._parse.pattern.layout import EntryRun, Row
from usp._parse.pattern.stretch import Stretch, split_stretch
from usp._parse.pattern.unsafe import UnsafeSearch, has_bad_reference
from usp._parse.xml.boundaries import boundaries_for
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
_ALIKE: Final = 4
"""So many entries with the same tags may be written alike."""
_LONGEST_CUT: Final = 16 * 1024
"""How many bytes of an entry wait for the rest of it, where a block ends."""
_FIRST_STRETCH: Final = 4 * 1024
_LONGEST_STRETCH: Final = 32 * 1024
_LONGEST_ALIKE: Final = 128 * 1024
"""How many characters are split at once: twice as many after each success, and up to the second
number where entries are alike, so that what is done once for each stretch costs little."""


class PatternReader:
    """Reads the entries of one document whose shape is known or can be learned."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._boundaries = boundaries_for(grammar)
        self._scope: NamespaceScope | None = None  # under which the patterns are valid
        self._table: FitTable | None = None  # known when the first entry is
        self._length = _FIRST_STRETCH  # of the next stretch
        self._budget = _BUDGET
        self._left = 0  # what is left of the budget
        self._block = b""
        self._text: str | None = None  # the block as text
        self._byte = self._index = 0  # an offset in the block, and the same in the text
        self._unsafe = UnsafeSearch(b"", "")
        self._has_sections = self._has_references = self._has_section_ends = False
        self._exact: ExactPattern | None = None  # of the last entries, if these are alike

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

    def is_cut(self, begin: int) -> bool:
        """Tell whether an entry at an offset in the block ends in a later one, and may match there.

        A long one is left to expat.
        """
        is_short = len(self._block) - begin < _LONGEST_CUT
        return self.is_active and is_short and not self._boundaries.ends.search(self._block, begin)

    def read(self, begin: int, scope: NamespaceScope, start: int) -> tuple[EntryRun | None, int]:
        """Return the entries that match from an offset in the block on, and where they end.

        ``start`` is the offset of the block in the document.
        """
        if self._left <= 0 or scope.base or not scope.has_root:
            return None, begin
        if self._text is None:
            # What is not UTF-8 is a character that the block cuts in two, at its end.
            self._text = self._block.decode("utf-8", "surrogateescape")
            self._unsafe = UnsafeSearch(self._block, self._text)
            # A single character is found many times as fast as two.
            self._has_sections = b"!" in self._block and b"<!" in self._block
            self._has_section_ends = b"]" in self._block and b"]]>" in self._block
            self._has_references = b"&" in self._block or b"\r" in self._block
        if scope is not self._scope:
            self._scope = scope
            self._table = self._exact = None
        index = self._index_of(begin)
        name = _ENTRY_NAME.match(self._text, index)
        end_tag = f"</{name[1]}>" if name else ""
        run, end = self._exact_run(end_tag, index, start + begin)
        if run is None and name:
            run, end = self._run(end_tag, index, start + begin)
        if run is None:
            if name:
                self.miss_entry()
            return None, begin
        self._left = min(self._left + len(run), _LARGEST_BUDGET)
        self._budget = _BUDGET
        self._byte, self._index = begin + self._length_of(index, end, begin), end
        return run, self._byte

    def _run(self, end_tag: str, index: int, offset: int) -> tuple[EntryRun | None, int]:
        """Return the entries that match from an index on, and where they end."""
        text = self._text or ""
        last = self._unsafe.next(index)
        rows: list[Row] = []
        used: dict[Fit, None] = {}
        fit: Fit | None = None
        at, is_whole = index, True
        while is_whole and len(rows) < _LONGEST_RUN and not self._exact:
            stop = self._stop(end_tag, at, last)
            if stop < 0:
                break
            fits, more, is_whole = self._match(text[at:stop], end_tag)
            if not more:
                # One of them is odd: the others are found in ever shorter stretches.
                is_whole = text.find(end_tag, at) + len(end_tag) < stop
                self._length = (stop - at) // 2
                continue
            if fit and fit.layout is not fits[0].layout:
                break
            fit = fits[0]
            used.update(dict.fromkeys(fits))
            rows += more
            if is_whole:
                self._length = min(2 * max(stop - at, self._length), _LONGEST_STRETCH)
                at = stop
            else:
                begin, at = at, self._end(end_tag, at, len(more))
                self._length = at - begin
        if fit is None:
            return None, index
        self._report(used)
        forms = [fit.form for fit in used]
        offsets = _Offsets(text, end_tag, (index, offset), len(rows))
        return EntryRun(fit.name, fit.layout, rows, forms, offsets, at - index), at

    def _exact_run(self, end_tag: str, index: int, offset: int) -> tuple[EntryRun | None, int]:
        """Return the entries that are written like the last ones, and where they end."""
        exact, text = self._exact, self._text or ""
        if exact is None or not end_tag or self._has_section_ends:
            return None, index
        stop = self._stop(end_tag, index, self._unsafe.next(index))
        if stop < 0:
            return None, index
        self._exact = None
        self._length = min(self._length, _LONGEST_STRETCH)  # if the next ones are not alike
        written = text[index:stop]
        has_references = self._has_references and ("&" in written or "\r" in written)
        if has_references and has_bad_reference(written):
            return None, index
        columns, count, is_whole = exact.columns(written, is_literal=not has_references)
        if not count:
            return None, index
        if is_whole:
            self._exact = exact
            self._length = min(2 * max(stop - index, self._length), _LONGEST_ALIKE)
        else:
            stop = self._end(end_tag, index, count)
            self._length = stop - index
        fit = exact.fit
        self._report([fit])
        offsets = _Offsets(text, end_tag, (index, offset), count)
        run = EntryRun(fit.name, fit.layout, [], [fit.form], offsets, stop - index, columns)
        return run, stop

    def _stop(self, end_tag: str, at: int, last: int) -> int:
        """Return where a stretch ends that begins here; negative if no entry ends before that."""
        text = self._text or ""
        stop = text.rfind(end_tag, at, min(at + self._length, last))
        if stop < 0:
            stop = text.find(end_tag, at, last)
        return stop + len(end_tag) if stop >= 0 else stop

    def _end(self, end_tag: str, at: int, count: int) -> int:
        """Return where so many entries end."""
        text = self._text or ""
        for _ in range(count):
            at = text.index(end_tag, at) + len(end_tag)
        return at

    def _match(self, written: str, end_tag: str) -> tuple[list[Fit], list[Row], bool]:
        """Return the fits and rows of the first entries of a stretch, and whether these are all.

        There are none if the first one is left to expat, or if there is something odd in any.
        """
        stretch = split_stretch(
            written,
            end_tag,
            self._boundaries,
            has_sections=self._has_sections,
            has_references=self._has_references,
        )
        if stretch is None:
            return [], [], False
        fits = self._fits_of(stretch.shapes)
        others = [fit for fit in dict.fromkeys(fits) if fit.layout is not fits[0].layout]
        if others:
            fits = fits[: min(map(fits.index, others))]
        rows = stretch.rows(fits) if fits else []
        is_whole = len(fits) == len(stretch.shapes)
        if rows and is_whole:
            self._exact = _exact_pattern(stretch, fits, written, end_tag)
        return fits, rows, is_whole

    def _fits_of(self, shapes: list[str]) -> list[Fit]:
        """Return the fits of shapes, up to the first one that is left to expat."""
        if self._table is None and self._scope:
            self._table = table_of(self._grammar, self._scope, shapes[0])
        known = self._table.fits if self._table else {}
        try:
            return list(map(known.__getitem__, shapes))
        except KeyError:
            pass
        new = {}
        for shape in dict.fromkeys(shapes):
            new[shape] = known.get(shape) or self._new_fit(shape)
            if new[shape] is None:
                break
        fits: list[Fit] = []
        for shape in shapes:
            # A new shape may have changed the layout of those before it.
            fit = known.get(shape) or (self._new_fit(shape) if is_kept(shape) else new.get(shape))
            if fit is None:
                break
            fits.append(fit)
        return fits

    def _report(self, used: Iterable[Fit]) -> None:
        """Report the names in shapes that are a problem, as expat would have the builder do."""
        for fit in used:
            for code, message in fit.problems:
                if self._scope:
                    self._scope.problems.add(code, message)

    def _new_fit(self, shape: str) -> Fit | None:
        """Return how entries of a shape become rows; None if they are left to expat."""
        scope, table = self._scope, self._table
        if scope is None or table is None or shape in table.refused or self._left <= 0:
            return None
        pattern = find_pattern(shape, self._grammar, scope)
        if pattern is None:
            learned = learn_pattern(shape, self._grammar, scope, table.refused)
            pattern = learned.pattern
            self._left -= _SAMPLE if learned.is_sampled else 1
            if pattern is None:
                table.refuse(learned.refused)
        return table.add(shape, pattern) if pattern else None

    def _index_of(self, byte: int) -> int:
        """Return the index in the text of an offset in the block, which never decreases."""
        self._index += len(self._block[self._byte : byte].decode("utf-8", "surrogateescape"))
        self._byte = byte
        return self._index

    def _length_of(self, index: int, end: int, begin: int) -> int:
        """Return how many bytes a part of the text has; it begins at a byte of the block."""
        text = self._text or ""
        if text.isascii():
            return end - index
        if end - index <= len(text) - end:
            return len(text[index:end].encode())
        return len(self._block) - begin - len(text[end:].encode("utf-8", "surrogateescape"))

    def miss(self) -> None:
        """Record that what looked like the end of an entry was inside a comment."""
        self._left //= 2

    def miss_entry(self) -> None:
        """Record an entry that is left to expat."""
        self._left -= _MISS
        if self._left <= 0:
            self._budget = max(self._budget // 2, _SMALLEST_BUDGET)


def _exact_pattern(
    stretch: Stretch, fits: list[Fit], written: str, end_tag: str
) -> ExactPattern | None:
    """Return the pattern of entries that are written like the last one of a stretch, if all are."""
    fit, count = fits[0], len(fits)
    entry = written[written.rfind(end_tag, 0, -len(end_tag)) + len(end_tag) :]
    # What begins with "<!" is no tag, and is not among those of the shape.
    if count < _ALIKE or "<!" in entry or fits.count(fit) < count:
        return None
    return exact_pattern(fit, entry, stretch.texts[-1 - fit.length : -1], count)


class _Offsets:
    """Returns the offset of an entry of a run in the document, in bytes; few are needed."""

    def __init__(self, text: str, end_tag: str, start: tuple[int, int], count: int) -> None:
        """Take the text, and where the first entry, or blanks before it, begins there and in it."""
        self._text = text
        self._end_tag = end_tag
        self._start = start
        self._count = count
        self._known: list[int] = []

    def __call__(self, at: int) -> int:
        if not self._known:
            (index, offset), text = self._start, self._text
            begin, is_ascii = index, text.isascii()
            for _ in range(self._count):
                start = text.index("<", begin)
                offset += start - index if is_ascii else len(text[index:start].encode())
                self._known.append(offset)
                index = start
                begin = text.index(self._end_tag, start) + len(self._end_tag)
        return self._known[at]
