"""SQLite databases that ``usp export`` has written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from usp._inputs.kinds import NamedInput
from usp._inputs.reader import COMPLETE, InputOptions, outcome_of_sites, shared_columns
from usp._inputs.values import of_json
from usp._parse import ROWS_AT_ONCE
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.schema import SCHEMA_VERSION, TABLES, Table
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome


class DatabaseReader:
    """Reads the tables of a database."""

    is_ours = True

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        """Look which tables it has.

        :raises UsageError: if something else has written it, or a later version.
        """
        del options
        self._named = named
        with self._opened() as database:
            version = _version(database)
            if version is None:
                raise UsageError(f"{named.name} is a database that usp export has not written.")
            if version > SCHEMA_VERSION:
                raise UsageError(f"{named.name} was written by a later version of usp.")
            self._columns = {
                table: [name for _, name, *_ in database.execute(f'PRAGMA table_info("{table}")')]
                for table in TABLES
            }
        self.tables = tuple(name for name, columns in self._columns.items() if columns)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._named.path or "")) as database:
                database.execute("PRAGMA query_only = ON")
                yield database
        # SQLite quotes what is damaged in its messages, which Python decodes.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{self._named.name} can't be read: {error}.") from error

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of the wanted tables, one table after the other."""
        with self._opened() as database:
            for name, wanted in choice.tables.items():
                table = shared_columns(wanted, self._columns[name])
                if table:
                    yield from _batches(database, table)

    @property
    def outcome(self) -> Outcome | None:
        """Whether all of its sites were read whole."""
        return outcome_of_sites(self.batches(COMPLETE))


def _version(database: sqlite3.Connection) -> int | None:
    try:
        found = database.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except sqlite3.OperationalError:
        return None
    return int(found[0]) if found and str(found[0]).isdecimal() else None


def _batches(database: sqlite3.Connection, table: Table) -> Iterator[Batch]:
    names = ", ".join(f'"{name}"' for name in table.names)
    rows = database.execute(f'SELECT {names} FROM "{table.name}" ORDER BY rowid')  # noqa: S608 -- names of the schema
    while some := rows.fetchmany(ROWS_AT_ONCE):
        values = zip(*some, strict=True)
        columns = {
            column.name: [of_json(column, value) for value in cells]
            for column, cells in zip(table, values, strict=True)
        }
        yield Batch(table, columns, len(some))
