"""What a text means as a date.

Sitemaps should use W3C dates and feeds RFC 2822 ones; sites mix them and add forms of their own.
Quick and certain ways first; dateutil, which costs 400 times as much and fills gaps with today,
last, and only where it needs no guess. A zone that isn't named stays unnamed.
"""

import re
from datetime import datetime, timedelta, timezone
from typing import Final

from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.text import clean

_LONGEST: Final = 64
_HOURS: Final = 24
_LEAP_SECOND: Final = 60
_TIME: Final = r"""
    (?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,](?P<part>\d+))?)?
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
            rf"(?P<year>\d{{4}})(?:[-/.]\s?(?P<month>\d{{1,2}})(?:[-/.]\s?(?P<day>\d{{1,2}})\.?"
            rf"(?:(?:[T\s]+|\s+at\s+){_TIME})?{_ZONE})?)?"
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
        # May 2020
        r"(?P<month>[A-Z]{3,9})\.?,?\s+(?P<year>\d{4})",
        # asctime and JavaScript: Thu Jan  4 10:00:00 2024
        (
            rf"[A-Z]{{3,9}},?\s+(?P<month>[A-Z]{{3,9}})\s+(?P<day>\d{{1,2}})\s+{_TIME}{_ZONE}"
            rf"\s+(?P<year>\d{{4}})"
        ),
    )
)
_USUAL_MARKS: Final = {"--": 10, "--T::Z": 20, "--T::+:": 25, "--T::-:": 25}
"""Every third character from the fifth on, and the length, of what sitemaps should say and mostly
do, and Python reads at once: 2024-05-01, 2024-05-01T10:00:00Z, 2024-05-01T10:00:00+02:00."""
_length_by_marks: Final = _USUAL_MARKS.get
_from_iso_format: Final = datetime.fromisoformat
_NUMBERS: Final = re.compile(
    rf"(?P<one>\d{{1,2}})(?P<mark>[/.-])(?P<two>\d{{1,2}})(?P=mark)(?P<year>\d{{4}})"
    rf"(?:,?\s+{_TIME})?{_ZONE}",
    _FLAGS,
)
_COMPACT: Final = re.compile(
    # The rarer forms of ISO 8601: without hyphens, weeks.
    r"\d{8}(?:[T ]?\d{2}:?\d{2}(?::?\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{4}-\d{2}-\d{2}T\d{4}(?:\d{2})?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|\d{4}-?W\d{2}(?:-?[1-7])?",
    re.ASCII,
)
_NUMBERED: Final = re.compile(r"(?=.*\d{4})(?=.*(?<!\d)\d{1,2}(?!\d))")  # a year and a day
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
_ZONES_IN_WORDS: Final = {
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
# Two dates that differ in every part: where results differ, dateutil has filled a gap.
_GAP_FILLERS: Final = (datetime(2001, 1, 1), datetime(2004, 2, 2))  # noqa: DTZ001 -- naive on purpose
_DATEUTIL_ERRORS: Final = (
    ValueError,
    ArithmeticError,
    TypeError,
    AttributeError,
    LookupError,
)


def date(text: str) -> datetime | None:
    """Return the date, or None if the text isn't one or leaves out what can't be left out."""
    if _length_by_marks(text[4::3]) == len(text):
        try:
            return _from_iso_format(text)
        except ValueError:
            pass  # a leap second, the end of a day, a day that never was
    return _date(text)


@bounded_cache(4096)
def _date(text: str) -> datetime | None:
    found = clean(text)
    if not found or len(found) > _LONGEST or not any(map(str.isdigit, found)):
        return None
    for form in _FORMS:
        if match := form.fullmatch(found):
            said = match.groupdict("")
            return _build(match, said.get("day"), said.get("month"))
    if match := _NUMBERS.fullmatch(found):
        return _build(match, *_day_and_month(match["one"], match["two"], match["mark"]))
    if _COMPACT.fullmatch(found):
        return _iso_8601(found)
    words = set(re.findall("[a-z]+", found.lower()))
    return _last_resort(found) if words & _MONTHS.keys() and _NUMBERED.search(found) else None


def is_understood(text: str) -> bool:
    """Tell whether a text is a date, and names no zone that nobody knows."""
    found = clean(text)
    zones = (
        match.groupdict().get("zone")
        for form in (*_FORMS, _NUMBERS)
        if (match := form.fullmatch(found))
    )
    zone = next(zones, None)
    return date(text) is not None and (not zone or _zone(zone) is not None)


def _day_and_month(one: str, two: str, mark: str) -> tuple[str, str]:
    """Tell day and month apart where that takes no guess; month 0, which isn't one, where it does.

    With points the day comes first everywhere; otherwise a number over 12, or the same twice.
    """
    if mark == "." or int(one) > 12 or one == two:  # noqa: PLR2004 -- months
        return one, two
    return (two, one) if int(two) > 12 else (one, "0")  # noqa: PLR2004


def _build(match: re.Match[str], day: str | None, month: str | None) -> datetime | None:
    said = match.groupdict("")
    hour, minute, second = (int(said.get(part, "") or 0) for part in ("hour", "minute", "second"))
    half = said.get("half", "").lower()
    if half:
        if not 1 <= hour <= _HOURS // 2:
            return None
        hour = hour % (_HOURS // 2) + (_HOURS // 2 if half == "p" else 0)
    next_day = (hour, minute, second) == (_HOURS, 0, 0)  # ISO 8601's end of a day
    try:
        when = datetime(
            _year(said["year"]),
            _month(month or "1"),
            int(day or 1),
            0 if next_day else hour,
            minute,
            second - (second == _LEAP_SECOND),
            int(said.get("part", "")[:6].ljust(6, "0")),
            _zone(said["zone"]) if said.get("zone") else None,
        )
        return when + timedelta(days=1) if next_day else when
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 2:  # noqa: PLR2004 -- two digits, as RFC 2822 4.3 reads them
        year += 2000 if year < 50 else 1900  # noqa: PLR2004
    return year


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.get(text.lower(), 0)


def _zone(name: str) -> timezone | None:
    """Return the zone of that name or offset, or None if nobody knows it."""
    sign = re.search(r"[+-]", name)
    if sign:
        match = _OFFSET.fullmatch(name[sign.end() :])
        hours, minutes = (int(match[1]), int(match[2] or 0)) if match else (99, 0)
        if minutes >= _LEAP_SECOND:
            raise ValueError(name)
        offset = timedelta(hours=hours, minutes=minutes)
        return timezone(-offset if sign[0] == "-" else offset)
    word = " ".join(name.lower().split())
    hours_east = _ZONES_IN_HOURS.get(_ZONES_IN_WORDS.get(word, word))
    return None if hours_east is None else timezone(timedelta(hours=hours_east))


def _iso_8601(text: str) -> datetime | None:
    if text[:8].isdigit() and text[8:9].isdigit():
        text = f"{text[:8]}T{text[8:]}"
    day, time = text[:8], text[8:].replace(":", "")
    try:
        return datetime.fromisoformat(f"{day}{time}" if day.isdigit() else text.replace("-", ""))
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
    # Nothing is made up: neither the year nor any other part of the day.
    return one if f"{one.year:04}" in text and one.date() == other.date() else None
