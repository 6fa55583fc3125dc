"""Dates of pages: by month, by day, the oldest and the newest; the ages of news.

Memory is bounded by the calendar: months of all years, and days and hours of the last twenty.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from usp._report.counting import NameCounts
from usp._report.figures import Dates, Freshness
from usp._sync.changes import microseconds_of

_SECOND: Final = 1_000_000
"""Times in tables are microseconds since 1970."""
_HOUR: Final = 3600 * _SECOND
_DAY: Final = 24 * _HOUR
_DAYS_KEPT: Final = 7305
"""Twenty years: how far back days are counted one by one."""
_DAYS_SHOWN: Final = 90
_MONTHS_SHOWN: Final = 240
_LONGEST_MONTH: Final = 31
_EPOCH: Final = date(1970, 1, 1).toordinal()
_AGES: Final = (
    (1, "under an hour"),
    (6, "1 to 6 hours"),
    (24, "6 to 24 hours"),
    (48, "1 to 2 days"),
    (168, "2 to 7 days"),
    (720, "7 to 30 days"),
)
"""The ages of news, in hours; search engines take stories of the last two days."""
_FUTURE: Final = "in the future"
_OLDER: Final = "over 30 days"


@lru_cache(maxsize=4096)
def _month_of(day: int) -> int:
    """Return the number of the month of a day since 1970, counted from the year 0."""
    found = _date(day)
    return found.year * 12 + found.month - 1


def _date(day: int) -> date:
    """Return the date of a day since 1970; the first or last there is, for one beyond."""
    return date.fromordinal(min(max(day + _EPOCH, 1), date.max.toordinal()))


class DateCounts:
    """Counts ``lastmod``."""

    def __init__(self, now: datetime) -> None:
        today = microseconds_of(now) // _DAY
        self._first_day, self._last_day = today - _DAYS_KEPT, today + _LONGEST_MONTH
        self._months: Counter[int] = Counter()
        self._days: Counter[int] = Counter()
        self._undated = 0
        self._oldest: int | None = None

    def add(self, times: Sequence[int | None]) -> None:
        """Count the dates of some pages."""
        dated = [time // _DAY for time in times if time is not None]
        self._undated += len(times) - len(dated)
        for day, number in Counter(dated).items():
            self._months[_month_of(day)] += number
            if self._first_day <= day <= self._last_day:
                self._days[day] += number
            if self._oldest is None or day < self._oldest:
                self._oldest = day

    def dates(self, as_of: datetime) -> Dates:
        """Return the figures, as of a time."""
        today = microseconds_of(as_of) // _DAY
        this_month = _month_of(today)
        past = Counter({m: number for m, number in self._months.items() if m <= this_month})
        for day, number in self._days.items():
            if day > today and _month_of(day) <= this_month:
                past[_month_of(day)] -= number
        past = +past  # without months that have none
        first = max(min(past, default=this_month), this_month - _MONTHS_SHOWN + 1)
        shown = range(first, this_month + 1) if past else ()
        newest = max((day for day in self._days if day <= today), default=None)
        return Dates(
            {_name(month): past[month] for month in shown},
            sum(number for month, number in past.items() if month < first),
            by_day(self._days, as_of),
            self._months.total() - past.total(),
            self._undated,
            None if self._oldest is None else _date(self._oldest),
            None if newest is None else _date(newest),
        )


def by_day(counts: Mapping[int, int], as_of: datetime) -> dict[date, int]:
    """Return how many there are on each of the last 90 days, given them by day since 1970."""
    today = microseconds_of(as_of) // _DAY
    days = range(today - _DAYS_SHOWN + 1, today + 1)
    return {_date(day): counts.get(day, 0) for day in days}


def _name(month: int) -> str:
    return f"{month // 12:04}-{month % 12 + 1:02}"


class NewsAges:
    """Counts news stories by the hour of their publication."""

    def __init__(self, now: datetime) -> None:
        self._first_hour = microseconds_of(now) // _HOUR - 24 * _DAYS_KEPT
        self._hours: Counter[int] = Counter()
        self._stories = self._undated = 0
        self._publications = NameCounts()

    def add(self, times: Sequence[int | None], publications: Sequence[str | None]) -> None:
        """Count stories: when each was published, and where."""
        dated = [time // _HOUR for time in times if time is not None]
        self._stories += len(times)
        self._undated += len(times) - len(dated)
        for hour, number in Counter(dated).items():
            self._hours[max(hour, self._first_hour)] += number
        self._publications.add(publications)

    def freshness(self, as_of: datetime) -> Freshness | None:
        """Return the figures, as of a time; None if there is no story."""
        if not self._stories:
            return None
        now = microseconds_of(as_of) // _HOUR
        limits = [hours for hours, _ in _AGES]
        younger = [
            sum(number for hour, number in self._hours.items() if 0 <= now - hour < limit)
            for limit in limits
        ]
        each = [last - before for before, last in zip([0, *younger], younger, strict=False)]
        future = sum(number for hour, number in self._hours.items() if hour > now)
        older = sum(self._hours.values()) - future - (younger[-1] if younger else 0)
        names = [name for _, name in _AGES]
        ages = [(_FUTURE, future)] * bool(future) + [
            *zip(names, each, strict=True),
            (_OLDER, older),
        ]
        return Freshness(self._stories, tuple(ages), self._undated, self._publications.ranking())
