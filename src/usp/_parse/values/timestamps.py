"""Timestamps: the times of tables, in microseconds since 1970 in UTC."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import repeat
from operator import sub
from typing import Final

from usp._parse.values.dates import parse_date
from usp.objects.page import as_utc

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SECOND: Final = 1_000_000
_DAY: Final = 86_400
_DAY_LENGTH: Final = 10
"""2024-05-01"""
_FORMS: Final = {20: b"0000-00-00T00:00:00Z\n", 25: b"0000-00-00T00:00:00-00:00\n"}
"""The outlines of the usual times with a zone, by their lengths, each as a line."""
_OUTLINE: Final = bytes.maketrans(b"123456789+", b"000000000-")
"""Makes the outline of a time: all digits are alike, and both signs."""
_USUAL_MILLENNIA: Final = "12"
_FARTHEST_ZONE: Final = "13"
"""What the quick check of dates takes as good, too: others are looked at one by one."""
_OFFSET_LENGTH: Final = 25


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


def _are_usual_offsets(lines: str, texts: Sequence[str]) -> bool:
    """Tell whether all offsets of times are usual: Python takes 80 minutes, too."""
    step = _OFFSET_LENGTH + 1
    hours, minutes = lines[20::step], lines[23::step]
    if minutes.strip("012345"):
        return False
    return not hours.strip("0") or max(text[20:22] for text in texts) <= _FARTHEST_ZONE


def parse_usual_times(texts: Sequence[str | None]) -> list[int] | None:
    """Return the timestamps of texts that are all usual times with a zone; None if one isn't.

    A fifth of the time of parsing one by one. Dates without a time are not among them: they
    repeat, so they are cached. A check of dates finds nothing wrong with any of them.
    """
    length = len(texts[0] or "")
    if length not in _FORMS or None in texts:
        return None
    known: Sequence[str] = texts  # type: ignore[assignment]  # there is no None in it
    lines = "\n".join([*known, ""])
    if not lines.isascii() or lines.encode().translate(_OUTLINE) != _FORMS[length] * len(known):
        return None
    if lines[:: length + 1].strip(_USUAL_MILLENNIA):
        return None
    if length == _OFFSET_LENGTH and not _are_usual_offsets(lines, known):
        return None
    since = map(sub, map(datetime.fromisoformat, known), repeat(_EPOCH))
    try:
        # They have no fractions. Dividing by a microsecond takes twice the time.
        return [(time.days * _DAY + time.seconds) * _SECOND for time in since]
    except ValueError:  # a leap second, 24:00, or a day or zone that doesn't exist
        return None
