"""Time bounds as callers write them: dates, times, texts, and durations before now.

A date covers the whole day in UTC, ``2026-01`` the whole month, ``2026`` the whole year. A duration
(a ``timedelta``, ``"48h"``, ``"7d"``) counts back from the time at which a crawl starts.
"""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from usp._parse import parse_date
from usp._validate import argument_error
from usp.objects.page import as_utc

Moment = datetime | date | timedelta | str
"""A time, a day, a text such as ``2026-01-31`` or ``48h``, or a duration before now."""

_BARE_DATE: Final = re.compile(r"\s*\d{4}(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?\s*")
_DURATION: Final = re.compile(r"\s*(?P<number>\d{1,9})\s?(?P<unit>[smhdw])\s*", re.IGNORECASE)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_ACCEPTED: Final = "a date, a time, or a duration such as '48h' or '7d'"


def parse_bound(name: str, given: Moment | None, *, last: bool) -> datetime | timedelta | None:
    """Return a bound: a time in UTC, or a duration before now; ``last`` for the end of a day."""
    if isinstance(given, timedelta):
        return _checked_duration(name, given)
    if isinstance(given, date) and not isinstance(given, datetime):
        given = given.isoformat()
    if isinstance(given, str):
        if duration := _DURATION.fullmatch(given):
            return _parse_duration(name, given, duration)
        span = date_span(given)
        if span is None:
            raise argument_error(name, _ACCEPTED, given)
        return span[last]
    if given is None or isinstance(given, datetime):
        return as_utc(given)
    raise argument_error(name, _ACCEPTED, given)


def _parse_duration(name: str, given: str, match: re.Match[str]) -> timedelta:
    try:
        return timedelta(**{_UNITS[match["unit"].lower()]: int(match["number"])})
    except OverflowError as error:
        raise argument_error(name, _ACCEPTED, given) from error


def _checked_duration(name: str, duration: timedelta) -> timedelta:
    if duration < timedelta(0):
        raise argument_error(name, "a duration that isn't negative", duration)
    return duration


def resolve_bound(bound: datetime | timedelta | None, now: datetime) -> datetime | None:
    """Return a bound as a time, given the time at which the crawl starts."""
    if not isinstance(bound, timedelta):
        return bound
    try:
        return now - bound
    except OverflowError:  # before the first year of the calendar
        return datetime.min.replace(tzinfo=UTC)


def date_span(text: str) -> tuple[datetime, datetime] | None:
    """Return the first and the last time that a text can mean; None if it isn't a date."""
    first = as_utc(parse_date(text))
    if first is None:
        return None
    bare = _BARE_DATE.fullmatch(text)
    if bare is None:
        return first, first
    month = first.month if bare["month"] else 12
    day = first.day if bare["day"] else monthrange(first.year, month)[1]
    return first, datetime.combine(date(first.year, month, day), time.max, UTC)
