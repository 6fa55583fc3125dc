"""Documents at rest: as they came, as often as they are wanted, to several readers at once."""

import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.command import script
from usp._store import BodyWriter, Store

PIECE = 256 * 1024
SMALL = 64 * 1024

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")


def noise(number: int, size: int) -> bytes:
    """Bytes of which no two pieces are alike, the same ones for the same number."""
    return hashlib.shake_128(bytes([number])).digest(size)


def test_what_is_small_stays_in_memory() -> None:
    kept = Store().keep([b"a" * SMALL, b""])
    assert kept == [b"a" * SMALL]


def test_very_many_small_ones_go_to_disk_where_they_would_stay() -> None:
    small = [noise(1, SMALL)]
    store, passing = Store(), Store(file_per_document=True)
    kept = [store.keep(small) for _ in range(600)]
    assert [isinstance(document, list) for document in kept] == [True] * 512 + [False] * 88
    assert all(list(document) == small for document in kept)
    assert store.keep([]) == [b""]
    assert all(isinstance(passing.keep(small), list) for _ in range(600))


@given(st.lists(st.integers(0, 2 * PIECE), max_size=6), st.booleans())
def test_however_it_came_it_is_the_same_each_time(sizes: list[int], passing: bool) -> None:
    chunks = [noise(number, size) for number, size in enumerate(sizes)]
    kept = Store(file_per_document=passing).keep(chunks)
    whole = b"".join(chunks)
    assert b"".join(kept) == whole
    assert b"".join(kept) == whole
    assert isinstance(kept, list) == (len(whole) <= SMALL)


def test_crumbs_are_written_and_read_in_large_pieces() -> None:
    kept = Store().keep(b"x" * 100 for _ in range(10_000))
    assert [len(piece) for piece in kept] == [262_200, 262_200, 262_200, 213_400]


def test_a_large_chunk_is_read_in_pieces_of_about_one_size() -> None:
    kept = Store().keep([bytes(3 * PIECE + 1)])
    assert [len(piece) for piece in kept] == [PIECE + 1, PIECE + 1, PIECE - 1]


def test_a_buffer_that_is_used_again_is_kept_as_it_was() -> None:
    buffer = bytearray(1000)
    writer = BodyWriter(Store())
    for number in range(200):
        buffer[:] = bytes([number]) * 1000
        writer.add(buffer)  # type: ignore[arg-type]  # as a client of the caller's may
    expected = b"".join(bytes([number]) * 1000 for number in range(200))
    assert b"".join(writer.finish()) == expected


def test_documents_that_come_side_by_side_are_kept_apart() -> None:
    store = Store()
    intakes = [BodyWriter(store) for _ in range(3)]
    for _ in range(50):
        for number, writer in enumerate(intakes):
            writer.add(bytes([number]) * 20_000)
    for number, writer in enumerate(intakes):
        assert b"".join(writer.finish()) == bytes([number]) * 1_000_000


def test_threads_write_and_read_at_once() -> None:
    store = Store()
    go = threading.Barrier(8)

    def work(number: int) -> bool:
        whole = noise(number, 700_000)
        go.wait()
        kept = store.keep(whole[at : at + 10_000] for at in range(0, len(whole), 10_000))
        return all(b"".join(kept) == whole for _ in range(5))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_readers_of_one_document_have_places_of_their_own() -> None:
    whole = noise(0, 10 * PIECE)
    kept = Store().keep([whole])
    readers = [iter(kept) for _ in range(3)]
    in_turn = [b"".join(pieces) for pieces in zip(*zip(*readers, strict=True), strict=True)]
    assert in_turn == [whole] * 3


FORKED = """
import os, sys
from random import Random
from usp._store import Store

def document(number):
    return Random(number).randbytes(700_000)

def pieces(number):
    whole = document(number)
    return (whole[at : at + 9_000] for at in range(0, len(whole), 9_000))

store = Store()
before = store.keep(pieces(0))
child = os.fork()
own = [store.keep(pieces(number)) for number in range(1, 5)]
good = all(
    b"".join(before) == document(0)
    and all(b"".join(kept) == document(number) for number, kept in enumerate(own, 1))
    for _ in range(10)
)
if child == 0:
    os._exit(0 if good else 1)
_, status = os.waitpid(child, 0)
sys.exit(0 if good and status == 0 else 1)
"""


@posix
def test_a_forked_process_reads_and_writes_without_disturbing_its_parent() -> None:
    ended = script(FORKED)
    assert (ended.code, ended.err) == (0, "")


TRUNCATED = """
import os, sys
from pathlib import Path
from usp._store import Store
from usp.exceptions import StorageError

kept = Store().keep([bytes(600_000)])
for file in Path("/proc/self/fd").iterdir():
    if file.is_symlink() and str(file.readlink()).startswith(sys.argv[1]):
        os.truncate(file, 300_000)
try:
    list(kept)
except StorageError as error:
    print(error)
"""


def test_a_document_that_is_no_longer_whole_is_never_read_as_if_it_were(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system doesn't say which files are open")
    ended = script(TRUNCATED, str(tmp_path), env={"TMPDIR": str(tmp_path)})
    assert ended.err == ""
    assert ended.out == "A document in the temporary file is no longer whole.\n"
