"""Timestamps: the times of tables, in microseconds since 1970 in UTC."""

from datetime import UTC, datetime
from typing import Final

from usp._parse.values.dates import parse_date
from usp.objects.page import as_utc

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400
_SECOND: Final = 1_000_000


def timestamp(when: datetime | None) -> int | None:
    """Return a time as a timestamp; one without a time zone is taken as UTC."""
    utc = as_utc(when)
    if utc is None:
        return None
    since = utc - _EPOCH
    return (since.days * _DAY + since.seconds) * _SECOND + since.microseconds


def parse_timestamp(text: str) -> int | None:
    """Return the timestamp of a date; None if the text is none."""
    return timestamp(parse_date(text))
