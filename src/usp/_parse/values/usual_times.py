"""Times of the usual forms, all those of a column at once: a quarter of the time of one by one.

The digits at one place of all texts are a string with a byte for each text, and
``int.from_bytes`` makes one large number of it. A sum of such numbers has the sums of their bytes,
all added in one step, and so has a product with a small number, as long as each result fits where
it stands: into a byte, or into the eight that it gets at the end.
"""

from calendar import isleap
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from struct import unpack
from typing import Final

_FORMS: Final = {20: b"0000-00-00T00:00:00Z\n", 25: b"0000-00-00T00:00:00-00:00\n"}
"""The outlines of the usual times with a zone, by their lengths, each as a line."""
_OUTLINE: Final = bytes.maketrans(b"123456789+", b"000000000-")
"""Makes the outline of a time: all digits are alike, and both signs."""
_YEARS: Final = range(2000, 2100)
_SECOND: Final = 1_000_000
_DAY: Final = 86_400
_WIDTH: Final = 8
"""The bytes of a timestamp."""

_MONTHS: Final = bytes(range(1, 13))
_HOURS: Final = bytes(range(24))
_SIXTY: Final = bytes(range(60))
_ZONES: Final = bytes(range(14))
"""The values that are allowed. A check of dates takes farther zones as odd: look at each then."""


def _table(values: Iterable[int]) -> bytes:
    """Return a table for ``bytes.translate``."""
    return bytes(values).ljust(256, b"\0")


def _tables(values: Sequence[int]) -> tuple[bytes, bytes]:
    """Return two: the lower bytes and the higher ones."""
    return _table(value & 255 for value in values), _table(value >> 8 for value in values)


_DAYS_BEFORE_YEAR: Final = _tables([(date(y, 1, 1) - date(1970, 1, 1)).days - 1 for y in _YEARS])
"""Less one: the first day of a month is number 1."""
_MONTH_STARTS: Final = [date(2001, month, 1).toordinal() for month in _MONTHS]
_DAYS_BEFORE_MONTH: Final = _tables([0, *(day - _MONTH_STARTS[0] for day in _MONTH_STARTS)])
_MONTH_LENGTH: Final = _table([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_IS_LEAP_YEAR: Final = _table(map(isleap, _YEARS))
_IS_FEBRUARY: Final = _table(month == 2 for month in range(13))  # noqa: PLR2004
_IS_AFTER_FEBRUARY: Final = _table(month > 2 for month in range(13))  # noqa: PLR2004


def parse_usual_times(texts: Sequence[str | None]) -> list[int] | None:
    """Return the timestamps of texts that are all usual times with a zone; None if one isn't.

    Dates without a time are not among them: they repeat, so they are cached. A check of dates
    finds nothing wrong with any of them.
    """
    form = _FORMS.get(len(texts[0] or ""))
    if form is None or None in texts:
        return None
    known: Sequence[str] = texts  # type: ignore[assignment]  # there is no None in it
    lines = "\n".join([*known, ""])
    if not lines.isascii():
        return None
    data = lines.encode()
    if data.translate(_OUTLINE) != form * len(known):
        return None
    return _Digits(data, len(form), len(known)).timestamps()


class _Digits:
    """The digits of times of one form, each in a line."""

    def __init__(self, data: bytes, length: int, count: int) -> None:
        self._data = data
        self._length = length
        self._count = count
        self._zeros, self._tops = _constants(count)

    def timestamps(self) -> list[int] | None:
        """Return the timestamps; None if one of the times doesn't exist, or isn't usual."""
        if self._column(0).strip(b"2") or self._column(1).strip(b"0"):
            return None
        days, minutes, seconds = self._days(), self._minutes(11, _HOURS), self._two_digits(17)
        offset = self._offset()
        if days is None or minutes is None or offset is None or seconds.translate(None, _SIXTY):
            return None
        times = days * _DAY + (minutes - offset) * 60 + self._wide(seconds)
        found = (times * _SECOND).to_bytes(_WIDTH * self._count, "little")
        return list(unpack(f"<{self._count}q", found))

    def _offset(self) -> int | None:
        """Return the minutes to take off for UTC; None if they are odd, or not all of one sign."""
        signs = self._column(19)
        if signs.startswith(b"Z"):
            return 0
        minutes = self._minutes(20, _ZONES)
        if not minutes:
            return minutes
        if signs.count(signs[:1]) < self._count:
            return None
        return minutes if signs.startswith(b"+") else -minutes

    def _column(self, at: int) -> bytes:
        return self._data[at :: self._length]

    def _two_digits(self, at: int) -> bytes:
        """Return the numbers that two digits are, a byte for each."""
        tens, ones = _number(self._column(at)), _number(self._column(at + 1))
        return (10 * tens + ones - self._zeros).to_bytes(self._count, "little")

    def _wide(self, lower: bytes, higher: bytes = b"") -> int:
        """Return the same numbers with room for a timestamp."""
        wide = bytearray(_WIDTH * self._count)
        wide[::_WIDTH] = lower
        if higher:
            wide[1::_WIDTH] = higher
        return _number(wide)

    def _days(self) -> int | None:
        """Return the days since 1970; None if one doesn't exist."""
        years, months, days = map(self._two_digits, (2, 5, 8))
        if months.translate(None, _MONTHS) or 0 in days:
            return None
        is_leap, day = _number(years.translate(_IS_LEAP_YEAR)), _number(days)
        leap_day = is_leap & _number(months.translate(_IS_FEBRUARY))
        last = _number(months.translate(_MONTH_LENGTH)) + leap_day
        if (last + self._tops - day) & self._tops != self._tops:  # one is after the last of a month
            return None
        day += is_leap & _number(months.translate(_IS_AFTER_FEBRUARY))
        before_year = self._wide(*map(years.translate, _DAYS_BEFORE_YEAR))
        before_month = self._wide(*map(months.translate, _DAYS_BEFORE_MONTH))
        return before_year + before_month + self._wide(day.to_bytes(self._count, "little"))

    def _minutes(self, at: int, allowed_hours: bytes) -> int | None:
        """Return the minutes that hours and minutes are together; None if one doesn't exist."""
        hours, minutes = self._two_digits(at), self._two_digits(at + 3)
        if hours.translate(None, allowed_hours) or minutes.translate(None, _SIXTY):
            return None
        return self._wide(hours) * 60 + self._wide(minutes)


def _number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little")


@lru_cache(maxsize=64)
def _constants(count: int) -> tuple[int, int]:
    """Return what two digits are too much as they are written, and the highest bit of each byte."""
    return _number(bytes([ord("0")]) * count) * 11, _number(b"\x80" * count)
