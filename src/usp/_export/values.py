"""A value of the schema as text: a time as ISO 8601, a list as JSON.

The conversions take whole columns, since a call for each value would cost more than the value.
"""

import json
from collections.abc import Callable, Iterable
from datetime import date
from itertools import repeat
from typing import Any, Final

from usp._export.lines import CellTexts, is_constant
from usp._tables.batch import Values
from usp._tables.schema import Column, ColumnType

_MICROSECONDS: Final = 1_000_000
_DAY: Final = 86_400 * _MICROSECONDS
_EPOCH: Final = date(1970, 1, 1).toordinal()
_TEXTS_KEPT: Final = 100_000
"""How many days, and times of day, are kept as text."""
_NUMBERS: Final = frozenset({ColumnType.INTEGER, ColumnType.REAL})
"""Types whose ``str()`` is JSON."""

json_text: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode
"""Returns a plain value as JSON."""


class _Kept(dict[int, str]):
    """Texts by number, made when they are first needed; no more than a limit of them."""

    def __init__(self, make: Callable[[int], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> str:
        if len(self) >= _TEXTS_KEPT:
            self.clear()
        self[number] = text = self._make(number)
        return text


def _date(days: int) -> str:
    return date.fromordinal(_EPOCH + days).isoformat()


def _time_of_day(microseconds: int) -> str:
    seconds, fraction = divmod(microseconds, _MICROSECONDS)
    minutes, seconds = divmod(seconds, 60)
    rest = f".{fraction:06}Z" if fraction else "Z"
    return f"T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{rest}"


_DATES: Final = _Kept(_date)
_TIMES: Final = _Kept(_time_of_day)


def iso_time(microseconds: int) -> str:
    """Return a time as ISO 8601 in UTC; a fraction of a second only where there is one."""
    days, rest = divmod(microseconds, _DAY)
    return _DATES[days] + _TIMES[rest]


class _TimeColumns:
    """Times of whole columns as text.

    The last column is kept: in a batch, ``updated_at`` mostly equals ``lastmod``.
    """

    def __init__(self) -> None:
        self._last: tuple[Values, list[str | None]] = (), []

    def __call__(self, values: Values) -> list[str | None]:
        """Return the times of a column as text."""
        known, texts = self._last
        if values != known:
            texts = _iso_times(values)
            self._last = values, texts
        return texts


def _iso_times(values: Values) -> list[str | None]:
    dates, times = _DATES, _TIMES
    if None in values:
        return [None if value is None else iso_time(value) for value in values]
    return [dates[days] + times[rest] for days, rest in map(divmod, values, repeat(_DAY))]


iso_times: Final = _TimeColumns()


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
    """Return the values of a column as JSON."""
    if is_constant(values):
        return json_text(plain_value(column, values[0]))
    if column.repeats:
        known = {value: json_text(value) for value in set(values)}
        return [known[value] for value in values]
    if column.type in _NUMBERS:
        return ["null" if value is None else value for value in values]
    if column.type is ColumnType.TIMESTAMP:
        return ["null" if text is None else f'"{text}"' for text in iso_times(values)]
    if column.type is ColumnType.TEXT:
        return ["null" if value is None else json_text(value) for value in values]
    return [json_text(plain_value(column, value)) for value in values]


def is_absent(values: Values) -> bool:
    """Tell whether a column has no value at all, as most columns of most sitemaps."""
    return values.count(None) == len(values)
