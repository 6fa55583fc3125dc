"""SQLite: one database with a table for each table, and what belongs to a page in child tables.

- ``pages`` has an ``id``; ``images``, ``videos``, ``alternates``, ``links`` and ``news`` have a
  ``page_id`` that refers to it.
- A time is ISO 8601 text, which SQLite's date functions, Datasette and sqlite-utils understand; a
  boolean is 0 or 1; a list is JSON.
- ``meta`` has ``schema_version``; the meaning of each column is in ``CREATE TABLE`` as a comment.

A new database is written without a journal, since it is dropped if it doesn't become whole. Rows
that are appended to one are one transaction.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice, repeat
from pathlib import Path
from typing import Any, Final

from usp._export.options import WriteOptions
from usp._export.times import with_time_texts
from usp._export.values import encodable, is_absent, json_lists
from usp._tables.batch import Batch, Values
from usp._tables.schema import PAGE_PARTS, SCHEMA_VERSION, Column, ColumnType, Table
from usp._version import __version__
from usp.exceptions import UsageError

_STRICT_SINCE: Final = (3, 37)
"""The first SQLite with tables that check the type of each value."""
_TYPES: Final = {
    ColumnType.TEXT: "TEXT",
    ColumnType.INTEGER: "INTEGER",
    ColumnType.REAL: "REAL",
    ColumnType.BOOLEAN: "INTEGER",
    ColumnType.TIMESTAMP: "TEXT",
    ColumnType.TEXTS: "TEXT",
    ColumnType.ROWS: "TEXT",
}
_INDEXED: Final = {
    "pages": ("url", "sitemap_url", "lastmod"),
    "sitemaps": ("url", "parent_url"),
    "problems": ("sitemap_url", "code"),
    "attempts": ("url",),
    **dict.fromkeys(PAGE_PARTS, ("page_id", "page_url")),
}
"""The columns of each table that have an index."""
_PRIMARY: Final = 0xFF
"""The part of an error's code that says what kind of error it is."""
_WRONG_FILE: Final = frozenset(
    {
        *(sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
    }
)
"""What SQLite says of a file that it can't be used for at any time."""


_CELLS: Final[dict[ColumnType, Callable[[Column, Values], Sequence[Any]]]] = {
    ColumnType.TEXTS: json_lists,
    ColumnType.ROWS: json_lists,
}
"""The types whose values sqlite3 doesn't store as we do; times are texts already."""


class SqliteWriter:
    """Writes tables to a database."""

    def __init__(self, path: Path, tables: Sequence[Table], options: WriteOptions) -> None:
        """Open the database.

        :raises UsageError: if rows are to be appended to a database of something else, or to one
            that can't be written.
        :raises OSError: if there is no room, or another program uses the database.
        """
        self._path = path
        self._tables = {table.name: table for table in tables}
        self._appends = options.append
        self._page_ids: dict[tuple[Any, Any], int] = {}
        """Those of the last pages, by sitemap and URL: their parts follow them."""
        self._last_page = 0
        self._statements: dict[str, str] = {}
        with _told_as_system_error(path if options.append else None), ExitStack() as stack:
            self._database = sqlite3.connect(path, isolation_level=None)
            stack.callback(self._database.close)
            self._prepare()
            stack.pop_all()  # now the writer closes it

    def _prepare(self) -> None:
        if self._appends:
            self._database.execute("BEGIN IMMEDIATE")
            self._check()
            # SQLite lets one begin a transaction in a database that can only be read.
            self._database.execute("DELETE FROM meta WHERE false")
        else:
            # Nothing is lost with it: a database that isn't whole is dropped.
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("BEGIN")
            self._create_meta()
        for table in self._tables.values():
            self._database.execute(self._definition(table))
        if "pages" in self._tables:
            (self._last_page,) = self._database.execute(
                "SELECT coalesce(max(id), 0) FROM pages"
            ).fetchone()

    def write(self, batch: Batch) -> None:
        """Write some rows; those of a page's parts come after the page.

        :raises OSError: if there is no room.
        """
        name = batch.table.name
        timed = with_time_texts(batch)
        own: list[Iterable[Any]] = []
        if self._is_numbered(name):
            own = [self._number(batch)]
        elif self._is_part(name):
            pages = zip(batch.columns["sitemap_url"], batch.columns["page_url"], strict=True)
            own = [[self._page_ids[page] for page in pages]]
        with _told_as_system_error():
            self._insert(timed, own)

    def _insert(self, batch: Batch, own: Sequence[Iterable[Any]]) -> None:
        insertion = self._insertion(batch.table)
        before = self._database.total_changes
        try:
            self._database.executemany(insertion, zip(*own, *_columns(batch), strict=True))
        except UnicodeEncodeError:
            written = self._database.total_changes - before
            rows = islice(zip(*own, *_columns(batch), strict=True), written, None)
            self._database.executemany(insertion, map(encodable, rows))

    def close(self) -> None:
        """Make the indexes, and the database whole.

        :raises OSError: if there is no room.
        """
        with _told_as_system_error():
            self._make_whole()
        self._database.close()

    def _make_whole(self) -> None:
        for table in self._tables.values():
            for column in _INDEXED.get(table.name, ()):
                if column in table or (column == "page_id" and self._is_part(table.name)):
                    self._database.execute(
                        f"CREATE INDEX IF NOT EXISTS {_quoted(f'{table.name}_{column}')} "
                        f"ON {_quoted(table.name)} ({_quoted(column)})"
                    )
        self._database.execute("COMMIT")

    def abort(self) -> None:
        """Undo what was written."""
        with suppress(sqlite3.Error):  # on a full disk, SQLite has tried it already, in vain
            if self._appends and self._database.in_transaction:
                self._database.execute("ROLLBACK")
        self._database.close()
        with suppress(sqlite3.Error):  # another program uses it, and will undo it
            if self._appends and Path(f"{self._path}-journal").exists():
                with closing(sqlite3.connect(self._path, isolation_level=None)) as again:
                    again.execute("BEGIN IMMEDIATE")  # undoes what this connection left
                    again.execute("COMMIT")

    def _number(self, batch: Batch) -> Iterable[int]:
        """Return the ids of some pages, and remember them for the parts that follow."""
        first, self._last_page = self._last_page + 1, self._last_page + batch.length
        ids = range(first, self._last_page + 1)
        if any(self._is_part(part) for part in PAGE_PARTS):
            pages = zip(batch.columns["sitemap_url"], batch.columns["url"], strict=True)
            self._page_ids = dict(zip(pages, ids, strict=True))
        return ids

    def _is_numbered(self, name: str) -> bool:
        return name == "pages"

    def _is_part(self, name: str) -> bool:
        """Tell whether a table is here with the pages that its rows belong to."""
        return name in PAGE_PARTS and name in self._tables and "pages" in self._tables

    def _create_meta(self) -> None:
        self._database.execute(f"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT){_strict()}")
        self._database.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [("schema_version", str(SCHEMA_VERSION)), ("usp", __version__)],
        )

    def _definition(self, table: Table) -> str:
        lines = []
        if self._is_numbered(table.name):
            lines.append(('"id" INTEGER PRIMARY KEY', "The number of the row."))
        elif self._is_part(table.name):
            lines.append(('"page_id" INTEGER NOT NULL REFERENCES "pages" ("id")', "The page."))
        lines += [
            (f"{_quoted(column.name)} {_TYPES[column.type]}", column.meaning) for column in table
        ]
        last = len(lines) - 1
        body = "".join(
            f"  {definition}{',' if at < last else ''} -- {meaning}\n"
            for at, (definition, meaning) in enumerate(lines)
        )
        return f"CREATE TABLE IF NOT EXISTS {_quoted(table.name)} (\n{body}){_strict()}"

    def _insertion(self, table: Table) -> str:
        if table.name not in self._statements:
            names = self._names(table)
            columns = ", ".join(map(_quoted, names))
            marks = ", ".join("?" * len(names))
            self._statements[table.name] = (
                f"INSERT INTO {_quoted(table.name)} ({columns}) VALUES ({marks})"  # noqa: S608 -- names of the schema
            )
        return self._statements[table.name]

    def _names(self, table: Table) -> tuple[str, ...]:
        """Return the names of the columns, with the one that links pages and their parts."""
        own = ("id",) if self._is_numbered(table.name) else ()
        return (*own, *(("page_id",) if self._is_part(table.name) else ()), *table.names)

    def _check(self) -> None:
        """Check that a database is one of ours, with the same tables and columns."""
        path = self._path
        try:
            rows = self._database.execute("SELECT value FROM meta WHERE key = 'schema_version'")
            found = rows.fetchone()
        except sqlite3.OperationalError:
            found = None
        if found != (str(SCHEMA_VERSION),):
            raise UsageError(f"{path} is no export of this version, so nothing can be appended.")
        for table in self._tables.values():
            known = self._database.execute(f"PRAGMA table_info({_quoted(table.name)})").fetchall()
            names = tuple(name for _, name, *_ in known)
            if known and names != self._names(table):
                raise UsageError(f"{path} has {self._difference(table, names)}.")

    def _difference(self, table: Table, names: Sequence[str]) -> str:
        """Return why rows can't follow those of a table that has these columns."""
        if {*names} ^ {*self._names(table)} != {"page_id"}:
            return f"other columns of {table.name}; nothing was appended"
        if "page_id" in names:
            return f"{table.name} that belong to its pages: they can be appended with pages only"
        return f"{table.name} without pages: they can be appended alone only"


