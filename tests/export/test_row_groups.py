"""Row groups of Parquet that a thread writes while more rows are added."""

import errno
import gc
import io
import os
import threading
import time

import pyarrow.parquet as pq
import pytest

from tests.export.rows import Drawing, python_rows
from usp._export.arrow import ParquetWriter
from usp._export.options import WriteOptions
from usp._tables.batch import Batch
from usp._tables.schema import TABLES

TABLE = TABLES["sites"]
ROWS = 10


class FullDisk(io.BytesIO):
    """A file that takes nothing."""

    def write(self, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


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
def test_a_full_disk_is_told_once(batches: int, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        written_groups(FullDisk(), batches)
    gc.collect()
    assert capfd.readouterr() == ("", "")  # pyarrow says what fails when a file is collected


def test_a_full_disk_is_told_while_rows_are_written() -> None:
    writer = ParquetWriter(FullDisk(), [TABLE], WriteOptions(), group_rows=1)
    text = os.urandom(2_000_000).hex()  # more than what is written at a time, compressed, too
    batch = Batch.of_rows(TABLE, [{"site": text}])
    writer.write(batch)
    with pytest.raises(OSError, match="No space left on device"):
        writer.write(batch)
    writer.abort()


def test_a_file_that_is_dropped_is_written_no_more_and_stays_open() -> None:
    sink = io.BytesIO()
    writer = ParquetWriter(sink, [TABLE], WriteOptions(), group_rows=ROWS)
    writer.write(Drawing(1).batch(TABLE, ROWS))
    writer.abort()
    writer.abort()
    del writer
    gc.collect()
    assert sink.getvalue() == b""
    assert not sink.closed


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
