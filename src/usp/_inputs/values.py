"""Values of the schema, out of what files have: text, JSON, objects of Arrow.

It is the way back of ``_export.values``: a value that was written and is read again is the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from usp._export.delimited import SEPARATOR
from usp._json import parse_json
from usp._parse import parse_date, timestamp
from usp._tables.batch import Values
from usp._tables.schema import Column, ColumnType

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TIMES: Final = range(
    (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND,
    (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND,
)
"""The numbers that are times."""
_ITEM: Final = re.compile(r"(?:[^\\|]|\\.)*+", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


@lru_cache(maxsize=65_536)
def _time(text: str) -> int | None:
    """Return the time that a text is; None if it is none."""
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
    except (ValueError, TypeError):  # no ISO 8601, or without a time zone
        return timestamp(parse_date(text))


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _real(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _items(text: str) -> list[str]:
    """Return the items of a list that was written as one cell."""
    found, at = [], 0
    while at <= len(text):
        item = _ITEM.match(text, at)
        at = item.end() + len(SEPARATOR) if item else len(text) + 1
        found.append(_ESCAPE.sub(r"\1", item[0]) if item else "")
    return found


_OF_TEXT: Final[Mapping[ColumnType, Callable[[str], Any]]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.BOOLEAN: {"true": True, "false": False, "1": True, "0": False}.get,
    ColumnType.TIMESTAMP: _time,
    ColumnType.TEXTS: _items,
}
"""The types that aren't text themselves."""


def of_texts(column: Column, cells: Sequence[str]) -> Values:
    """Return the values of a column of CSV; an empty cell is absent, and so is what is no JSON."""
    if column.type is ColumnType.ROWS:
        return [_rows_of_text(column, cell) for cell in cells]
    convert = _OF_TEXT.get(column.type)
    if convert is None:
        return [cell or None for cell in cells]
    return [convert(cell) if cell else None for cell in cells]


def _rows_of_text(column: Column, cell: str) -> list[tuple[Any, ...]] | None:
    with suppress(ValueError):
        return _plain_rows(column, parse_json(cell))
    return None


def of_plain(column: Column, value: Any) -> Any:  # noqa: ANN401 -- the column has the type
    """Return a value that JSON or Arrow has: a time as text or as a time, a row as an object."""
    convert = _OF_PLAIN.get(column.type)
    return value if value is None or convert is None else convert(column, value)


def _plain_text(_: Column, value: object) -> str | None:
    return value if isinstance(value, str) else None


def _plain_number(_: Column, value: object) -> object:
    return value if isinstance(value, int | float) else None


def _plain_time(_: Column, value: object) -> int | None:
    """Return a time, which is one of Arrow, a text, or the number that SQLite has."""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, str):
        return _time(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value in _TIMES else None


def _plain_texts(_: Column, value: object) -> list[str] | None:
    if not isinstance(value, list):
        return None
    return [item for item in value if isinstance(item, str)]


def _plain_rows(column: Column, value: object) -> list[tuple[Any, ...]] | None:
    if not isinstance(value, list):
        return None
    fields, rows = column.fields, (row for row in value if isinstance(row, Mapping))
    return [tuple(of_plain(field, row.get(field.name)) for field in fields) for row in rows]


_OF_PLAIN: Final[Mapping[ColumnType, Callable[[Column, Any], Any]]] = {
    ColumnType.TEXT: _plain_text,
    ColumnType.INTEGER: _plain_number,
    ColumnType.REAL: _plain_number,
    ColumnType.TIMESTAMP: _plain_time,
    ColumnType.TEXTS: _plain_texts,
    ColumnType.ROWS: _plain_rows,
    ColumnType.BOOLEAN: lambda _, value: bool(value),  # SQLite has none
}
"""What makes a value of each type; what is of another type is absent. Another tool may have
something else in a column of that name, such as the id of a page, or how many images it has."""


def of_json(column: Column, text: Any) -> Any:  # noqa: ANN401 -- the column has the type
    """Return a value of SQLite, where a list is JSON."""
    if column.type in {ColumnType.TEXTS, ColumnType.ROWS} and isinstance(text, str):
        text = parse_json(text)
    return of_plain(column, text)
