"""A process that syncs a site and is killed at a given point: run as a program by the tests.

It counts the statements of SQLite and the changes that it takes, and kills itself with SIGKILL
before the one whose number is given. Each change that it takes is a line of its standard output; if
it lives, the number of steps is its standard error.
"""

import json
import os
import signal
import sqlite3
import sys
from itertools import count

import usp


def main(url: str, state: str, die_at: int) -> None:
    steps = count(1)

    def step() -> None:
        if next(steps) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    class Connection(sqlite3.Connection):
        """A connection that may be killed before each statement."""

        def execute(self, *args: object) -> sqlite3.Cursor:
            step()
            return super().execute(*args)  # type: ignore[arg-type]

        def executemany(self, *args: object) -> sqlite3.Cursor:
            step()
            return super().executemany(*args)  # type: ignore[arg-type]

    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **named: connect(*args, factory=Connection, **named)  # type: ignore[assignment]
    with usp.sync(url, state=state, confirm=1, max_attempts=1) as found:
        for change in found:
            sys.stdout.write(json.dumps(change.to_dict()) + "\n")
            sys.stdout.flush()
            step()
    sys.stderr.write(str(next(steps) - 1))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
