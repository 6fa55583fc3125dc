"""What a text means as a date.

Sitemaps should use W3C dates and feeds RFC 2822 ones; sites mix them and add forms of their own.
Quick and certain ways first; dateutil, which costs 400 times as much and fills gaps with today,
last, and only where it needs no guess. A zone that isn't named stays unnamed.
"""

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

from usp._parse.values import clean

_LONGEST: Final = 64
_TIME: Final = r"""
    (?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d+))?)?
    (?:\s*(?P<half>[AP])\.?M\.?)?"""
_ZONE: Final = r"""
    (?:\s*(?P<zone>Z|(?:GMT|UTC)?\s?[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?|[A-Z][A-Z ]*)
    (?:\s*\([^()]*\))?)?"""
_FLAGS: Final = re.VERBOSE | re.IGNORECASE | re.ASCII
_FORMS: Final = tuple(
    re.compile(form, _FLAGS)
    for form in (
        # W3C and its neighbours: 2024, 2024-05, 2024/5/1 10:00, 2024-05-01+02:00
        (
            rf"(?P<year>\d{{4}})(?:[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}})"
            rf"(?:[T\s]+{_TIME})?{_ZONE})?)?"
        ),
        # RFC 2822 and its neighbours: Mon, 1 Jan 2024 10:00:00 GMT; 1-Jan-24
        (
            rf"(?:[A-Z]+\.?,?\s*)??(?P<day>\d{{1,2}})[\s-]+(?P<month>[A-Z]{{3,9}})\.?,?[\s-]+"
            rf"(?P<year>\d{{4}}|\d{{2}})(?:,?\s+{_TIME})?{_ZONE}"
        ),
        # American: January 5, 2024 3:04 PM
        (
            rf"(?:[A-Z]+\.?,?\s+)??(?P<month>[A-Z]{{3,9}})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+"
            rf"(?P<year>\d{{4}})(?:,?\s+(?:at\s+)?{_TIME})?{_ZONE}"
        ),
        # asctime and JavaScript: Thu Jan  4 10:00:00 2024
        (
            rf"[A-Z]{{3,9}},?\s+(?P<month>[A-Z]{{3,9}})\s+(?P<day>\d{{1,2}})\s+{_TIME}{_ZONE}"
            rf"\s+(?P<year>\d{{4}})"
        ),
    )
)
_NUMBERS: Final = re.compile(
    rf"(?P<one>\d{{1,2}})(?P<mark>[/.-])(?P<two>\d{{1,2}})(?P=mark)(?P<year>\d{{4}})"
    rf"(?:,?\s+{_TIME})?{_ZONE}",
    _FLAGS,
)
_COMPACT: Final = re.compile(
    # The rarer forms of ISO 8601: without hyphens, weeks.
    r"\d{8}(?:T\d{4}(?:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\d{4}-?W\d{2}(?:-?[1-7])?",
    re.ASCII,
)
_NAMES_A_DATE: Final = re.compile(r"(?=.*\d{4})(?=.*[A-Za-z]{3,})")  # a year, and a month by name
_OFFSET: Final = re.compile(r"(\d{1,2}):?(\d{2})?(?::?\d{2})?")
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_ZONES_IN_HOURS: Final = {
    "z": 0.0, "ut": 0.0, "utc": 0.0, "gmt": 0.0, "wet": 0.0, "west": 1.0,
    "bst": 1.0, "cet": 1.0, "met": 1.0, "cest": 2.0, "mest": 2.0, "eet": 2.0, "eest": 3.0,
    "msk": 3.0, "jst": 9.0, "kst": 9.0, "hkt": 8.0, "sgt": 8.0, "awst": 8.0,
    "acst": 9.5, "aest": 10.0, "aedt": 11.0, "nzst": 12.0, "nzdt": 13.0,
    "est": -5.0, "edt": -4.0, "cst": -6.0, "cdt": -5.0, "mst": -7.0, "mdt": -6.0,
    "pst": -8.0, "pdt": -7.0, "akst": -9.0, "akdt": -8.0, "hst": -10.0,
    "ast": -4.0, "adt": -3.0, "nst": -3.5, "ndt": -2.5, "brt": -3.0, "art": -3.0,
}  # fmt: skip
"""Zone names: those of RFC 2822 4.3 and the ones that feeds write; names with two meanings have
the one of RFC 2822 (CST, EST), or the one that feeds use (BST)."""
_ZONE_WORDS: Final = {
    "eastern": "e", "central": "c", "mountain": "m", "pacific": "p", "alaska": "ak",
    "alaskan": "ak", "atlantic": "a", "hawaii": "h", "hawaiian": "h", "newfoundland": "n",
    "standard": "s", "daylight": "d", "time": "t", "greenwich": "g", "mean": "m",
}  # fmt: skip
_ZONES_IN_WORDS: Final = {"coordinated universal time": "utc", "universal time": "utc"}
# Two dates that differ in every part: where results differ, dateutil has filled a gap.
_GAP_FILLERS: Final = (datetime(2001, 1, 1), datetime(2004, 2, 2))  # noqa: DTZ001 -- naive on purpose
_DATEUTIL_ERRORS: Final = (
    ValueError,
    ArithmeticError,
    TypeError,
    AttributeError,
    LookupError,
)


