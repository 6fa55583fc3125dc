"""The store: bodies are read as they were written, any number of times, by concurrent readers."""

import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.command import script
from tests.open_files import requires_proc
from usp._parse.input.chunks import CHUNK_SIZE
from usp._store import BodyWriter, Store

CHUNK = 256 * 1024
SMALL = 64 * 1024

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")


def random_bytes(seed: int, size: int) -> bytes:
    """Return bytes in which nothing repeats; the same ones for the same seed."""
    return hashlib.shake_128(bytes([seed])).digest(size)


def test_a_small_body_stays_in_memory() -> None:
    stored = Store().keep([b"a" * SMALL, b""])
    assert stored == [b"a" * SMALL]


def test_small_bodies_go_to_disk_when_the_memory_limit_is_reached() -> None:
    body = [random_bytes(1, SMALL)]
    store = Store()
    stored = [store.keep(body) for _ in range(600)]
    assert [isinstance(each, list) for each in stored] == [True] * 512 + [False] * 88
    assert all(list(each) == body for each in stored)
    assert store.keep([]) == [b""]


def test_the_store_of_a_stream_has_no_limit_for_small_bodies() -> None:
    store = Store(file_per_document=True)
    assert all(isinstance(store.keep([bytes(SMALL)]), list) for _ in range(600))


@given(st.lists(st.integers(0, 2 * CHUNK), max_size=6), st.booleans())
def test_any_chunks_are_read_back_each_time(sizes: list[int], file_per_document: bool) -> None:
    chunks = [random_bytes(number, size) for number, size in enumerate(sizes)]
    stored = Store(file_per_document=file_per_document).keep(chunks)
    body = b"".join(chunks)
    assert b"".join(stored) == body
    assert b"".join(stored) == body
    assert isinstance(stored, list) == (len(body) <= SMALL)


@pytest.mark.parametrize("size", [100, 70_000, CHUNK, CHUNK + 1, 5 * CHUNK])
def test_chunks_of_any_size_are_read_in_chunks_of_the_parser(size: int) -> None:
    body = random_bytes(1, 1_000_000)
    stored = list(Store().keep(body[at : at + size] for at in range(0, len(body), size)))
    assert [len(chunk) for chunk in stored] == [CHUNK_SIZE] * 3 + [1_000_000 - 3 * CHUNK_SIZE]
    assert b"".join(stored) == body


def test_a_buffer_that_the_client_reuses_is_copied() -> None:
    buffer = bytearray(1000)
    writer = BodyWriter(Store())
    for number in range(200):
        buffer[:] = bytes([number]) * 1000
        writer.add(buffer)  # type: ignore[arg-type]  # a caller's client may do this
    expected = b"".join(bytes([number]) * 1000 for number in range(200))
    assert b"".join(writer.finish()) == expected


def test_bodies_that_are_written_concurrently_are_not_mixed() -> None:
    store = Store()
    writers = [BodyWriter(store) for _ in range(3)]
    for _ in range(50):
        for number, writer in enumerate(writers):
            writer.add(bytes([number]) * 20_000)
    for number, writer in enumerate(writers):
        assert b"".join(writer.finish()) == bytes([number]) * 1_000_000


def test_threads_write_and_read_concurrently() -> None:
    store = Store()
    all_started = threading.Barrier(8)

    def write_and_read(number: int) -> bool:
        body = random_bytes(number, 700_000)
        all_started.wait()
        stored = store.keep(body[at : at + 10_000] for at in range(0, len(body), 10_000))
        return all(b"".join(stored) == body for _ in range(5))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write_and_read, range(8)))


def test_readers_of_one_body_do_not_disturb_one_another() -> None:
    body = random_bytes(0, 10 * CHUNK)
    stored = Store().keep([body])
    readers = [iter(stored) for _ in range(3)]
    in_turn = [b"".join(chunks) for chunks in zip(*zip(*readers, strict=True), strict=True)]
    assert in_turn == [body] * 3


FORKED = """
import os, sys
from random import Random
from usp._store import Store

def body(number):
    return Random(number).randbytes(700_000)

def chunks(number):
    whole = body(number)
    return (whole[at : at + 9_000] for at in range(0, len(whole), 9_000))

store = Store()
before = store.keep(chunks(0))
child = os.fork()
after = [store.keep(chunks(number)) for number in range(1, 5)]
unchanged = all(
    b"".join(before) == body(0)
    and all(b"".join(stored) == body(number) for number, stored in enumerate(after, 1))
    for _ in range(10)
)
if child == 0:
    os._exit(0 if unchanged else 1)
_, status = os.waitpid(child, 0)
sys.exit(0 if unchanged and status == 0 else 1)
"""


@posix
def test_a_forked_process_reads_and_writes_without_disturbing_its_parent() -> None:
    finished = script(FORKED)
    assert (finished.code, finished.err) == (0, "")


TRUNCATED_SPOOL = """
import os, sys
from pathlib import Path
from usp._store import Store
from usp.exceptions import StorageError

stored = Store().keep([bytes(600_000)])
for file in Path("/proc/self/fd").iterdir():
    if file.is_symlink() and str(file.readlink()).startswith(sys.argv[1]):
        os.truncate(file, 300_000)
try:
    list(stored)
except StorageError as error:
    print(error)
"""


@requires_proc
def test_a_body_whose_file_was_truncated_raises_when_it_is_read(tmp_path: Path) -> None:
    finished = script(TRUNCATED_SPOOL, str(tmp_path), env={"TMPDIR": str(tmp_path)})
    assert finished.err == ""
    assert finished.out == "A document in the temporary file is incomplete.\n"
