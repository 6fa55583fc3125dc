"""Row groups of Parquet that a thread writes while more rows are added."""

import errno
import io
import threading
import time

import pyarrow.parquet as pq
import pytest

from tests.export.rows import Drawing, python_rows
from usp._export.arrow import ParquetWriter
from usp._export.options import WriteOptions
from usp._tables.schema import TABLES

TABLE = TABLES["sites"]
ROWS = 10


class FullDisk(io.BytesIO):
    """A file that takes the beginning of the first row group, and nothing more."""

    def write(self, data: object) -> int:
        if self.tell() > len(b"PAR1"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)  # type: ignore[arg-type]


def written_groups(sink: io.BytesIO, batches: int) -> list[dict[str, object]]:
    """Write some batches, each a row group; return their rows."""
    drawing = Drawing(1)
    writer = ParquetWriter(sink, [TABLE], WriteOptions(), group_rows=ROWS)
    drawn = [drawing.batch(TABLE, ROWS) for _ in range(batches)]
    try:
        for batch in drawn:
            writer.write(batch)
        writer.close()
    except BaseException:
        writer.abort()
        raise
    return [row for batch in drawn for row in python_rows(batch)]


def test_row_groups_are_in_the_order_of_their_rows() -> None:
    sink = io.BytesIO()
    expected = written_groups(sink, 20)
    file = pq.ParquetFile(io.BytesIO(sink.getvalue()))
    assert [row["site"] for row in file.read(["site"]).to_pylist()] == [
        row["site"] for row in expected
    ]
    assert file.num_row_groups == 20


@pytest.mark.parametrize("batches", [1, 2, 5])
def test_a_full_disk_is_told_by_the_next_call(batches: int) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        written_groups(FullDisk(), batches)


def test_without_a_thread_the_row_groups_are_written_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    sink = io.BytesIO()
    expected = written_groups(sink, 3)
    assert pq.read_table(io.BytesIO(sink.getvalue())).num_rows == len(expected)


def test_no_thread_is_left_after_an_error() -> None:
    before = threading.active_count()
    with pytest.raises(OSError, match="No space left"):
        written_groups(FullDisk(), 3)
    ends = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < ends:
        time.sleep(0.01)
    assert threading.active_count() == before
