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
_ISO_LIKE: Final = re.compile(
    r"""(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?)?
        (?:[T\s]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d+))?)?
        \s*(?P<zone>Z|[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?|[A-Za-z][A-Za-z ]*)?)?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_RFC_2822: Final = re.compile(
    r"""(?:[A-Za-z]+\.?,?\s*)??(?P<day>\d{1,2})[\s-]+(?P<month>[A-Za-z]{3,9})\.?,?[\s-]+(?P<year>\d{4}|\d{2})
        (?:,?\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<part>\d+))?)?
        \s*(?P<zone>[+-]\d{1,2}:?(?:\d{2})?|[A-Za-z][A-Za-z ]*)?\s*(?:\([^)]*\))?)?""",
    re.VERBOSE | re.ASCII,
)
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
    "coordinated": "u", "universal": "t",
}  # fmt: skip
_ZONES_IN_WORDS: Final = {"coordinated universal time": "utc", "universal time": "utc"}
# Two dates that differ in every part: where results differ, dateutil has filled a gap.
_GAP_FILLERS: Final = (datetime(2001, 1, 1), datetime(2004, 2, 2))  # noqa: DTZ001 -- naive on purpose
_DATEUTIL_ERRORS: Final = (ValueError, OverflowError, TypeError, AttributeError, LookupError)


@lru_cache(maxsize=4096)
def date(text: str) -> datetime | None:
    """Return the date, or None if the text isn't one or leaves out what can't be left out."""
    found = clean(text)
    if not found or len(found) > _LONGEST or not any(map(str.isdigit, found)):
        return None
    if match := _ISO_LIKE.fullmatch(found):
        return _build(match, int(match["month"] or 1))
    if match := _RFC_2822.fullmatch(found):
        month = _MONTHS.get(match["month"][:3].lower())
        return _build(match, month) if month else None
    return _iso_8601(found) or _last_resort(found)


def _build(match: re.Match[str], month: int) -> datetime | None:
    year = int(match["year"])
    if len(match["year"]) == 2:  # noqa: PLR2004 -- two digits, as RFC 2822 4.3 reads them
        year += 2000 if year < 50 else 1900  # noqa: PLR2004
    zone = match["zone"]
    try:
        return datetime(
            year,
            month,
            int(match["day"] or 1),
            int(match["hour"] or 0),
            int(match["minute"] or 0),
            min(int(match["second"] or 0), 59),  # a leap second
            int((match["part"] or "")[:6].ljust(6, "0")),
            _zone(zone) if zone else None,
        )
    except ValueError:
        return None


def _zone(name: str) -> timezone | None:
    """Return the zone of that name or offset, or None if nobody knows it."""
    if name[0] in "+-":
        hours, minutes = _OFFSET.fullmatch(name[1:]).groups()  # type: ignore[union-attr]
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-offset if name[0] == "-" else offset)
    word = " ".join(name.lower().split())
    word = _ZONES_IN_WORDS.get(word, word)
    if " " in word:
        word = "".join(_ZONE_WORDS.get(part, "?") for part in word.split())
    hours = _ZONES_IN_HOURS.get(word)
    return None if hours is None else timezone(timedelta(hours=hours))


def _iso_8601(text: str) -> datetime | None:
    """Read the rarer forms of ISO 8601: without hyphens, weeks."""
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
    if one.date() != other.date():
        # A day that was filled in becomes the first; a month or a year isn't made up.
        same_month = (one.year, one.month) == (other.year, other.month)
        return one.replace(day=1) if same_month else None
    return one
