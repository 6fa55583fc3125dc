"""Fits: how the texts of an entry become a row, for each shape under certain namespaces.

Shapes that differ only in which elements are missing have one layout, so that the entries of a
document are few runs, whatever they lack. A table of fits is shared by all documents with the same
namespaces that begin with an entry of the same shape, as those of one generator do: one for all
would have layouts with the elements of all, and rows as long as those. What is full is emptied, for
the documents that follow.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from usp._parse.pattern.known_patterns import EntryPattern
from usp._parse.pattern.layout import Form, Row, RowLayout
from usp._parse.pattern.layouts import LayoutElements, LayoutTable, layout_of, positions_in
from usp._parse.pattern.learning import EMPTY, NameProblem
from usp._parse.values.bounded_cache import keep
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.namespaces import NamespaceScope

ABSENT: Final = ("", None)
"""What is added to the texts of an entry, for the columns that it has no text for."""
_NO_TEXT: Final = -2
_NONE: Final = -1
"""The places of these two."""
_MAX_FITS: Final = 512
_MAX_SHAPE: Final = 4096
_MAX_TABLES: Final = 64
"""What a table holds: so many shapes, of this length; and how many tables there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """How the texts of entries of one shape become a row."""

    length: int
    values: int
    """How many texts there are, and values of attributes."""
    gap_texts: tuple[int, ...]
    gaps: Callable[[list[str]], tuple[str, ...]]
    """Which texts must be blank, and what returns them."""
    row_texts: tuple[int, ...]
    row: Callable[[list[str | None]], Row]
    """What the row consists of, and what returns it, given the texts, the values and ``ABSENT``."""
    layout: RowLayout
    form: Form
    name: str
    problems: tuple[NameProblem, ...]

    @property
    def reads_values(self) -> bool:
        """Whether a value of an attribute is in the row."""
        return max(self.row_texts) >= self.length


@dataclass(slots=True)
class FitTable:
    """The fits of shapes under the same namespaces."""

    fits: dict[str, Fit] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    """Shapes that are left to expat: of entries, and of entries with just one child, which stand
    for all that have this child."""
    _layouts: LayoutTable = field(default_factory=LayoutTable)

    def add(self, shape: str, pattern: EntryPattern) -> Fit:
        """Return the fit of a new shape: into a layout that is there or grows, or a new one."""
        elements, is_changed = self._layouts.cover(pattern.elements)
        fit = _fit(pattern, elements)
        if is_changed or len(self.fits) >= _MAX_FITS:
            self.fits.clear()
        if is_kept(shape):
            self.fits[shape] = fit
        return fit

    def refuse(self, shape: str) -> None:
        """Remember a shape that is left to expat."""
        if len(self.refused) >= _MAX_FITS:
            self.refused.clear()
        if is_kept(shape):
            self.refused.add(shape)


def is_kept(shape: str) -> bool:
    """Tell whether a table keeps the fit of a shape."""
    return len(shape) <= _MAX_SHAPE


def table_of(grammar: Grammar, scope: NamespaceScope, first: str) -> FitTable:
    """Return the table for documents with these namespaces whose first entry has this shape."""
    key = *grammar.identity, first
    table: FitTable | None = scope.names.fits.get(key)
    if table is None:
        table = FitTable()
        if is_kept(first):
            keep(scope.names.fits, key, table, _MAX_TABLES)
    return table


def _fit(pattern: EntryPattern, elements: LayoutElements) -> Fit:
    layout = layout_of(elements)
    starts = [column for _, column in layout.columns()]
    columns = [_NONE] * max(len(layout.keys), 2)
    form: list[tuple[int, bool]] = []
    gaps = tuple(pattern.gaps)
    positions = positions_in(elements, pattern.elements) or []
    for position, texts in zip(positions, pattern.texts, strict=True):
        for column, text in enumerate(texts, starts[position]):
            columns[column] = _NO_TEXT if text == EMPTY else text
            form.append((column, text != EMPTY))
    layout.text_columns.update(column for column, has_text in form if has_text)
    return Fit(
        pattern.length,
        pattern.values,
        gaps,
        itemgetter(*gaps),
        tuple(columns),
        itemgetter(*columns),
        layout,
        Form(tuple(form)),
        pattern.name,
        tuple(problem for child in pattern.children for problem in child.problems),
    )
