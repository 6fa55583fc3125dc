"""Times as text: ISO 8601 in UTC, whole columns at a time."""

from collections.abc import Callable
from datetime import date
from itertools import repeat
from typing import Final

from usp._tables.batch import Batch, Values
from usp._tables.schema import ColumnType

_SECOND: Final = 1_000_000
_MINUTE: Final = 60 * _SECOND
_MINUTES: Final = 24 * 60
_EPOCH: Final = date(1970, 1, 1).toordinal()
_TEXTS_KEPT: Final = 100_000
"""How many days, and fractions of a minute, are kept as text."""


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


def _seconds(microseconds: int) -> str:
    seconds, fraction = divmod(microseconds, _SECOND)
    return f":{seconds:02}.{fraction:06}Z" if fraction else f":{seconds:02}Z"


# Few texts, which stay in the CPU cache: those of all times of day would not.
_DATES: Final = _Kept(_date)
_TIMES: Final = [f"T{minute // 60:02}:{minute % 60:02}" for minute in range(_MINUTES)]
_SECONDS: Final = _Kept(_seconds)


def iso_time(microseconds: int) -> str:
    """Return a time as ISO 8601 in UTC; a fraction of a second only where there is one."""
    return _iso_times([microseconds])[0] or ""


def _iso_times(values: Values) -> list[str | None]:
    if None in values:
        return [None if value is None else iso_time(value) for value in values]
    dates, times, seconds = _DATES, _TIMES, _SECONDS
    return [
        f"{dates[minute // _MINUTES]}{times[minute % _MINUTES]}{seconds[rest]}"
        for minute, rest in map(divmod, values, repeat(_MINUTE))
    ]


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
