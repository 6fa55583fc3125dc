"""Dates: W3C, RFC 2822, and the forms that sites write instead.

Sitemaps should use W3C dates and feeds RFC 2822 ones; sites mix them and add their own. The fast
and unambiguous forms are tried first. dateutil comes last, since it takes 400 times as long and
fills gaps with today's date; its result is used only where it guessed nothing. A date without a
time zone is naive, unless an aware one is requested.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.plain import BLANKS
from usp._parse.values.text import clean_text

_MAX_LENGTH: Final = 64
_HOURS: Final = 24
_LEAP_SECOND: Final = 60
_NO_OFFSET: Final = timedelta(0)
_TIME: Final = r"""
    (?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,](?P<fraction>\d++))?)?
    (?:\s*+(?P<am_pm>[AP])\.?M\.?)?"""
_ZONE: Final = r"""
    (?:\s*+(?P<zone>Z|(?:GMT|UTC)?\s?[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?
    |[A-Z]++(?:[ ]++[A-Z]++)*+)(?:\s*+\([^()]*+\))?)?"""
_FLAGS: Final = re.VERBOSE | re.IGNORECASE | re.ASCII
_FORMS: Final = tuple(
    re.compile(form, _FLAGS).fullmatch
    for form in (
        # W3C and its neighbours: 2024, 2024-05, 2024/5/1 10:00, 2024-05-01+02:00
        (
            rf"(?P<year>\d{{4}})(?:[-/.]\s?(?P<month>\d{{1,2}})(?:[-/.]\s?(?P<day>\d{{1,2}})\.?"
            rf"(?:(?:[T\s]++|\s++at\s++){_TIME})?{_ZONE})?)?"
        ),
        # RFC 2822 and its neighbours: Mon, 1 Jan 2024 10:00:00 GMT; 1-Jan-24
        (
            rf"(?:[A-Z]++\.?,?\s*+)??(?P<day>\d{{1,2}})[\s-]++(?P<month>[A-Z]{{3,9}})\.?,?[\s-]++"
            rf"(?P<year>\d{{4}}|\d{{2}})(?:,?\s++{_TIME})?{_ZONE}"
        ),
        # American: January 5, 2024 3:04 PM
        (
            rf"(?:[A-Z]++\.?,?\s++)??(?P<month>[A-Z]{{3,9}})\.?\s++(?P<day>\d{{1,2}})"
            rf"(?:st|nd|rd|th)?,?\s++"
            rf"(?P<year>\d{{4}})(?:,?\s++(?:at\s++)?{_TIME})?{_ZONE}"
        ),
        # May 2020
        r"(?P<month>[A-Z]{3,9})\.?,?\s++(?P<year>\d{4})",
        # asctime and JavaScript: Thu Jan  4 10:00:00 2024
        (
            rf"[A-Z]{{3,9}},?\s++(?P<month>[A-Z]{{3,9}})\s++(?P<day>\d{{1,2}})\s++{_TIME}{_ZONE}"
            rf"\s++(?P<year>\d{{4}})"
        ),
    )
)
_ISO_SEPARATORS: Final = {"--": 10, "--T::Z": 20, "--T::+:": 25, "--T::-:": 25}
"""Every third character from the fifth on, and the length, of the forms that most sitemaps use and
that Python parses itself: 2024-05-01, 2024-05-01T10:00:00Z, 2024-05-01T10:00:00+02:00."""
_WITH_OFFSET: Final = 25
_usual_feed_date: Final = re.compile(
    r"[A-Z][a-z]{2}, ([0-3][0-9]) ([A-Z][a-z]{2}) ([0-9]{4}) "
    r"([0-9]{2}):([0-9]{2}):([0-9]{2}) (?:GMT|([+-])([01][0-9])([0-5][0-9]))"
).fullmatch
"""The form that most feeds use: Wed, 06 May 2020 07:08:09 GMT."""
_iso_length: Final = _ISO_SEPARATORS.get
_from_iso_format: Final = datetime.fromisoformat
_NUMBERS: Final = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<separator>[/.-])(?P<second_number>\d{{1,2}})(?P=separator)(?P<year>\d{{4}})"
    rf"(?:,?\s++{_TIME})?{_ZONE}",
    _FLAGS,
).fullmatch
_COMPACT: Final = re.compile(
    # The rarer forms of ISO 8601: without hyphens, weeks.
    r"\d{8}(?:[T ]?\d{2}:?\d{2}(?::?\d{2}(?:\.\d++)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{4}-\d{2}-\d{2}T\d{4}(?:\d{2})?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|\d{4}-?W\d{2}(?:-?[1-7])?",
    re.ASCII,
)
_YEAR: Final = re.compile(r"\d{4}")
_DAY: Final = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_OFFSET: Final = re.compile(r"(\d{1,2}):?(\d{2})?(?::?\d{2})?")
_MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS: Final = {
    written: number
    for number, name in enumerate(_MONTH_NAMES, 1)
    for written in (name, name[:3], *(["sept"] if number == 9 else []))  # noqa: PLR2004
}
_ZONE_HOURS: Final = {
    "z": 0.0, "ut": 0.0, "utc": 0.0, "gmt": 0.0, "wet": 0.0, "west": 1.0,
    "bst": 1.0, "cet": 1.0, "met": 1.0, "cest": 2.0, "mest": 2.0, "eet": 2.0, "eest": 3.0,
    "msk": 3.0, "jst": 9.0, "kst": 9.0, "hkt": 8.0, "sgt": 8.0, "awst": 8.0,
    "acst": 9.5, "aest": 10.0, "aedt": 11.0, "nzst": 12.0, "nzdt": 13.0,
    "est": -5.0, "edt": -4.0, "cst": -6.0, "cdt": -5.0, "mst": -7.0, "mdt": -6.0,
    "pst": -8.0, "pdt": -7.0, "akst": -9.0, "akdt": -8.0, "hst": -10.0,
    "ast": -4.0, "adt": -3.0, "nst": -3.5, "ndt": -2.5, "brt": -3.0, "art": -3.0,
}  # fmt: skip
"""Zone names: those of RFC 2822 4.3 and others that feeds use. A name with two meanings has the one
of RFC 2822 (CST, EST), or the one that feeds use (BST)."""
_LONG_ZONE_NAMES: Final = {
    "coordinated universal time": "utc",
    "universal time": "utc",
    "greenwich mean time": "gmt",
    **{
        f"{word} {kind} time": f"{letters}{kind[0]}t"
        for word, letters in {
            "eastern": "e",
            "central": "c",
            "mountain": "m",
            "pacific": "p",
            "alaska": "ak",
            "alaskan": "ak",
            "atlantic": "a",
            "hawaiian": "h",
            "newfoundland": "n",
        }.items()
        for kind in ("standard", "daylight")
    },
}
# Two dates that differ in every part: where the results differ, dateutil has filled a gap.
_DEFAULTS: Final = (datetime(2001, 1, 1), datetime(2004, 2, 2))  # noqa: DTZ001 -- naive on purpose
_DATEUTIL_ERRORS: Final = (
    ValueError,
    ArithmeticError,
    TypeError,
    AttributeError,
    LookupError,
)


def parse_date(text: str) -> datetime | None:
    """Return the date, or None if the text is none or lacks a part that can't be guessed."""
    length = _iso_length(text[4::3])
    # Python takes an offset of 60 minutes or more for another one: it is left to the other forms.
    if length == len(text) and (length < _WITH_OFFSET or text[23] < "6"):
        try:
            return _from_iso_format(text)
        except ValueError:
            pass  # a leap second, 24:00, or a day that doesn't exist
    elif match := _usual_feed_date(text):
        day, month, year, hour, minute, second, sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes)) if sign else _NO_OFFSET
        zone = timezone(-offset if sign == "-" else offset)
        numbers = int(year), _MONTHS.get(month.lower(), 0), int(day)
        try:
            return datetime(*numbers, int(hour), int(minute), int(second), tzinfo=zone)
        except ValueError:
            pass
    stripped = text.strip(BLANKS)
    return _parse_any_form(text) if stripped == text else parse_date(stripped)


