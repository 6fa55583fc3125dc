"""Where a state is: connections to it, and what SQLite says about it as errors of ours."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from usp._validate import argument_error
from usp.exceptions import StateError, UsageError

WAIT_SECONDS: Final = 5.0
"""How long to wait for another process that uses the state."""
_LOCK: Final = "-lock"


@dataclass(frozen=True, slots=True)
class StatePath:
    """Where a state is, as the caller named it."""

    path: str

    @classmethod
    def of(cls, given: object) -> "StatePath":
        """Return the path of a state.

        :raises UsageError: if it is no path.
        """
        path = os.fspath(given) if isinstance(given, os.PathLike) else given
        if not isinstance(path, str) or not path:
            raise argument_error("state", "the path of a file", given)
        return cls(path)

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
            if str(error).startswith("Could not decode"):
                raise UsageError(
                    f"{self.path} is damaged: it has text that is not UTF-8."
                ) from error
            raise StateError(f"{self.path} can't be used: {error}.") from error
        except sqlite3.DatabaseError as error:
            what = "damaged" if "malformed" in str(error) else "not a state of usp"
            raise UsageError(f"{self.path} is {what}: {error}.") from error

    def connect_lock(self) -> sqlite3.Connection:
        """Open a connection to the file that is locked while a process runs; it never waits."""
        return self._connect(_LOCK, 0)

    def _connect(self, suffix: str, timeout: float) -> sqlite3.Connection:
        # The lock is one for all links to a file, and SQLite takes ':memory:' for no file.
        path = f"{Path(self.path).resolve()}{suffix}"
        return sqlite3.connect(path, timeout, isolation_level=None, check_same_thread=False)

    def connect(self) -> sqlite3.Connection:
        """Open a connection; any thread may use it, one at a time."""
        connection = self._connect("", WAIT_SECONDS)
        with ExitStack() as undo:
            undo.callback(connection.close)
            connection.execute("PRAGMA synchronous = NORMAL")  # fails if it is no database
            undo.pop_all()
        return connection


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Tell whether SQLite says that another connection is in the way."""
    return "locked" in str(error) or "busy" in str(error)
