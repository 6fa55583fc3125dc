"""More lines than fit in memory are sorted as if they did, and nothing is left."""

import errno
import os
import tempfile
import tracemalloc
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.open_files import open_files
from usp._sorting import LineSorter
from usp.exceptions import StorageError

lines = st.text(st.characters(exclude_characters="\n"), max_size=12)


@given(st.lists(st.lists(lines, max_size=30), max_size=12))
def test_runs_are_merged_as_one_sort_would(parts: list[list[str]]) -> None:
    with closing(LineSorter(run=1000, block=200)) as sorter:
        for part in parts:
            sorter.add(part)
        merged = list(chain.from_iterable(sorter.merged()))
    assert merged == sorted(chain.from_iterable(parts))


def test_few_lines_need_no_file() -> None:
    with closing(LineSorter()) as sorter:
        sorter.add(["b", "a"])
        assert list(sorter.merged()) == [["a", "b"]]
        assert sorter._spool is None


def test_the_file_has_no_name_and_its_space_is_free_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    open_before = open_files()
    with closing(LineSorter(run=1000)) as sorter:
        sorter.add([f"{number:03}" for number in range(200)])
        assert list(tmp_path.iterdir()) == []
        assert next(sorter.merged())[0] == "000"
    assert open_files() == open_before


def peak_of(count: int) -> int:
    """The most memory that sorting so many lines takes, in bytes."""
    tracemalloc.start()
    try:
        with closing(LineSorter(run=400_000, block=4000)) as sorter:
            for start in range(0, count, 500):
                sorter.add([f"{number * 7919 % count:09}" for number in range(start, start + 500)])
            assert sum(map(len, sorter.merged())) == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_lines() -> None:
    small, large = peak_of(10_000), peak_of(80_000)
    assert large < 2 * small


def test_a_full_disk_is_a_storage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")

    def full(**_: object) -> object:
        return Path("/dev/full").open("r+b", buffering=0)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    is_full = pytest.raises(StorageError, match=os.strerror(errno.ENOSPC))
    with closing(LineSorter(run=1000)) as sorter, is_full:
        sorter.add(["x"] * 100)