def parse_aware_date(text: str) -> datetime | None:
    """Return the date with a time zone: UTC where the text names none."""
    date = parse_date(text)
    return date.replace(tzinfo=UTC) if date and date.tzinfo is None else date


@bounded_cache(4096)
def _parse_any_form(text: str) -> datetime | None:
    cleaned = clean_text(text)
    if not cleaned or len(cleaned) > _MAX_LENGTH or not any(map(str.isdigit, cleaned)):
        return None
    for form in _FORMS:
        if match := form(cleaned):
            parts = match.groupdict("")
            return _build(match, parts.get("day"), parts.get("month"))
    if match := _NUMBERS(cleaned):
        day_month = _day_and_month(match["first"], match["second_number"], match["separator"])
        return _build(match, *day_month)
    if _COMPACT.fullmatch(cleaned):
        return _parse_compact(cleaned)
    words = set(re.findall("[a-z]+", cleaned.lower()))
    is_complete = words & _MONTHS.keys() and _YEAR.search(cleaned) and _DAY.search(cleaned)
    return _parse_with_dateutil(cleaned) if is_complete else None


def is_valid_date(text: str) -> bool:
    """Tell whether a text is a date, and names no unknown time zone."""
    if parse_date(text) is None:
        return False
    if _iso_length(text[4::3]) == len(text):
        return True
    cleaned = clean_text(text)
    matches = filter(None, (form(cleaned) for form in (*_FORMS, _NUMBERS)))
    zone = next((match.groupdict().get("zone") for match in matches), None)
    try:
        return not zone or _zone(zone) is not None
    except ValueError:  # an offset that is none, such as +00:80
        return False


