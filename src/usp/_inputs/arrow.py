"""Parquet and Arrow files: exports, and tables of other tools."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from usp._extras import load
from usp._inputs.columns import FileColumns, file_columns
from usp._inputs.kinds import InputKind, NamedInput
from usp._inputs.reader import InputOptions, shared_columns
from usp._inputs.values import of_plain
from usp._tables.batch import Batch, Values
from usp._tables.choice import TableChoice
from usp._tables.schema import Column, ColumnType, Table
from usp.exceptions import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS: Final = 16_384
"""How many rows of Parquet are read at once."""
_CONVERTED: Final = frozenset({ColumnType.TIMESTAMP, ColumnType.ROWS, ColumnType.BOOLEAN})
"""The types that need a look at each value."""


class ArrowReader:
    """Reads a table of a Parquet or Arrow file."""

    outcome = None

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        """Open the file.

        :raises MissingExtraError: if pyarrow isn't installed.
        :raises UsageError: if the file can't be read.
        """
        self._named = named
        self._pa = load("pyarrow", f"{named.name}", "tables")
        with self._errors():
            self._file = _OPEN[named.kind](str(named.path))
            names = list(self._schema.names)
            written = (self._schema.metadata or {}).get(b"table", b"").decode()
        self._columns = file_columns(
            names,
            (),
            column=options.column,
            table=options.table or written,
            where=named.name,
        )
        self.tables = (self._columns.table.name,)
        self.is_ours = self._columns.is_ours

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise what a damaged file gives as ours, in one line.

        pyarrow checks sizes and types, and leaves it to Python whether a name or text is UTF-8.
        """
        damaged = (self._pa.ArrowException, OSError, ValueError, KeyError, OverflowError)
        try:
            yield
        except UsageError:  # a ValueError as well
            raise
        except damaged as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise UsageError(f"{self._named.name} can't be read: {reason}.") from error

    @property
    def _schema(self) -> "pa.Schema":
        is_parquet = self._named.kind is InputKind.PARQUET
        schema: pa.Schema = self._file.schema_arrow if is_parquet else self._file.schema
        return schema

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of its table, if that is wanted."""
        found = self._columns
        table = shared_columns(choice.tables.get(found.table.name), found.at)
        if table is None:
            return
        with self._errors():
            for rows in self._record_batches(table, found):
                columns = {
                    column.name: self._values(column, rows.column(at))
                    for at, column in enumerate(table)
                }
                yield Batch(table, columns, rows.num_rows)

    def _record_batches(self, table: Table, found: FileColumns) -> Iterator["pa.RecordBatch"]:
        names = [self._schema.names[found.at[name]] for name in table.names]
        if self._named.kind is InputKind.PARQUET:
            for rows in self._file.iter_batches(_ROWS, columns=names, use_threads=False):
                yield rows.select(names)
        else:
            for number in range(self._file.num_record_batches):
                yield self._file.get_batch(number).select(names)

    def _values(self, column: Column, array: Any) -> Values:  # noqa: ANN401 -- pyarrow is optional
        if array.null_count == len(array):
            return [None] * len(array)
        if column.type is ColumnType.TIMESTAMP and self._pa.types.is_timestamp(array.type):
            utc = self._pa.timestamp("us", tz="UTC")
            return list(array.cast(utc, safe=False).cast(self._pa.int64()).to_pylist())
        values: list[Any] = array.to_pylist()
        is_text = self._pa.types.is_string(array.type) or self._pa.types.is_large_string(array.type)
        if column.type in _CONVERTED or (column.type is ColumnType.TEXT and not is_text):
            return [of_plain(column, value) for value in values]
        return values


def _parquet(path: str) -> Any:  # noqa: ANN401 -- pyarrow is optional
    # With pre_buffer, what was read stays in memory until the end.
    return load("pyarrow.parquet", path, "tables").ParquetFile(path, pre_buffer=False)


def _ipc(path: str) -> Any:  # noqa: ANN401 -- pyarrow is optional
    pa = load("pyarrow", path, "tables")
    return pa.ipc.open_file(path)


_OPEN: Final = {InputKind.PARQUET: _parquet, InputKind.ARROW: _ipc}
