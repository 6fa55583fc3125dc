"""CSV and TSV: exports, and tables of other tools."""

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TextIO

from usp._inputs.columns import FileColumns, cells_of, delimiter_of, file_columns
from usp._inputs.kinds import NamedInput
from usp._inputs.reader import InputOptions, shared_columns
from usp._inputs.text_file import opened_text
from usp._inputs.values import of_texts
from usp._parse import ROWS_AT_ONCE
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.schema import TABLES, Table
from usp.exceptions import UsageError

_MAX_CELL: Final = 16 * 1024 * 1024
"""The longest cell, in characters; the limit of Python is too short for a list of keywords."""


_END: Final = "\x1eend of the table"
"""A line that follows the last one: a row of its own, unless a quoted cell is still open."""


class DelimitedReader:
    """Reads a table of CSV or TSV."""

    is_ours = True
    outcome = None

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        self._named = named
        self._options = options
        self.tables = tuple(TABLES)

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of its table, if that is wanted."""
        named = self._named
        csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL))
        with opened_text(named.path, named.compression, newline="") as text:
            try:
                yield from self._batches(text, choice)
            except csv.Error as error:
                raise UsageError(f"{named.name} can't be read: {error}.") from error

    def _batches(self, text: TextIO, choice: TableChoice) -> Iterator[Batch]:
        line = next((line for line in text if line.strip()), "").rstrip("\r\n")
        delimiter = delimiter_of(line)
        names = [name.strip() for name in cells_of(line, delimiter)]
        rows = _Rows(text, delimiter, len(names))
        first = rows.take(1)
        found = file_columns(
            names,
            first[0] if first else (),
            column=self._options.column,
            table=self._options.table,
            where=self._named.name,
        )
        self.tables, self.is_ours = (found.table.name,), found.is_ours
        table = shared_columns(choice.tables.get(found.table.name), found.at)
        some = first + rows.take(ROWS_AT_ONCE - 1)
        while table and some:
            yield _batch(some, table, found)
            some = rows.take(ROWS_AT_ONCE)


class _Rows:
    """The rows of a text; that its end was cut off is an error, not a shorter table."""

    def __init__(self, text: Iterable[str], delimiter: str, width: int) -> None:
        """Begin after the header, which has this many cells."""
        self._text = text
        self._rows = filter(None, csv.reader(self._lines(), delimiter=delimiter))
        self._last_line = ""
        self._widths = [width]
        """The fewest cells of a row before the last one, and those of the last one."""
        self._has_ended = False

    def _lines(self) -> Iterator[str]:
        for line in self._text:
            self._last_line = line
            yield line
        yield _END

    def take(self, count: int) -> list[list[str]]:
        """Return the next rows; none at the end.

        :raises ValueError: if the text breaks off.
        """
        if self._has_ended:
            return []
        some = list(islice(self._rows, count))
        self._has_ended = bool(some) and some[-1] == [_END]
        if len(some) < count and not self._has_ended:
            raise ValueError("its end is missing: a quoted cell is not closed")
        some = some[: len(some) - self._has_ended]
        widths = [*self._widths, *map(len, some)]
        self._widths = [min(widths[:-1], default=widths[-1]), widths[-1]]
        if self._has_ended:
            self._check_last_row()
        return some

    def _check_last_row(self) -> None:
        """Check the last row: one that is shorter than all others and has no line end is cut.

        Where other rows have few cells as well, it may be meant, as the totals of other tools.
        """
        fewest, width = self._widths
        if width < fewest and not self._last_line.endswith(("\n", "\r")):
            raise ValueError(f"its end is missing: the last line has {width} of {fewest} cells")


def _batch(rows: list[list[str]], table: Table, found: FileColumns) -> Batch:
    """Return some rows; a row that has too few cells has empty ones, and one without a URL is none.

    Tables of other tools have rows for totals, say.
    """
    width = max(found.at.values()) + 1
    if any(len(row) < width for row in rows):
        rows = [row + [""] * (width - len(row)) for row in rows]
    if found.table.name == "pages" and "url" in found.at:
        rows = [row for row in rows if row[found.at["url"]]]
    columns = {
        column.name: of_texts(column, [row[found.at[column.name]] for row in rows])
        for column in table
    }
    return Batch(table, columns, len(rows))