@lru_cache(maxsize=4096)
def date(text: str) -> datetime | None:
    """Return the date, or None if the text isn't one or leaves out what can't be left out."""
    found = clean(text)
    if not found or len(found) > _LONGEST or not any(map(str.isdigit, found)):
        return None
    for form in _FORMS:
        if match := form.fullmatch(found):
            return _build(match, match["day"], match["month"])
    if match := _NUMBERS.fullmatch(found):
        return _build(match, *_day_and_month(match["one"], match["two"], match["mark"]))
    if _COMPACT.fullmatch(found):
        return _iso_8601(found)
    return _last_resort(found) if _NAMES_A_DATE.search(found) else None


def is_understood(text: str) -> bool:
    """Tell whether a text is a date, and names no zone that nobody knows."""
    found = clean(text)
    zones = (match["zone"] for form in (*_FORMS, _NUMBERS) if (match := form.fullmatch(found)))
    zone = next(zones, None)
    return date(text) is not None and (zone is None or _zone(zone) is not None)


def _day_and_month(one: str, two: str, mark: str) -> tuple[str, str]:
    """Tell day and month apart where that takes no guess; month 0, which isn't one, where it does.

    With points the day comes first everywhere; otherwise a number over 12, or the same twice.
    """
    if mark == "." or int(one) > 12 or one == two:  # noqa: PLR2004 -- months
        return one, two
    return (two, one) if int(two) > 12 else (one, "0")  # noqa: PLR2004


def _build(match: re.Match[str], day: str | None, month: str | None) -> datetime | None:
    try:
        hour = int(match["hour"] or 0)
        half = (match["half"] or "").lower()
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
        midnight = hour == 24 and not int(match["minute"]) and not int(match["second"] or 0)  # noqa: PLR2004 -- ISO 8601's end of a day
        second = match["second"] or "0"
        when = datetime(
            _year(match["year"]),
            _month(month or "1"),
            int(day or 1),
            0 if midnight else hour,
            int(match["minute"] or 0),
            59 if second == "60" else int(second),  # a leap second
            int((match["part"] or "")[:6].ljust(6, "0")),
            _zone(match["zone"]) if match["zone"] else None,
        )
        return when + timedelta(days=1) if midnight else when
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 2:  # noqa: PLR2004 -- two digits, as RFC 2822 4.3 reads them
        year += 2000 if year < 50 else 1900  # noqa: PLR2004
    return year


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.get(text[:3].lower(), 0)


def _zone(name: str) -> timezone | None:
    """Return the zone of that name or offset, or None if nobody knows it."""
    sign = re.search(r"[+-]", name)
    if sign:
        match = _OFFSET.fullmatch(name[sign.end() :])
        hours, minutes = (match[1], match[2]) if match else ("0", "0")
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-offset if sign[0] == "-" else offset)
    word = " ".join(name.lower().split())
    word = _ZONES_IN_WORDS.get(word, word)
    if " " in word:
        word = "".join(_ZONE_WORDS.get(part, "?") for part in word.split())
    hours_east = _ZONES_IN_HOURS.get(word)
    return None if hours_east is None else timezone(timedelta(hours=hours_east))


def _iso_8601(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _last_resort(text: str) -> datetime | None:
    """Ask dateutil, twice, and believe it only where it made nothing up."""
    from dateutil import parser  # costs 20 ms, and few documents need it

    results = []
    for filler in _GAP_FILLERS:
        try:
            found = parser.parse(text, default=filler, tzinfos=lambda name, _: _zone(name or "?"))
        except _DATEUTIL_ERRORS:
            return None
        results.append(found)
    one, other = results
    if f"{one.year:04}" not in text or (one.year, one.month) != (other.year, other.month):
        return None  # a year or a month isn't made up
    return one if one.day == other.day else one.replace(day=1)
