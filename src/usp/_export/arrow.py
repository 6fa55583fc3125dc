"""Arrow: batches as record batches, and the two formats that pyarrow writes, Parquet and Arrow IPC.

Text is plain text in every type, also where a column has few different values: Parquet stores those
by a dictionary, and no reader gets a type that it has to convert first.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from usp._export.lines import is_constant
from usp._export.options import WriteOptions
from usp._export.values import encodable
from usp._extras import check_installed, load
from usp._tables.batch import Batch, Values
from usp._tables.schema import SCHEMA_VERSION, Column, ColumnType, Table
from usp._version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_OF_A_GROUP: Final = 32_768
_BYTES_OF_A_GROUP: Final = 48 * 1024 * 1024
"""A row group of Parquet ends at this many rows or bytes: readers skip whole groups. All but the
last one are written while sitemaps are read, so a user waits for that alone. Groups of twice as
many rows make a file a hundredth smaller. There is no page index beside them: pyarrow keeps it in
memory until the end, 37 MiB of four million rows."""

_BUFFER_BYTES: Final = 1024 * 1024
"""What is written at a time. A file of Python's needs the interpreter lock for each piece, and the
70 columns of a row group are as many: while a sitemap is read, that took longer than writing."""

_COMPRESSION_LEVEL: Final = 3
"""Of zstd. At level 6 a file is a twentieth smaller, and writing it takes half as long again."""
_ENCODINGS: Final = {
    ColumnType.TEXT: "DELTA_BYTE_ARRAY",
    ColumnType.INTEGER: "DELTA_BINARY_PACKED",
    ColumnType.TIMESTAMP: "DELTA_BINARY_PACKED",
}
"""What a row has in common with the row before it is stored once: measured on URLs, a fifth less
than plain text, and quicker, since there is less to compress."""


class ArrowTypes:
    """The schema in the types of Arrow."""

    def __init__(self, purpose: str) -> None:
        """Import pyarrow.

        :raises MissingExtraError: if it isn't installed.
        """
        self.pa = pa = load("pyarrow", purpose, "tables")
        self._types = {
            ColumnType.TEXT: pa.string(),
            ColumnType.INTEGER: pa.int64(),
            ColumnType.REAL: pa.float64(),
            ColumnType.BOOLEAN: pa.bool_(),
            ColumnType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
            ColumnType.TEXTS: pa.list_(pa.string()),
        }
        self._nulls: dict[tuple[str, str], Any] = {}
        """By table and column: most columns of most sitemaps have nothing else."""

    def schema(self, table: Table) -> "pa.Schema":
        """Return the schema of a table, with its version and what each column means."""
        metadata = {
            "schema_version": str(SCHEMA_VERSION),
            "table": table.name,
            "description": table.meaning,
            "usp": __version__,
        }
        return self.pa.schema([self._field(column) for column in table], metadata)

    def _field(self, column: Column) -> "pa.Field":
        metadata = {"description": column.meaning, "origin": column.origin}
        return self.pa.field(column.name, self._type(column), metadata=metadata)

    def _type(self, column: Column) -> "pa.DataType":
        if column.type is ColumnType.ROWS:
            return self.pa.list_(self.pa.struct(map(self._field, column.fields)))
        return self._types[column.type]

    def record_batch(self, batch: Batch, schema: "pa.Schema") -> "pa.RecordBatch":
        """Return a batch as a record batch."""
        arrays = []
        made: dict[int, pa.Array] = {}  # of times: two columns of them are often the same list
        for column, values in batch.values():
            if _is_absent(values):
                arrays.append(self._nulls_of(batch, column))
            elif column.type is ColumnType.TIMESTAMP:
                if id(values) not in made:
                    made[id(values)] = self._array(column, values)
                arrays.append(made[id(values)])
            else:
                arrays.append(self._array(column, values))
        return self.pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _nulls_of(self, batch: Batch, column: Column) -> "pa.Array":
        """Return a column without values: a part of one that is there, since types are costly."""
        key = batch.table.name, column.name
        known = self._nulls.get(key)
        if known is None or len(known) < batch.length:
            known = self._nulls[key] = self.pa.nulls(2 * batch.length, self._type(column))
        return known.slice(0, batch.length)

    def _array(self, column: Column, values: Values) -> "pa.Array":
        if _is_absent(values):
            return self.pa.nulls(len(values), self._type(column))
        if column.type is ColumnType.ROWS:
            return self._rows(column, values)
        kind = self._types[column.type]
        if column.type is ColumnType.TIMESTAMP:  # as numbers: half of the time
            # To cast them would import pyarrow.compute, which takes as long as 30,000 pages.
            return self.pa.array(values, self._types[ColumnType.INTEGER]).view(kind)
        try:
            if column.type is ColumnType.TEXT and values and is_constant(values):
                return self.pa.repeat(self.pa.scalar(values[0], kind), len(values))
            return self.pa.array(values, kind)
        except UnicodeEncodeError:
            return self.pa.array(encodable(list(values)), kind)

    def _rows(self, column: Column, values: Values) -> "pa.Array":
        """Return a column of rows: pyarrow itself takes no tuples."""
        pa, kind = self.pa, self._type(column)
        rows = list(chain.from_iterable(value for value in values if value))
        offsets: list[int | None] = []
        end = 0
        for value in values:
            offsets.append(None if value is None else end)  # null means: no list
            end += len(value or ())
        parts = zip(*rows, strict=True) if rows else repeat((), len(column.fields))
        fields = [self._array(*each) for each in zip(column.fields, parts, strict=True)]
        structs = pa.StructArray.from_arrays(fields, fields=list(kind.value_type))
        return pa.ListArray.from_arrays(pa.array([*offsets, end], pa.int32()), structs, type=kind)


def _is_absent(values: Values) -> bool:
    return bool(values) and values[0] is None and is_constant(values)


def _dictionary_columns(columns: Sequence[Column], above: str = "") -> list[str]:
    """Return the paths of the columns with few different values, as Parquet names them."""
    found = []
    for column in columns:
        path = f"{above}{column.name}"
        if column.type is ColumnType.ROWS:
            found += _dictionary_columns(column.fields, f"{path}.list.element.")
        elif column.repeats:
            found.append(path)
    return found


def _encodings(columns: Sequence[Column]) -> dict[str, str]:
    """Return how Parquet stores the columns that have no dictionary: by what they begin with."""
    return {
        column.name: _ENCODINGS[column.type]
        for column in columns
        if column.type in _ENCODINGS and not column.repeats
    }


class _ParquetSink:
    """The open file to which Parquet is written; it stays open."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.is_dropped = False
        """Whether nothing more is written: the disk may be full, or the file closed."""

    def write(self, data: bytes) -> int:
        return len(data) if self.is_dropped else self._file.write(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def _buffered(pyarrow: Any, sink: _ParquetSink) -> Any:  # noqa: ANN401 -- pyarrow has no types
    return pyarrow.BufferedOutputStream(pyarrow.PythonFile(sink, mode="w"), _BUFFER_BYTES)


class ParquetWriter:
    """Writes one table as Parquet, compressed with zstd."""

    def __init__(
        self,
        sink: BinaryIO,
        tables: Sequence[Table],
        options: WriteOptions,
        group_rows: int = _ROWS_OF_A_GROUP,
        compression_level: int = _COMPRESSION_LEVEL,
    ) -> None:
        """Open a file.

        :param group_rows: a row group ends at this many rows.
        :param compression_level: of zstd.
        """
        del options
        (table,) = tables
        check_installed("pyarrow", "Parquet", "tables")
        self._group_rows = group_rows
        self._sink = _ParquetSink(sink)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self._opened = _in_thread(partial(self._open, table, compression_level))
        """The import of pyarrow takes as long as some ten thousand pages: meanwhile, the first
        documents are fetched."""
        self._group = _done()
        """The last row group that a thread writes."""

    def _open(self, table: Table, compression_level: int) -> None:
        self._types = ArrowTypes("Parquet")
        parquet = load("pyarrow.parquet", "Parquet", "tables")
        self._schema = self._types.schema(table)
        self._buffer = _buffered(self._types.pa, self._sink)
        self._writer = parquet.ParquetWriter(
            self._buffer,
            self._schema,
            compression="zstd",
            compression_level=compression_level,
            use_dictionary=_dictionary_columns(table.columns),
            column_encoding=_encodings(table.columns),
        )

    def write(self, batch: Batch) -> None:
        """Keep some rows; those that are enough for a row group are written by another thread.

        pyarrow lets other threads run meanwhile: so the next sitemap is read at the same time.
        """
        self.add(batch)
        if self.is_full:
            self._group.result()
            self._group = _in_thread(partial(self._write_rows, self._take_waiting()))

    def add(self, batch: Batch) -> None:
        """Keep some rows for the next row group."""
        self._opened.result()
        self.add_record_batch(self._types.record_batch(batch, self._schema))

    def add_record_batch(self, made: "pa.RecordBatch") -> None:
        """Keep some rows that are in the types of Arrow already, in the columns of the table."""
        self._waiting.append(made)
        self._rows += made.num_rows
        self._bytes += made.nbytes

    @property
    def is_full(self) -> bool:
        """Whether the rows that are kept are enough for a row group."""
        return self._rows >= self._group_rows or self._bytes >= _BYTES_OF_A_GROUP

    def write_group(self) -> None:
        """Write the rows that are kept as a row group; others may be added meanwhile."""
        self._write_rows(self._take_waiting())

    def _take_waiting(self) -> "list[pa.RecordBatch]":
        waiting, self._waiting = self._waiting, []
        self._rows = self._bytes = 0
        return waiting

    def _write_rows(self, waiting: "list[pa.RecordBatch]") -> None:
        self._opened.result()
        table = self._types.pa.Table.from_batches(waiting, self._schema)
        if table.num_rows:
            self._writer.write_table(table, row_group_size=table.num_rows)

    def close(self) -> None:
        """Write the last row group and the footer."""
        self._group.result()
        self.write_group()
        self._writer.close()
        self._buffer.close()

    def abort(self) -> None:
        """Write no footer: the file is dropped."""
        self._sink.is_dropped = True
        self._group.exception()  # whatever it is, the file is not wanted any more
        if self._opened.exception() is None:
            self._writer.is_open = False  # else it writes one when it is collected
            self._buffer.close()


def _in_thread(work: Callable[[], None]) -> "Future[None]":
    """Do something in a thread of its own."""
    thread = ThreadPoolExecutor(1, "usp-parquet")
    try:
        return thread.submit(work)
    except RuntimeError:  # the machine has no thread left
        work()
        return _done()
    finally:
        thread.shutdown(wait=False)  # it ends after that


def _done() -> "Future[None]":
    done: Future[None] = Future()
    done.set_result(None)
    return done


class ArrowWriter:
    """Writes one table as an Arrow IPC file, compressed with zstd."""

    def __init__(self, sink: BinaryIO, tables: Sequence[Table], options: WriteOptions) -> None:
        del options
        (table,) = tables
        self._types = ArrowTypes("Arrow")
        self._schema = self._types.schema(table)
        ipc: Any = self._types.pa.ipc
        choices = ipc.IpcWriteOptions(compression="zstd")
        self._writer = ipc.new_file(sink, self._schema, options=choices)

    def write(self, batch: Batch) -> None:
        """Write some rows as one record batch."""
        if batch.length:
            self._writer.write_batch(self._types.record_batch(batch, self._schema))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()

    def abort(self) -> None:
        """Write no footer: the file is dropped."""
