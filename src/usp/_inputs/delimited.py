"""CSV and TSV: exports, and tables of other tools."""

import csv
from collections.abc import Iterator
from itertools import chain, islice
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
        rows = filter(None, csv.reader(text, delimiter=delimiter))
        first = list(islice(rows, 1))
        found = file_columns(
            names,
            first[0] if first else (),
            column=self._options.column,
            table=self._options.table,
            where=self._named.name,
        )
        self.tables, self.is_ours = (found.table.name,), found.is_ours
        table = shared_columns(choice.tables.get(found.table.name), found.at)
        remaining = chain(first, rows)
        while table and (some := list(islice(remaining, ROWS_AT_ONCE))):
            yield _batch(some, table, found)


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
