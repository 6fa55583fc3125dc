"""JSON lines: an object a row; one table, or several with the name of the table in each row."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from json import JSONDecodeError
from typing import Any

from usp._inputs.columns import file_columns
from usp._inputs.kinds import NamedInput
from usp._inputs.reader import InputOptions, shared_columns
from usp._inputs.text_file import opened_text
from usp._inputs.values import of_plain
from usp._json import parse_json
from usp._parse import ROWS_AT_ONCE
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.schema import TABLES, Table
from usp.exceptions import UsageError


class JsonLinesReader:
    """Reads tables of JSON lines."""

    is_ours = True
    outcome = None

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        self._named = named
        self._options = options
        self.tables = tuple(TABLES)

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of the wanted tables."""
        with opened_text(self._named.path, self._named.compression) as text:
            rows = _rows(text, self._named.name)
            first = next(rows, None)
            if first is None:
                return
            if "schema_version" in first and "table" not in first:
                yield from self._of_several(rows, choice)
            else:
                yield from self._of_one(first, rows, choice)

    def _of_several(self, rows: Iterator[dict[str, Any]], choice: TableChoice) -> Iterator[Batch]:
        for name, group in groupby(rows, lambda row: row.get("table")):
            table = choice.tables.get(str(name))
            while table and (some := list(islice(group, ROWS_AT_ONCE))):
                yield _batch(some, table, {column: column for column in table.names})

    def _of_one(
        self, first: dict[str, Any], rows: Iterable[dict[str, Any]], choice: TableChoice
    ) -> Iterator[Batch]:
        names = list(first)
        found = file_columns(
            names,
            list(first.values()),
            column=self._options.column,
            table=self._options.table,
            where=self._named.name,
        )
        self.tables, self.is_ours = (found.table.name,), found.is_ours
        table = shared_columns(choice.tables.get(found.table.name), found.at)
        theirs = {name: names[at] for name, at in found.at.items()}
        remaining = chain([first], rows)
        while table and (some := list(islice(remaining, ROWS_AT_ONCE))):
            yield _batch(some, table, theirs)


def _rows(text: Iterable[str], name: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except JSONDecodeError as error:
            raise UsageError(f"{name} can't be read: line {number} is no JSON.") from error
        except ValueError as error:
            raise UsageError(f"{name} can't be read: line {number}: {error}.") from error
        if not isinstance(row, dict):
            raise UsageError(f"{name} can't be read: line {number} is no object.")
        yield row


def _batch(rows: list[dict[str, Any]], table: Table, theirs: dict[str, str]) -> Batch:
    columns = {
        column.name: [of_plain(column, row.get(theirs[column.name])) for row in rows]
        for column in table
    }
    return Batch(table, columns, len(rows))