def _day_and_month(first: str, second: str, separator: str) -> tuple[str, str]:
    """Return day and month; month 0, which is invalid, where they could be either way round.

    With dots the day comes first everywhere. Otherwise a number over 12 is the day, and two equal
    numbers need no decision.
    """
    if separator == "." or int(first) > 12 or first == second:  # noqa: PLR2004 -- months
        return first, second
    return (second, first) if int(second) > 12 else (first, "0")  # noqa: PLR2004


def _build(match: re.Match[str], day: str | None, month: str | None) -> datetime | None:
    parts = match.groupdict("")
    hour, minute, second = (int(parts.get(unit, "") or 0) for unit in ("hour", "minute", "second"))
    am_pm = parts.get("am_pm", "").lower()
    if am_pm:
        if not 1 <= hour <= _HOURS // 2:
            return None
        hour = hour % (_HOURS // 2) + (_HOURS // 2 if am_pm == "p" else 0)
    next_day = (hour, minute, second) == (_HOURS, 0, 0)  # ISO 8601's end of a day
    try:
        date = datetime(
            _year(parts["year"]),
            _month(month or "1"),
            int(day or 1),
            0 if next_day else hour,
            minute,
            second - (second == _LEAP_SECOND),
            int(parts.get("fraction", "")[:6].ljust(6, "0")),
            _zone(parts["zone"]) if parts.get("zone") else None,
        )
        return date + timedelta(days=1) if next_day else date
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 2:  # noqa: PLR2004 -- two digits, see RFC 2822 4.3
        year += 2000 if year < 50 else 1900  # noqa: PLR2004
    return year


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.get(text.lower(), 0)


def _zone(name: str) -> timezone | None:
    """Return the time zone of a name or offset, or None if it is unknown."""
    sign = re.search(r"[+-]", name)
    if sign:
        match = _OFFSET.fullmatch(name[sign.end() :])
        hours, minutes = (int(match[1]), int(match[2] or 0)) if match else (99, 0)
        if minutes >= _LEAP_SECOND:
            raise ValueError(name)
        offset = timedelta(hours=hours, minutes=minutes)
        return timezone(-offset if sign[0] == "-" else offset)
    word = " ".join(name.lower().split())
    hours_east = _ZONE_HOURS.get(_LONG_ZONE_NAMES.get(word, word))
    return None if hours_east is None else timezone(timedelta(hours=hours_east))


def _parse_compact(text: str) -> datetime | None:
    if text[:8].isdigit() and text[8:9].isdigit():
        text = f"{text[:8]}T{text[8:]}"
    day, time = text[:8], text[8:].replace(":", "")
    try:
        return datetime.fromisoformat(f"{day}{time}" if day.isdigit() else text.replace("-", ""))
    except ValueError:
        return None


def _parse_with_dateutil(text: str) -> datetime | None:
    """Return the date that dateutil finds, unless it guessed a part of it."""
    from dateutil import parser  # takes 20 ms to import, and few documents need it

    results = []
    for default in _DEFAULTS:
        try:
            date = parser.parse(text, default=default, tzinfos=lambda name, _: _zone(name or "?"))
        except _DATEUTIL_ERRORS:
            return None
        results.append(date)
    one, other = results
    return one if f"{one.year:04}" in text and one.date() == other.date() else None
