"""Where documents rest between being fetched and being read: small in memory, large on disk.

One crawl has one spool: a temporary file without a name, which the system removes whatever way the
process ends. A document lies in it in pieces, in the order in which they came, so several may be
written at once. Reading is repeatable, and several readers don't disturb one another.
"""

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from typing import IO, Final

_SMALL: Final = 64 * 1024
"""Documents up to this size stay in memory."""
_PIECE: Final = 256 * 1024


class Store:
    """The documents of one crawl."""

    def __init__(self, *, passing: bool = False) -> None:
        """Open a store; in a ``passing`` one each large document has a file of its own.

        That file is gone as soon as nobody holds the document, so that disk doesn't grow with what
        passes through; the one spool, which is quicker, grows until the crawl is forgotten.
        """
        self._passing = passing
        self._spool: _Spool | None = None
        self._lock = threading.Lock()

    def keep(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Take a document in, and return it as something to be read as often as one likes."""
        intake = Intake(self)
        for chunk in chunks:
            intake.add(chunk)
        return intake.kept()

    def spool(self) -> "_Spool":
        """Return the file that the next large document goes to."""
        if self._passing:
            return _Spool()
        with self._lock:
            if self._spool is None:
                self._spool = _Spool()
            return self._spool


class Intake:
    """A document on its way into a store, a piece after the other."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: list[bytes] = []
        self._size = 0
        self._spool: _Spool | None = None
        self._pieces: list[tuple[int, int]] = []

    def add(self, chunk: bytes) -> None:
        """Take in a piece; it is written to disk as soon as the document is no longer small."""
        if self._spool is not None:
            self._pieces.append(self._spool.append(chunk))
            return
        self._held.append(chunk)
        self._size += len(chunk)
        if self._size > _SMALL:
            self._spool = self._store.spool()
            self._pieces.append(self._spool.append(b"".join(self._held)))
            self._held = []

    def kept(self) -> Iterable[bytes]:
        """Return the document, all of it that was taken in."""
        if self._spool is None:
            return [b"".join(self._held)]
        return _Spooled(self._spool, self._pieces)


class _Spool:
    """One file that only grows, read at any place."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="usp-", buffering=0)  # noqa: SIM115 -- lives as long as the documents in it
        self._end = 0
        self._lock = threading.Lock()

    def append(self, data: bytes) -> tuple[int, int]:
        """Write data at the end; return where it lies and how long it is."""
        with self._lock:
            at = self._end
            self._file.seek(at)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
            self._end = at + len(data)
        return at, len(data)

    def read(self, at: int, size: int) -> bytes:
        """Read from one place without moving anybody else."""
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, at)
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)

    def __del__(self) -> None:
        self._file.close()


class _Spooled:
    """A document in the spool."""

    def __init__(self, spool: _Spool, pieces: list[tuple[int, int]]) -> None:
        self._spool = spool
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for at, size in self._pieces:
            for start in range(0, size, _PIECE):
                yield self._spool.read(at + start, min(_PIECE, size - start))