def check_companions(database: Path) -> None:
    """Check that nothing was left of an older database where a new one is to be.

    SQLite would play its journal into the new one. Whoever moved the database away may still want
    the journal, so it is not removed.

    :raises UsageError: if there is something.
    """
    if database.exists():
        return
    for suffix in ("-journal", "-wal"):
        left = Path(f"{database}{suffix}")
        if left.exists() and left.stat().st_size:
            raise UsageError(
                f"cannot write {database}: {left.name} is left of a database that had this name, "
                "and SQLite would read it as a part of the new one. Remove it first."
            )


def end_transactions(database: Path) -> None:
    """End what SQLite left beside a database, which would spoil the one that takes its place.

    :raises OSError: if another program uses the database.
    """
    companions = [Path(f"{database}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
    if not database.exists() or not any(companion.exists() for companion in companions):
        return
    with (
        _told_as_system_error(),
        closing(sqlite3.connect(database, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("BEGIN EXCLUSIVE")  # undoes what a killed process began
        connection.execute("COMMIT")
    for companion in companions:
        companion.unlink(missing_ok=True)


@contextmanager
def _told_as_system_error(wrong_file: Path | None = None) -> Iterator[None]:
    """Raise what SQLite says as an error of the system, as writers of other formats do.

    :param wrong_file: the file, if it may be one that can't be used: then that is an error of the
        caller. That another program uses it is none, since it may work the next time.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
        if wrong_file and code in _WRONG_FILE:
            raise UsageError(f"cannot write {wrong_file}: {error}") from error
        raise OSError(str(error)) from error


def _strict() -> str:
    return " STRICT" if sqlite3.sqlite_version_info >= _STRICT_SINCE else ""


def _quoted(name: str) -> str:
    return f'"{name}"'


def _columns(batch: Batch) -> list[Iterable[Any]]:
    return [_cells(column, values) for column, values in batch.values()]


def _cells(column: Column, values: Values) -> Iterable[Any]:
    if is_absent(values):
        return repeat(None, len(values))
    convert = _CELLS.get(column.type)
    return values if convert is None else convert(column, values)
