"""Rows: the texts of an entry under the keys of its layout, and runs of entries with one layout.

A layout has the keys of several shapes, in their order; an entry that lacks one has None there. So
entries with and without a date have the same layout, and what is known of a layout is found out
once, not for each entry.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from usp._parse.values.plain import are_plain_or_absent
from usp._parse.values.usual_times import parse_usual_times
from usp._parse.xml.entry_builder import Entry

Row = tuple[str | None, ...]
"""The texts of an entry, in the order of the keys of its layout; None if it lacks one. A row has
two texts at least: where there are fewer keys, the others are None."""
ColumnTexts = Sequence[str | None]
"""The texts of several entries under one key."""
Element = tuple[str, ...]
"""The keys that one child of an entry gives."""


@dataclass(slots=True, eq=False)
class RowLayout:
    """What the columns of rows mean."""

    elements: tuple[Element, ...]
    """The children of an entry, in document order."""
    keys: tuple[str, ...] = field(init=False)
    """The key of each column."""
    text_columns: set[int] = field(init=False, default_factory=set)
    """The columns that have a text in some row; others only tell that something is there."""
    notes: dict[Any, Any] = field(init=False, default_factory=dict)
    """What others found out about this layout; it lives as long as the layout."""

    def __post_init__(self) -> None:
        self.keys = tuple(key for element in self.elements for key in element)

    def record(self, row: Row) -> list[tuple[str, str]]:
        """Return the record of a row, as the expat reader gives it."""
        return [(key, text) for key, text in zip(self.keys, row, strict=False) if text is not None]

    def only(self, key: str) -> int | None:
        """Return the only column of a key; None if there is not exactly one."""
        return self.keys.index(key) if self.keys.count(key) == 1 else None

    def may_have(self, prefixes: tuple[str, ...]) -> bool:
        """Tell whether a row can have a key with one of these prefixes."""
        return any(key.startswith(prefixes) for key in self.keys)

    def columns(self) -> Iterator[tuple[Element, int]]:
        """Yield each element and its first column."""
        column = 0
        for element in self.elements:
            yield element, column
            column += len(element)


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """Which columns entries of one shape have."""

    columns: tuple[tuple[int, bool], ...]
    """The columns, and whether there is a text in each."""
    notes: dict[Any, Any] = field(default_factory=dict)
    """What others found out about this form; it lives as long as the form."""


@dataclass(slots=True)
class EntryRun:
    """Consecutive entries with one layout."""

    name: str
    """The key of the entries: ``url``, ``sitemap``, ``item`` or ``entry``."""
    layout: RowLayout
    _rows: list[Row]
    forms: list[Form]
    """The forms of these entries: there are few."""
    offset: Callable[[int], int]
    """Returns the offset of one of them in the document, in bytes."""
    length: int
    """How many characters they are in all, or nearly so."""
    _columns: list[ColumnTexts] = field(default_factory=list)
    _plain: dict[int, bool] = field(init=False, default_factory=dict)
    _times: dict[int, list[int] | None] = field(init=False, default_factory=dict)

    def __len__(self) -> int:
        return len(self._columns[0] if self._columns else self._rows)

    def __iter__(self) -> Iterator[Entry]:
        return map(self.entry, range(len(self)))

    @property
    def rows(self) -> list[Row]:
        """The rows: of columns, turned by 90 degrees."""
        if self._columns and not self._rows:
            self._rows = list(zip(*self._columns, strict=True))
        return self._rows

    @property
    def columns(self) -> list[ColumnTexts]:
        """The columns: of rows, turned by 90 degrees."""
        if not self._columns:
            self._columns = list(zip(*self._rows, strict=True))
        return self._columns

    def has_plain_urls(self, column: int) -> bool:
        """Tell whether all texts of a column are plain URLs, but for absent ones."""
        if column not in self._plain:
            self._plain[column] = are_plain_or_absent(self.columns[column])
        return self._plain[column]

    def times(self, column: int) -> list[int] | None:
        """Return the texts of a column as timestamps, if all are times of the usual forms."""
        if column not in self._times:
            self._times[column] = parse_usual_times(self.columns[column])
        return self._times[column]

    def part(self, chosen: Sequence[int]) -> "EntryRun":
        """Return some of the entries."""
        rows = [self.rows[at] for at in chosen]
        return replace(self, _rows=rows, _columns=[], offset=lambda at: self.offset(chosen[at]))

    def entry(self, at: int) -> Entry:
        """Return one of the entries."""
        return self.name, self.layout.record(self.rows[at]), self.offset(at)


def iter_entries(pieces: Iterable[Entry | EntryRun]) -> Iterator[Entry]:
    """Yield entries one by one."""
    for piece in pieces:
        if isinstance(piece, EntryRun):
            yield from piece
        else:
            yield piece
