"""CSV and TSV: one table, a header, a row a line.

CSV is that of RFC 4180 in UTF-8: comma, double quotes where they are needed, CR LF. TSV is the same
with tabs and LF. A list of text is one cell, its items joined by ``|``. A list of rows is a column
with their number, if they have a table of their own, and otherwise JSON.
"""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, cast

from usp._export.compression import Sink, beginning
from usp._export.lines import CellTexts, is_constant, join_lines, number_texts
from usp._export.options import WriteOptions
from usp._export.times import with_time_texts
from usp._export.values import json_lists
from usp._tables.batch import Batch, Values
from usp._tables.schema import PAGE_PARTS, Column, ColumnType, Table

SEPARATOR: Final = "|"
"""Between the items of a list of text; in an item, it and ``\\`` have a ``\\`` before them."""
_FORMULA_STARTS: Final = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 -- spreadsheets take the wide ones, too
"""What makes a spreadsheet run a cell (OWASP, "CSV Injection")."""
_BOM: Final = "\ufeff"
_QUOTE: Final = '"'


def header(table: Table) -> list[str]:
    """Return the names of the columns: ``images_count`` for ``images``."""
    return [f"{column.name}_count" if _is_counted(column) else column.name for column in table]


def _is_counted(column: Column) -> bool:
    """Tell whether rows are counted, since they are in a table of their own: not those of rows."""
    return column.type is ColumnType.ROWS and column.name in PAGE_PARTS


def _booleans(values: Values) -> Sequence[str | None]:
    names = {None: None, True: "true", False: "false"}
    return [names[value] for value in values]


def _lists(values: Values) -> Sequence[str | None]:
    return [None if value is None else SEPARATOR.join(map(_item, value)) for value in values]


def _item(text: str) -> str:
    return text.replace("\\", "\\\\").replace(SEPARATOR, f"\\{SEPARATOR}")


def _numbers(values: Values) -> Sequence[str]:
    return number_texts(values, "")


def _counts(values: Values) -> Sequence[str]:
    return [str(len(value)) if value else "0" for value in values]


_CELLS: Final[dict[ColumnType, Callable[[Values], Sequence[str | None]]]] = {
    ColumnType.BOOLEAN: _booleans,
    ColumnType.INTEGER: _numbers,
    ColumnType.REAL: _numbers,
    ColumnType.TEXTS: _lists,
}
"""The types whose values aren't written as they are; times are texts already, rows differ."""
_OF_TEXT: Final = frozenset({ColumnType.TEXT, ColumnType.TEXTS, ColumnType.ROWS})


def _converted(column: Column, values: Values) -> Sequence[str | None]:
    """Return the values of a column as text; None or an empty text is an empty cell."""
    if column.type is ColumnType.ROWS:
        return _counts(values) if _is_counted(column) else json_lists(column, values)
    convert = _CELLS.get(column.type)
    return values if convert is None else convert(values)


def _harmless(values: Sequence[str]) -> Sequence[str]:
    """Put an apostrophe before each cell that a spreadsheet would run."""
    return [f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell for cell in values]


def _quoted(cells: Sequence[str], special: str, needs_quotes: re.Pattern[str]) -> Sequence[str]:
    """Put quotes around the cells that need them, which few columns have."""
    joined = "".join(cells)
    if not any(character in joined for character in special):  # a hundredth of the pattern's time
        return cells
    return [
        f'"{cell.replace(_QUOTE, _QUOTE * 2)}"' if needs_quotes.search(cell) else cell
        for cell in cells
    ]


class CsvWriter:
    """Writes one table as CSV."""

    delimiter: ClassVar = ","
    line_end: ClassVar = "\r\n"
    special: ClassVar = ',"\r\n'
    """What a cell without quotes can't have."""
    needs_quotes: ClassVar = re.compile(f"[{special}]")

    def __init__(self, sink: Sink, tables: Sequence[Table], options: WriteOptions) -> None:
        (table,) = tables
        self._sink = sink
        self._escapes = options.escape_formulas
        if not options.append:
            names = self.delimiter.join(header(table))
            self._write(f"{_BOM if options.bom else ''}{names}{self.line_end}")

    @classmethod
    def continues(cls, first_line: Iterable[bytes], tables: Sequence[Table]) -> bool:
        """Tell whether a file that begins with this line has the columns of the table."""
        line = beginning(first_line).decode("utf-8", "replace").removeprefix(_BOM).rstrip("\r")
        try:
            names = next(csv.reader([line], delimiter=cls.delimiter), [])
        except csv.Error:  # it has line ends of its own (CR alone), or no end
            return False
        return names == header(tables[0])

    def write(self, batch: Batch) -> None:
        """Write some rows."""
        if not batch.length:
            return
        columns: list[tuple[str, CellTexts]] = []
        for column, values in with_time_texts(batch).values():
            before = self.delimiter if columns else ""
            columns.append((before, self._cells(column, values)))
        if len(columns) == 1:  # an empty line would be no row
            columns = [("", [cell or _QUOTE * 2 for cell in self._texts(column, values)])]
        self._write(join_lines(columns, self.line_end, batch.length))

    def close(self) -> None:
        """Do nothing: every row is written."""

    def abort(self) -> None:
        """Do nothing: the file is dropped."""

    def _write(self, text: str) -> None:
        # A half of a surrogate pair, which UTF-8 can't have, is written as \udxxx.
        self._sink.write(text.encode("utf-8", "backslashreplace"))

    def _cells(self, column: Column, values: Values) -> CellTexts:
        if is_constant(values):
            return self._texts(column, values[:1])[0]
        return self._texts(column, values)

    def _texts(self, column: Column, values: Values) -> Sequence[str]:
        found = _converted(column, values)
        # To look for None takes twice as long.
        cells = cast("Sequence[str]", found) if all(found) else [cell or "" for cell in found]
        if column.type not in _OF_TEXT:
            return cells
        if self._escapes:
            cells = _harmless(cells)
        return _quoted(cells, self.special, self.needs_quotes)


class TsvWriter(CsvWriter):
    """Writes one table as TSV."""

    delimiter: ClassVar = "\t"
    line_end: ClassVar = "\n"
    special: ClassVar = '\t"\r\n'
    needs_quotes: ClassVar = re.compile(f"[{special}]")
