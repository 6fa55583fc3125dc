"""The store: bodies of documents between fetching and reading, small ones in memory, large on disk.

One crawl has one spool: a temporary file without a name, which the system removes however the
process ends. A document is stored in pieces in order of arrival, so several can be written
concurrently. Reading is repeatable, and readers don't disturb one another, in forked processes
either. If a body can't be stored, ``StorageError`` is raised.
"""

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Final

from usp._forks import renewed_in_forks
from usp.exceptions import StorageError

_MAX_SMALL: Final = 64 * 1024
"""Documents up to this size stay in memory."""
_MAX_IN_MEMORY: Final = 32 * 1024 * 1024
"""The limit for all documents in memory: a site may have a hundred thousand small ones."""
_CHUNK: Final = 256 * 1024
"""About this much is written, and read, in one call."""


class Store:
    """The bodies of one crawl."""

    def __init__(self, *, file_per_document: bool = False) -> None:
        """Create a store.

        :param file_per_document: give each large document a file of its own, which is removed as
            soon as the document is no longer referenced. So the disk use of a stream doesn't grow.
            The one spool, which is faster, grows until the crawl is over.
        """
        self._file_per_document = file_per_document
        self._spool: Spool | None = None
        self._spools: weakref.WeakSet[Spool] = weakref.WeakSet()
        self._in_memory = 0
        self._process = os.getpid()
        self._lock = renewed_in_forks(threading.Lock())

    def keep(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Store a body, and return it as an iterable that can be read any number of times.

        :raises StorageError: if there is no room for it.
        """
        writer = BodyWriter(self)
        for chunk in chunks:
            writer.add(chunk)
        return writer.finish()

    def reserve_memory(self, size: int) -> bool:
        """Tell whether a body of this size stays in memory; if so, count it."""
        if size > _MAX_SMALL or self._file_per_document:
            return size <= _MAX_SMALL
        with self._lock:
            has_room = self._in_memory + size <= _MAX_IN_MEMORY
            self._in_memory += size if has_room else 0
        return has_room

    def spool(self) -> "Spool":
        """Return the file to which the next large document is written."""
        with self._lock:
            spool = self._spool
            # A forked process can read its parent's spool, but both would write at the same offset.
            if spool is None or spool.owner != os.getpid():
                spool = Spool()
                self._spools.add(spool)
                self._spool = None if self._file_per_document else spool
            return spool

    def close(self) -> None:
        """Free the disk space: no document is read any more, though it may be referenced."""
        if os.getpid() != self._process:
            return  # a thread of the parent may have held the locks when the process was forked
        with self._lock:
            for spool in self._spools:
                spool.close()


class BodyWriter:
    """Writes one body to a store, chunk by chunk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._buffered: list[bytes] = []
        self._size = 0
        self._spool: Spool | None = None
        self._pieces: list[tuple[int, int]] = []

    def add(self, chunk: bytes) -> None:
        """Add a chunk; buffered chunks are written to disk once they are large enough.

        Pieces of one size are written, in which the parser reads them: it need not copy them then.

        :raises StorageError: if it can't be written.
        """
        self._buffered.append(bytes(chunk))  # a client may reuse its buffer
        self._size += len(chunk)
        if self._size >= _CHUNK:
            data = b"".join(self._buffered)
            whole = self._size // _CHUNK * _CHUNK
            self._write(memoryview(data)[:whole])
            self._buffered, self._size = [data[whole:]], self._size - whole

    def finish(self) -> Iterable[bytes]:
        """Return the stored body.

        :raises StorageError: if the rest can't be written.
        """
        if self._spool is None and self._store.reserve_memory(self._size):
            return [b"".join(self._buffered)]
        return _SpooledBody(self._write(b"".join(self._buffered)), self._pieces)

    def _write(self, data: bytes | memoryview) -> "Spool":
        if self._spool is None:
            self._spool = self._store.spool()
        if data:
            self._pieces.append(self._spool.append(data))
        return self._spool


class Spool:
    """One append-only file, read at any offset."""

    def __init__(self) -> None:
        import tempfile  # here, since most crawls don't need it

        with _as_storage_error():
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="usp-", buffering=0)  # noqa: SIM115 -- lives as long as the documents in it
        weakref.finalize(self, self._file.close)
        self.owner = os.getpid()
        self._end = 0
        self._lock = renewed_in_forks(threading.Lock())

    def append(self, data: bytes | bytearray | memoryview) -> tuple[int, int]:
        """Append data; return its offset and length."""
        with self._lock, _as_storage_error():
            at = self._end
            self._file.seek(at)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
            self._end = at + len(data)
        return at, len(data)

    def read(self, at: int, size: int) -> bytes:
        """Read at an offset without moving the position of other readers."""
        with _as_storage_error():
            data = self._read(at, size)
        if len(data) < size:
            raise StorageError("A document in the temporary file is incomplete.")
        return data

    def close(self) -> None:
        """Free the disk space, but not while something is written."""
        with self._lock:
            self._file.close()

    def _read(self, at: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, at)
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)


@contextmanager
def _as_storage_error() -> Iterator[None]:
    """Raise errors of the system as ``StorageError``, saying what can be done."""
    try:
        yield
    except OSError as error:
        import tempfile

        where = f" in {os.fsdecode(tempfile.tempdir)}" if tempfile.tempdir else ""
        raise StorageError(
            f"Data can't be kept in a temporary file{where}: "
            f"{error.strerror or error}. Set TMPDIR to a directory that has room."
        ) from error


class _SpooledBody:
    """A body in the spool."""

    def __init__(self, spool: Spool, pieces: list[tuple[int, int]]) -> None:
        self._spool = spool
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for offset, size in self._pieces:
            for start in range(0, size, _CHUNK):
                yield self._spool.read(offset + start, min(_CHUNK, size - start))
