"""Where a state is: connections to it, and what SQLite says about it as errors of ours."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from usp._validate import argument_error
from usp.exceptions import StateError, UsageError

WAIT_SECONDS: Final = 5.0
"""How long to wait for another process that uses the state."""
_LOCK: Final = "-lock"
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_READ_ONLY: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
"""What SQLite says where it can't make the files beside a database that has a WAL."""
_PRIMARY: Final = 0xFF
"""The bits of an error's code that say what it is; the others say more closely why."""


@dataclass(frozen=True, slots=True)
class StatePath:
    """Where a state is."""

    path: str
    """As the caller named it."""
    _real: str
    """Without symbolic links, so all of them have one lock; whole, so ``:memory:`` is a file."""

    @classmethod
    def of(cls, given: object) -> "StatePath":
        """Return the path of a state.

        :raises UsageError: if it is no path, or one that can't be followed.
        """
        path = os.fspath(given) if isinstance(given, os.PathLike) else given
        if not isinstance(path, str) or not path:
            raise argument_error("state", "the path of a file", given)
        try:
            with suppress(FileNotFoundError):  # it is yet to be made
                Path(path).stat()  # realpath() doesn't say that links lead in a circle
            return cls(path, os.path.realpath(path))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"{path!r} can't be the path of a state: {reason}.") from error

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise errors of SQLite as ours, in one line.

        :raises UsageError: if the file is no database, or a damaged one.
        :raises StateError: if it can't be read or written.
        """
        try:
            yield
        except sqlite3.OperationalError as error:
            if is_busy(error):
                raise StateError(f"{self.path} is used by another process.") from error
            if _code(error) == sqlite3.SQLITE_READONLY or self._is_folder_read_only(error):
                raise StateError(
                    f"{self.path} can't be written: it or its folder is read-only."
                ) from error
            if str(error).startswith("Could not decode"):  # by Python, which gives no code
                raise UsageError(
                    f"{self.path} is damaged: it has text that is not UTF-8."
                ) from error
            raise StateError(f"{self.path} can't be used: {error}.") from error
        except UnicodeDecodeError as error:  # of a message of SQLite that quotes it
            raise UsageError(f"{self.path} is damaged: it has text that is not UTF-8.") from error
        except sqlite3.DatabaseError as error:
            is_damaged = _code(error) == sqlite3.SQLITE_CORRUPT
            what = "damaged" if is_damaged else "not a state of usp"
            raise UsageError(f"{self.path} is {what}: {error}.") from error

    def _is_folder_read_only(self, error: sqlite3.Error) -> bool:
        """Tell whether an error comes of that: on a read-only file system, SQLite doesn't say."""
        is_writable = os.access(Path(self._real).parent, os.W_OK)
        return _code(error) == sqlite3.SQLITE_CANTOPEN and not is_writable

    def connect_lock(self) -> sqlite3.Connection:
        """Open a connection to the file that is locked while a process runs; it never waits."""
        return self._connect(_LOCK, 0)

    def _connect(self, suffix: str, wait: float) -> sqlite3.Connection:
        path = f"{self._real}{suffix}"
        return sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)

    def connect(self, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
        """Open a connection; any thread may use it, one at a time.

        :param wait: how many seconds a statement waits for another connection.
        """
        return _checked(self._connect("", wait))

    def connect_to_read(self) -> sqlite3.Connection:
        """Open a connection that need not write, also where nothing can be written.

        SQLite makes files beside a database with a WAL even to read it. Where it can't, the
        database is read as one that nobody changes, which is true if it has nothing in its WAL.

        :raises StateError: if it has.
        """
        try:
            return self.connect()
        except sqlite3.OperationalError as error:
            if _code(error) not in _READ_ONLY:
                raise
            wal = Path(f"{self._real}-wal")
            if wal.exists() and wal.stat().st_size:
                raise StateError(
                    f"{self.path} can't be read: {wal.name} has more of it, and its folder is "
                    "read-only; copy both elsewhere."
                ) from error
        uri = f"{Path(self._real).as_uri()}?immutable=1"
        read_only = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        return _checked(read_only)


def _checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a connection that can be used; close one to what is no database."""
    with ExitStack() as undo:
        undo.callback(connection.close)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")  # fails if it is no database
        except UnicodeDecodeError as error:  # SQLite quotes what is damaged, and Python decodes it
            raise sqlite3.DatabaseError("its schema is not UTF-8") from error
        undo.pop_all()
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether SQLite says that another connection is in the way."""
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    """Return the primary code of an error; errors that Python's module makes have none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
