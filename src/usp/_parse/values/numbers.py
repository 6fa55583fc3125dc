"""Numbers: integers, decimals, priorities, ratings, durations. None of them is negative."""

import re
from decimal import Decimal, DecimalException
from typing import Final

from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.text import clean_text
from usp.objects.page import SITEMAP_PAGE_DEFAULT_PRIORITY

_NUMBER: Final = re.compile(
    r"[+-]?(?:[0-9]{1,20}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)
_INTEGER: Final = re.compile(r"[0-9]{1,18}(?:\.0*)?")
_DURATION: Final = re.compile(
    # 1:30 and 1:02:03, and ISO 8601's PT1H2M3S, which Media RSS and JSON generators write
    r"(?:(?P<h>[0-9]{1,4}):)?(?P<m>[0-9]{1,4}):(?P<s>[0-9]{2})(?:\.[0-9]*)?"
    r"|P(?:0*D)?T(?=[0-9])(?:(?P<H>[0-9]{1,4})H)?(?:(?P<M>[0-9]{1,6})M)?"
    r"(?:(?P<S>[0-9]{1,8})(?:\.[0-9]*)?S)?",
    re.ASCII,
)
_MAX_RATING: Final = 5
_MAX_DURATION_DIGITS: Final = 18


def parse_number(text: str) -> Decimal | None:
    """Return a decimal number."""
    cleaned = clean_text(text)
    if not _NUMBER.fullmatch(cleaned):
        return None
    try:
        value = Decimal(cleaned)
    except DecimalException:
        return None
    return value if value >= 0 else None


def parse_integer(text: str) -> int | None:
    """Return an integer; ``3.0`` is one too."""
    cleaned = clean_text(text)
    return int(cleaned.partition(".")[0]) if _INTEGER.fullmatch(cleaned) else None


@bounded_cache(1024)
def parse_priority(text: str) -> Decimal | None:
    """Return a priority from 0 to 1."""
    value = parse_number(text)
    return value if value is not None and value <= 1 else None


@bounded_cache(1024)
def priority_or_default(text: str) -> Decimal:
    """Return a priority from 0 to 1, or 0.5 as 1.8.1 does where the text is none."""
    value = parse_priority(text)
    return SITEMAP_PAGE_DEFAULT_PRIORITY if value is None else value


def parse_rating(text: str) -> Decimal | None:
    """Return a rating from 0 to 5."""
    value = parse_number(text)
    return value if value is not None and value <= _MAX_RATING else None


def parse_duration(text: str) -> int | None:
    """Return a duration in whole seconds, given as a number, as h:mm:ss or as in ISO 8601."""
    value = parse_number(text)
    if value is not None:
        return int(value) if value.adjusted() < _MAX_DURATION_DIGITS else None
    match = _DURATION.fullmatch(clean_text(text).upper())
    if match is None:
        return None
    units = {unit.lower(): int(digits) for unit, digits in match.groupdict().items() if digits}
    return units.get("h", 0) * 3600 + units.get("m", 0) * 60 + units.get("s", 0)
