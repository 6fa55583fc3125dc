"""Where documents rest between being fetched and being read: small in memory, large on disk.

One crawl has one spool: a temporary file without a name, which the system removes whatever way the
process ends. A document lies in it in pieces, in the order in which they came, so several may be
written at once. Reading is repeatable, and several readers don't disturb one another, those in
forked processes neither. A disk that is full or missing is the caller's to mend, so it is raised:
to go on without the document would be to lose it in silence.
"""

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Final

from usp.exceptions import StorageError

_SMALL: Final = 64 * 1024
"""Documents up to this size stay in memory."""
_MOST_IN_MEMORY: Final = 32 * 1024 * 1024
"""So much of them in all: a site may have a hundred thousand small ones."""
_PIECE: Final = 256 * 1024
"""So much is written, and read, at once, or a little more."""


class Store:
    """The documents of one crawl."""

    def __init__(self, *, file_per_document: bool = False) -> None:
        """Open a store; in a ``file_per_document`` one each large document has a file of its own.

        That file is gone as soon as nobody holds the document, so that disk doesn't grow with what
        passes through; the one spool, which is quicker, grows until the crawl is forgotten.
        """
        self._passing = file_per_document
        self._spool: _Spool | None = None
        self._spools: weakref.WeakSet[_Spool] = weakref.WeakSet()
        self._in_memory = 0
        self._lock = threading.Lock()

    def keep(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Take a document in, and return it as something to be read as often as one likes.

        :raises StorageError: if there is no place for it.
        """
        intake = BodyWriter(self)
        for chunk in chunks:
            intake.add(chunk)
        return intake.finish()

    def holds(self, size: int) -> bool:
        """Tell whether a document of this size stays in memory, and count on it if it does."""
        if size > _SMALL or self._passing:
            return size <= _SMALL
        with self._lock:
            has_room = self._in_memory + size <= _MOST_IN_MEMORY
            self._in_memory += size if has_room else 0
        return has_room

    def spool(self) -> "_Spool":
        """Return the file that the next large document goes to."""
        with self._lock:
            spool = self._spool
            # A forked process reads its parent's spool, but both would write to the same place.
            if spool is None or spool.owner != os.getpid():
                spool = _Spool()
                self._spools.add(spool)
                self._spool = None if self._passing else spool
            return spool

    def close(self) -> None:
        """Give the disk back: nobody reads these documents any more, though they may be held."""
        with self._lock:
            for spool in self._spools:
                spool.close()


class BodyWriter:
    """A document on its way into a store, a piece after the other."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: list[bytes] = []
        self._size = 0
        self._spool: _Spool | None = None
        self._pieces: list[tuple[int, int]] = []

    def add(self, chunk: bytes) -> None:
        """Take in a piece; what is held is written to disk as soon as it is enough for that.

        :raises StorageError: if it can't be written.
        """
        self._held.append(bytes(chunk))  # a client of the caller's may use its buffer again
        self._size += len(chunk)
        if self._size >= _PIECE:
            self._write()

    def finish(self) -> Iterable[bytes]:
        """Return the document, all of it that was taken in.

        :raises StorageError: if the rest of it can't be written.
        """
        if self._spool is None and self._store.holds(self._size):
            return [b"".join(self._held)]
        return _Spooled(self._write(), self._pieces)

    def _write(self) -> "_Spool":
        if self._spool is None:
            self._spool = self._store.spool()
        if self._size:
            self._pieces.append(self._spool.append(b"".join(self._held)))
        self._held, self._size = [], 0
        return self._spool


class _Spool:
    """One file that only grows, read at any place."""

    def __init__(self) -> None:
        import tempfile  # here, since most crawls are small

        with _clearly():
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="usp-", buffering=0)  # noqa: SIM115 -- lives as long as the documents in it
        weakref.finalize(self, self._file.close)
        self.owner = os.getpid()
        self._end = 0
        self._lock = threading.Lock()

    def append(self, data: bytes) -> tuple[int, int]:
        """Write data at the end; return where it lies and how long it is."""
        with self._lock, _clearly():
            at = self._end
            self._file.seek(at)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
            self._end = at + len(data)
        return at, len(data)

    def read(self, at: int, size: int) -> bytes:
        """Read from one place without moving anybody else."""
        with _clearly():
            data = self._read(at, size)
        if len(data) < size:
            raise StorageError("A document in the temporary file is no longer whole.")
        return data

    def close(self) -> None:
        """Give the disk back, but not under the hands of who writes."""
        with self._lock:
            self._file.close()

    def _read(self, at: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, at)
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)


@contextmanager
def _clearly() -> Iterator[None]:
    """Say what the system means, and what can be done."""
    try:
        yield
    except OSError as error:
        import tempfile

        where = f" in {os.fsdecode(tempfile.tempdir)}" if tempfile.tempdir else ""
        raise StorageError(
            f"A large document can't be kept in a temporary file{where}: "
            f"{error.strerror or error}. Set TMPDIR to a directory that has room."
        ) from error


class _Spooled:
    """A document in the spool."""

    def __init__(self, spool: _Spool, pieces: list[tuple[int, int]]) -> None:
        self._spool = spool
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for at, size in self._pieces:
            step = -(-size // max(size // _PIECE, 1))  # about as much, with no crumb at the end
            for start in range(0, size, step):
                yield self._spool.read(at + start, min(step, size - start))
