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
            if str(error).startswith("Could not decode"):  # by Python, which gives no code
                raise UsageError(
                    f"{self.path} is damaged: it has text that is not UTF-8."
                ) from error
            raise StateError(f"{self.path} can't be used: {error}.") from error
        except sqlite3.DatabaseError as error:
            is_damaged = _code(error) == sqlite3.SQLITE_CORRUPT
            what = "damaged" if is_damaged else "not a state of usp"
            raise UsageError(f"{self.path} is {what}: {error}.") from error

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
        connection = self._connect("", wait)
        with ExitStack() as undo:
            undo.callback(connection.close)
            connection.execute("PRAGMA synchronous = NORMAL")  # fails if it is no database
            undo.pop_all()
        return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether SQLite says that another connection is in the way."""
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    """Return the primary code of an error; errors that Python's module makes have none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
