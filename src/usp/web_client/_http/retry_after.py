"""The ``Retry-After`` header."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["parse_retry_after"]


def parse_retry_after(header: object) -> float | None:
    """Return the seconds to wait: the header has seconds or a date (RFC 9110 10.2.3).

    None if the header is missing or means nothing.
    """
    text = header.strip() if isinstance(header, str) else ""
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):  # a time zone can overflow, too
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)
