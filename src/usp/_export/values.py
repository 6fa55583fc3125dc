"""A value of the schema as JSON.

The conversions take whole columns, since a call for each value would cost more than the value.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from usp._export.lines import CellTexts, is_constant, number_texts
from usp._export.times import iso_time
from usp._tables.batch import Values
from usp._tables.schema import Column, ColumnType

_NUMBERS: Final = frozenset({ColumnType.INTEGER, ColumnType.REAL})
"""Types whose ``str()`` is JSON."""

json_text: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode
"""Returns a plain value as JSON."""


def plain_value(column: Column, value: Any) -> Any:  # noqa: ANN401 -- the column has the type
    """Return a value as JSON has it: a time as text, a list of rows as a list of objects."""
    if value is None:
        return None
    if column.type is ColumnType.TIMESTAMP:
        return iso_time(value)
    if column.type is ColumnType.ROWS:
        return [_plain_row(column.fields, row) for row in value]
    return list(value) if column.type is ColumnType.TEXTS else value


def _plain_row(columns: Iterable[Column], row: Iterable[Any]) -> dict[str, Any]:
    return {one.name: plain_value(one, value) for one, value in zip(columns, row, strict=True)}


def json_values(column: Column, values: Values) -> CellTexts:
    """Return the values of a column as JSON; times are texts already."""
    is_time = column.type is ColumnType.TIMESTAMP
    if is_constant(values):
        return json_text(values[0] if is_time else plain_value(column, values[0]))
    if column.repeats:
        known = {value: json_text(value) for value in set(values)}
        return [known[value] for value in values]
    if column.type in _NUMBERS:
        return number_texts(values, "null")
    if is_time:
        return ["null" if text is None else f'"{text}"' for text in values]
    if column.type is ColumnType.TEXT:
        return ["null" if value is None else json_text(value) for value in values]
    return [json_text(plain_value(column, value)) for value in values]


def json_lists(column: Column, values: Values) -> list[str | None]:
    """Return lists as JSON, for formats in which a value is a text; an absent one stays absent."""
    return [None if value is None else json_text(plain_value(column, value)) for value in values]


def encodable(value: Any) -> Any:  # noqa: ANN401 -- a value of any column
    r"""Return a value in which half of a surrogate pair, which UTF-8 can't have, is ``\udxxx``.

    Names of files have them, for bytes that are not UTF-8.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return [encodable(one) for one in value] if isinstance(value, list | tuple) else value


def is_absent(values: Values) -> bool:
    """Tell whether a column has no value at all, as most columns of most sitemaps."""
    return values.count(None) == len(values)
