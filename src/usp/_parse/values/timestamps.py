"""Timestamps: the times of tables, in microseconds since 1970 in UTC."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from usp._parse.values.dates import parse_date
from usp.objects.page import as_utc

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY_LENGTH: Final = 10
"""2024-05-01"""


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
