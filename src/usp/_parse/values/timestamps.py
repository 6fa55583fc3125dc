"""Timestamps: the times of tables, in microseconds since 1970 in UTC."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from usp._parse.values.dates import parse_date
from usp.objects.page import as_utc

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_from_iso_format: Final = datetime.fromisoformat
_FORMS: Final = frozenset({(20, "--T::Z"), (25, "--T::+:"), (25, "--T::-:")})
"""The length, and every third character from the fifth on, of the usual times with a zone:
2024-05-01T10:00:00Z, 2024-05-01T10:00:00+02:00."""
_SHORTEST: Final = 20
_DAY_LENGTH: Final = 10
"""2024-05-01"""
_EARLIEST, _LATEST = "0002", "9998"
"""In the first and last hours of the calendar, UTC may not have that time."""


def timestamp(when: datetime | None) -> int | None:
    """Return a time as a timestamp; one without a time zone is taken as UTC."""
    utc = as_utc(when)
    if utc is None:
        return None
    return (utc - _EPOCH) // _MICROSECOND


def parse_timestamp(text: str) -> int | None:
    """Return the timestamp of a date; None if the text is none."""
    return _day_timestamp(text) if len(text) == _DAY_LENGTH else timestamp(parse_date(text))


@lru_cache(maxsize=16_384)
def _day_timestamp(text: str) -> int | None:
    """Return the same of a day: all sites have much the same ones."""
    return timestamp(parse_date(text))


def parse_usual_times(texts: Sequence[str | None]) -> list[int] | None:
    """Return the timestamps of texts that are all usual times with a zone; None if one isn't.

    A fifth of the time of parsing one by one. Dates without a time are not among them: they
    repeat, so they are cached.
    """
    if texts[0] is None or len(texts[0]) < _SHORTEST or None in texts:
        return None
    known: Sequence[str] = texts  # type: ignore[assignment]  # there is no None in it
    if not _FORMS.issuperset({(len(text), text[4::3]) for text in known}):
        return None
    if min(known) < _EARLIEST or max(known) >= _LATEST:
        return None
    try:
        return [(_from_iso_format(text) - _EPOCH) // _MICROSECOND for text in known]
    except ValueError:  # a leap second, 24:00, or a day that doesn't exist
        return None
