"""Times as text: ISO 8601 in UTC, whole columns at a time."""

from collections.abc import Callable
from datetime import date
from itertools import repeat
from typing import Final

from usp._tables.batch import Batch, Values
from usp._tables.schema import ColumnType

_MICROSECONDS: Final = 1_000_000
_DAY: Final = 86_400 * _MICROSECONDS
_EPOCH: Final = date(1970, 1, 1).toordinal()
_TEXTS_KEPT: Final = 100_000
"""How many days, and times of day, are kept as text."""


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


def _iso_times(values: Values) -> list[str | None]:
    dates, times = _DATES, _TIMES
    if None in values:
        return [None if value is None else iso_time(value) for value in values]
    return [dates[days] + times[rest] for days, rest in map(divmod, values, repeat(_DAY))]


def with_time_texts(batch: Batch) -> Batch:
    """Return a batch whose times are texts."""
    columns = dict(batch.columns)
    known: Values = ()
    texts: Values = ()
    for column, values in batch.values():
        if column.type is not ColumnType.TIMESTAMP:
            continue
        if values != known:  # ``updated_at`` mostly equals ``lastmod``
            known, texts = values, _iso_times(values)
        columns[column.name] = texts
    return Batch(batch.table, columns, batch.length)
