"""The state: one SQLite file that keeps what is known of some sites, and what changed.

A sitemap has a row with its validators, and its listing as compressed bytes; a URL has a row only
where it is absent or has changed. A run commits everything at once (``run_tables``), so a process
that is killed leaves the state of the last run that ended. Readers are never in the way (WAL). One
process at a time may run: it holds a lock on a second, empty file, which the system releases,
however the process ends.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

from usp._display import without_credentials
from usp._sync.changes import Change, ChangeKind, time_of
from usp._sync.state_path import WAIT_SECONDS, StatePath, is_busy
from usp.exceptions import UsageError

APPLICATION: Final = 0x75737073
"""What says that an SQLite file is a state: ``usps`` in ASCII."""
_WAIT_STEP: Final = 0.02
"""How many seconds pass between two attempts to lock the state."""
_CHANGES_AT_ONCE: Final = 1000
_CHOSEN: Final = (
    "FROM changes WHERE seq > :after AND (:site IS NULL OR site_id = :site) "
    "AND change IN (SELECT value FROM json_each(:kinds))"
)
_LAST: Final = f"SELECT seq {_CHOSEN} ORDER BY seq DESC LIMIT :last"
_NEXT: Final = f"SELECT * {_CHOSEN} ORDER BY seq LIMIT {_CHANGES_AT_ONCE}"

_FORMAT_1: Final = """
CREATE TABLE identity (id TEXT NOT NULL);
INSERT INTO identity VALUES (lower(hex(randomblob(16))));
CREATE TABLE sites (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    has_baseline INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    pages INTEGER NOT NULL,
    last_seq INTEGER NOT NULL
);
CREATE INDEX runs_of_site ON runs (site_id);
CREATE TABLE sitemaps (
    id INTEGER PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    kind TEXT,
    is_rolling INTEGER NOT NULL DEFAULT 0,
    is_silent INTEGER NOT NULL DEFAULT 0,
    is_complete INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    etag TEXT,
    last_modified TEXT,
    content_type TEXT,
    sha256 BLOB,
    children BLOB,
    fetched_at INTEGER,
    changed_at INTEGER,
    interval INTEGER NOT NULL DEFAULT 0,
    UNIQUE (site_id, url)
);
CREATE TABLE listings (
    sitemap_id INTEGER PRIMARY KEY REFERENCES sitemaps,
    entries BLOB NOT NULL,
    hashes BLOB NOT NULL
);
CREATE TABLE absent (
    site_id INTEGER NOT NULL REFERENCES sites,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    runs INTEGER NOT NULL,
    sitemap_url TEXT NOT NULL,
    lastmod INTEGER,
    at INTEGER NOT NULL,
    PRIMARY KEY (site_id, url)
) WITHOUT ROWID;
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    site_id INTEGER NOT NULL REFERENCES sites,
    change TEXT NOT NULL,
    url TEXT NOT NULL,
    sitemap_url TEXT,
    lastmod INTEGER,
    old_lastmod INTEGER,
    at INTEGER NOT NULL
);
CREATE INDEX changes_of_site ON changes (site_id, seq);
"""
_FORMAT_2: Final = "ALTER TABLE sitemaps ADD COLUMN parent_url TEXT;"
"""What lists a sitemap. Until one of an older file is met again, nothing takes it for gone."""
_FORMAT_3: Final = "CREATE INDEX sitemaps_by_document ON sitemaps (site_id, final_url);"
"""A sitemap is found by both of its URLs, of which it may have another one in each run."""
MIGRATIONS: Final = (_FORMAT_1, _FORMAT_2, _FORMAT_3)
"""What makes each format out of the one before; a file that is new has format 0."""


class Run(NamedTuple):
    """One run of a site."""

    at: int
    """When it ended, in microseconds since 1970."""
    outcome: str
    pages: int
    last_seq: int
    """The number of the last change of the state when it ended."""


class State:
    """An open state."""

    def __init__(self, path: StatePath, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self._lock: sqlite3.Connection | None = None

    @classmethod
    def open_to_read(cls, given: object) -> "State":
        """Open a state that is there.

        :raises UsageError: if it isn't there, or is no state.
        """
        path = StatePath.of(given)
        if not Path(path.path).is_file():
            raise UsageError(f"{path.path} is not there: usp sync --state makes it.")
        return cls._opened(path, create=False)

    @classmethod
    def open_to_run(
        cls, given: object, wait: float = WAIT_SECONDS, given_up: threading.Event | None = None
    ) -> "State":
        """Open a state for a run, or make it; no other process may run until it is closed.

        :param wait: how many seconds to wait for another process.
        :param given_up: ends the wait early.
        :raises UsageError: if the file is no state; nothing is made then.
        :raises StateError: if another process uses it, or it can't be written.
        """
        path = StatePath.of(given)
        wait_for = _Patience(time.monotonic() + wait, given_up or threading.Event())
        with ExitStack() as undo, path.errors():
            wait_for(partial(_check_file, path))
            lock = path.connect_lock()
            undo.callback(lock.close)
            wait_for(partial(lock.execute, "BEGIN EXCLUSIVE"))
            state = cls._opened(path, create=True)
            state._lock = lock
            undo.pop_all()
        return state

    @classmethod
    def _opened(cls, path: StatePath, *, create: bool) -> "State":
        with ExitStack() as undo, path.errors():
            connection = path.connect() if create else path.connect_to_read()
            undo.callback(connection.close)
            _prepare(connection, path.path, create=create)
            undo.pop_all()
        return cls(path, connection)

    def close(self) -> None:
        """Close the state; another process may run then."""
        self.connection.close()
        if self._lock:
            self._lock.close()

    @property
    def identity(self) -> UUID:
        """What no other state has; it never changes."""
        (number,) = self.connection.execute("SELECT id FROM identity").fetchone()
        return UUID(number, version=4)

    def site_id(self, name: str) -> int | None:
        """Return the number of a site, if the state knows it."""
        row = self.connection.execute("SELECT id FROM sites WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def add_site(self, name: str) -> int:
        """Return the number of a site, which is new or known."""
        known = self.site_id(name)
        if known is not None:
            return known
        self.connection.execute("INSERT OR IGNORE INTO sites (name) VALUES (?)", (name,))
        return self.add_site(name)

    def known_site(self, name: str) -> int:
        """Return the number of a site.

        :raises UsageError: if the state doesn't know it.
        """
        number = self.site_id(name)
        if number is None:
            raise UsageError(f"{self.path.path} has no site {name}.")
        return number

    def changes(
        self,
        *,
        after: int = 0,
        site_id: int | None = None,
        kinds: Collection[ChangeKind] = tuple(ChangeKind),
        last: int | None = None,
    ) -> Iterator[Change]:
        """Yield the changes after a number, in their order; the state may be written meanwhile.

        :param site_id: of one site only.
        :param last: only so many, the last ones.
        """
        given = {"site": site_id, "kinds": json.dumps(sorted(kinds)), "last": last}
        with self.path.errors():
            if last is not None:
                last_ones = self.connection.execute(_LAST, given | {"after": after}).fetchall()
                after = last_ones[-1][0] - 1 if last_ones else after
            while rows := self.connection.execute(_NEXT, given | {"after": after}).fetchall():
                yield from map(_change, rows)
                after = rows[-1][0]

    def site_names(self) -> dict[int, str]:
        """Return the names of all sites, by their numbers."""
        return dict(self.connection.execute("SELECT id, name FROM sites ORDER BY name"))

    def last_runs(self, site_id: int, limit: int) -> list[Run]:
        """Return the last runs of a site, the latest first."""
        query = "SELECT at, outcome, pages, last_seq FROM runs WHERE site_id = ? ORDER BY id DESC"
        with self.path.errors():
            return [
                Run(*row) for row in self.connection.execute(f"{query} LIMIT ?", (site_id, limit))
            ]

    def last_run_at(self, site_id: int | None = None) -> int | None:
        """Return when the last run ended, of one site or of any; None if there was none."""
        query = "SELECT max(at) FROM runs WHERE site_id = coalesce(?, site_id)"
        with self.path.errors():
            (at,) = self.connection.execute(query, (site_id,)).fetchone()
        return None if at is None else int(at)

    def changes_by_day(self, site_id: int, since: int) -> dict[int, int]:
        """Return the number of changes of a site on each day since 1970, from a time on."""
        query = (
            "SELECT at / 86400000000, count(*) FROM changes WHERE site_id = ? AND at >= ? "
            "GROUP BY 1"
        )
        with self.path.errors():
            return dict(self.connection.execute(query, (site_id, since)))

    def undelivered(self, site_id: int, after: int = 0) -> Iterator[Change]:
        """Yield the changes of a site that nobody has taken, and that come after a number."""
        query = "SELECT delivered FROM sites WHERE id = ?"
        (delivered,) = self.connection.execute(query, (site_id,)).fetchone()
        return self.changes(after=max(delivered, after), site_id=site_id)

    def deliver(self, site_id: int, seq: int) -> None:
        """Record that somebody has taken the changes of a site up to this one."""
        with self.path.errors():
            self._deliver(site_id, seq)

    def deliver_unless_busy(self, site_id: int, seq: int) -> bool:
        """Do the same, unless another connection is writing just now; tell whether it was done."""
        with self.path.errors():
            self.connection.execute("PRAGMA busy_timeout = 0")
            try:
                self._deliver(site_id, seq)
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    return False
                raise
            finally:
                self.connection.execute(f"PRAGMA busy_timeout = {WAIT_SECONDS * 1000:.0f}")
        return True

    def _deliver(self, site_id: int, seq: int) -> None:
        self.connection.execute(
            "UPDATE sites SET delivered = max(delivered, ?) WHERE id = ?", (seq, site_id)
        )

    def forget(self, before: int) -> None:
        """Forget changes that were taken, and URLs that are gone, if they are older than this."""
        with self.path.errors():
            self.connection.execute(
                "DELETE FROM changes WHERE at < ? AND seq <= "
                "(SELECT delivered FROM sites WHERE id = site_id)",
                (before,),
            )
            self.connection.execute(
                "DELETE FROM absent WHERE at < ? AND kind != 'missing'", (before,)
            )


class _Patience(NamedTuple):
    """How long to wait for another process.

    SQLite could wait itself, but nothing could end that: no signal, and no other thread.
    """

    end: float
    given_up: threading.Event

    def __call__(self, use: Callable[[], object]) -> None:
        """Use a file, as soon as no other process is in the way."""
        while True:
            try:
                use()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= self.end:
                    raise
                if self.given_up.wait(_WAIT_STEP):
                    raise
            else:
                return


def _check_file(path: StatePath) -> None:
    """Check that a file is a state or absent, before anything is made beside it.

    :raises UsageError: if it is neither, or there is no folder for it.
    """
    folder = Path(path.path).parent
    if not folder.is_dir():
        # Of a URL that is given as a path, the folder may be a password without the @ after it.
        named = Path(without_credentials(path.path)).parent
        raise UsageError(f"{path.path} can't be used: there is no folder {named}.")
    if not Path(path.path).exists():
        return
    if not Path(path.path).is_file():
        raise UsageError(f"{path.path} is no file, but a folder or a device: a state is a file.")
    with closing(path.connect(wait=0)) as connection:
        _check_content(connection, path.path, create=True)


def _change(row: tuple[Any, ...]) -> Change:
    seq, _, kind, url, sitemap_url, lastmod, old_lastmod, at = row
    found_at = time_of(at)
    assert isinstance(found_at, datetime)  # noqa: S101 -- the column is never null
    return Change(
        seq, ChangeKind(kind), url, sitemap_url, time_of(lastmod), time_of(old_lastmod), found_at
    )


def _check_content(connection: sqlite3.Connection, path: str, *, create: bool) -> int:
    """Check what a file is; return the number of its format.

    :param create: whether it may be empty.
    :raises UsageError: if it is no state.
    """
    with connection:  # one transaction: another process may be making the state
        connection.execute("BEGIN")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    is_new = not application and not tables
    if is_new and not create:
        raise UsageError(f"{path} is not a state of usp: it is empty.")
    if not is_new and application != APPLICATION:
        raise UsageError(f"{path} is not a state of usp: another program has made it.")
    if version > len(MIGRATIONS):
        raise UsageError(f"{path} was written by a later version of usp.")
    return int(version)


def _prepare(connection: sqlite3.Connection, path: str, *, create: bool) -> None:
    """Check what a file is, and bring it to the latest format."""
    version = _check_content(connection, path, create=create)
    if version == len(MIGRATIONS):
        return
    connection.execute("PRAGMA journal_mode = WAL")
    steps = "".join(MIGRATIONS[version:])
    connection.executescript(
        f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION};"
        f"PRAGMA user_version = {len(MIGRATIONS)}; COMMIT;"
    )
