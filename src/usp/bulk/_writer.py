"""The files of one shard while they are written: the rows of many sites, as they come.

Rows are collected until they are worth a conversion to Arrow, which the event loop waits for; a
thread compresses a row group of them, which takes longer.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from usp._closing import ClosesAtExit
from usp._drive.off_loop import in_thread
from usp._export.arrow import ParquetWriter
from usp._export.options import WriteOptions
from usp._tables.batch import Batch
from usp._tables.schema import LISTED_SITES, TABLES, Table
from usp.bulk._markers import TABLE_NAMES, PartFile, part_name
from usp.exceptions import StorageError

if TYPE_CHECKING:
    import pyarrow as pa

SHARD_TABLES: Final[Mapping[str, Table]] = {
    name: LISTED_SITES if name == "sites" else TABLES[name] for name in TABLE_NAMES
}
"""The tables of a shard, by name."""
_COMPRESSION_LEVEL: Final = 6
"""Of zstd: what millions of sites give is kept for long, so space counts more than time."""
_GROUP_ROWS: Final = 80_000
"""Rows of a row group: a worker runs several shards at once, and each of them keeps so many."""
_ROWS_TOGETHER: Final = 2048
"""Rows that are converted together: each conversion has a cost of its own."""


class _TableFile:
    """The file of one table."""

    def __init__(self, table: Table, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._table = table
        self._sink = stack.enter_context(path.open("wb"))
        self._writer = ParquetWriter(
            self._sink, [table], WriteOptions(), _GROUP_ROWS, _COMPRESSION_LEVEL
        )
        stack.callback(self._writer.abort)
        self._values: dict[str, list[Any]] = {name: [] for name in table.names}
        self._rows = 0

    def add(self, batch: Batch) -> None:
        for name, values in self._values.items():
            values.extend(batch.columns[name])
        self._rows += batch.length
        if self._rows >= _ROWS_TOGETHER:
            self._convert()

    def _convert(self) -> None:
        if self._rows:
            self._writer.add(Batch(self._table, self._values, self._rows))
            self._values = {name: [] for name in self._table.names}
            self._rows = 0

    def add_record_batch(self, rows: "pa.RecordBatch") -> None:
        self._convert()
        self._writer.add_record_batch(rows)

    @property
    def is_full(self) -> bool:
        return self._writer.is_full

    def write_group(self) -> None:
        self._writer.write_group()

    def close(self) -> None:
        self._convert()
        self._writer.close()
        self._sink.close()


class ShardWriter(ClosesAtExit):
    """Writes the tables of a shard into a folder, for the time of a ``with`` block."""

    def __init__(self, folder: Path, shard: int) -> None:
        self._shard = shard
        self._stack = ExitStack()
        with _storage_errors(), self._stack:
            self._files = {
                name: _TableFile(table, folder / f"{name}.parquet", self._stack)
                for name, table in SHARD_TABLES.items()
            }
            self._stack = self._stack.pop_all()
        self._writing = asyncio.Lock()
        self.rows: Counter[str] = Counter(dict.fromkeys(SHARD_TABLES, 0))
        """The rows of each table so far."""

    def close(self) -> None:
        """Release the files; what is not finished is dropped."""
        with suppress(OSError):  # what is not finished is dropped, whether it can be written or not
            self._stack.close()

    async def write(self, batch: Batch) -> None:
        """Write some rows.

        :raises StorageError: if they can't be written.
        """
        name = batch.table.name
        file = self._files[name]
        file.add(batch)
        self.rows[name] += batch.length
        if file.is_full:
            async with self._writing:  # who comes second finds it written
                if file.is_full:
                    await in_thread(self._write_group, file)

    @staticmethod
    def _write_group(file: _TableFile) -> None:
        with _storage_errors():
            file.write_group()

    def copy(self, table: str, batches: Iterable["pa.RecordBatch"]) -> None:
        """Write rows of another crawl; in a thread, when nothing else is written."""
        file = self._files[table]
        with _storage_errors():
            for batch in batches:
                file.add_record_batch(batch)
                self.rows[table] += batch.num_rows
                if file.is_full:
                    file.write_group()

    def finish(self) -> tuple[dict[str, Path], dict[str, PartFile]]:
        """Make the files whole; return them by their names, and what they are."""
        written: dict[str, Path] = {}
        parts: dict[str, PartFile] = {}
        with _storage_errors():
            for table, file in self._files.items():
                file.close()
                name = part_name(table, self._shard)
                with file.path.open("rb") as opened:
                    digest = file_digest(opened, "sha256").hexdigest()
                written[name] = file.path
                parts[name] = PartFile(file.path.stat().st_size, digest)
        return written, parts


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"the shard can't be written: {error.strerror or error}") from error
