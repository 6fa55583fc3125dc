"""Rules about the values of one entry: empty elements, dates, unknown tags, order."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.registry import entry_rule
from usp._display import excerpt
from usp._parse import Kind
from usp._parse.checking import UNEXPECTED, EntryShape, once_a_shape

_SITEMAPS: Final = frozenset({Kind.URLSET, Kind.INDEX})
"""The kinds whose dates must be W3C dates; feeds have their own forms."""
DATE_KEYS: Final = (
    *("lastmod", "news:publication_date", "video:publication_date", "video:expiration_date"),
)
_LASTMOD: Final = "lastmod"
_FORM: Final = re.compile(
    r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])"
    r"(?:T(?P<time>(?:[01]\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
_COARSE: Final = len("2026-01")
_EPOCH: Final = 1970
_FUTURE: Final = timedelta(hours=24)
_MAY_BE_EMPTY: Final = frozenset(
    {
        *("mobile:mobile", "xhtml:link", "loc"),
        *("news:news", "news:publication", "image:image", "video:video", "video:tvshow"),
        *("news:name", "news:language", "news:publication_date", "news:title", "image:loc"),
        *("video:title", "video:description", "video:thumbnail_loc"),
    }
)
"""Elements without content, groups, and required ones, which other codes report as missing."""
_ORDER: Final = {"loc": 0, "lastmod": 1, "changefreq": 2, "priority": 3}
_LAST: Final = len(_ORDER)


def utc(date: datetime) -> datetime:
    """Return a date in UTC; one without a time zone is taken as UTC."""
    return date.replace(tzinfo=UTC) if date.tzinfo is None else _as_utc(date)


def _as_utc(date: datetime) -> datetime:
    try:
        return date.astimezone(UTC)
    except OverflowError:  # the first or last day of the calendar
        return date.replace(tzinfo=UTC)


@entry_rule("SM450", kinds=_SITEMAPS)
def empty_values(facts: EntryFacts) -> Iterable[Occurrence]:
    """Look for elements without content."""
    record = facts.entry.record
    return [
        facts.occurrence("SM450", f"<{record[at][0]}> is empty")
        for at in _not_empty(facts.entry.shape)
        if not record[at][1].strip()
    ]


@once_a_shape
def _not_empty(shape: EntryShape) -> tuple[int, ...]:
    """Return where a record has elements that must not be empty."""
    return tuple(
        at
        for at, key in enumerate(shape.keys)
        if key not in _MAY_BE_EMPTY and key[:1].isalpha()
        if "@" not in key and not key.startswith("pagemap:")
    )


@entry_rule("SM451", "SM452", "SM453", "SM454", "SM455", kinds=_SITEMAPS, keys=DATE_KEYS)
def dates(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look at how dates are written; parsing reports those that cannot be understood."""
    at = facts.entry.shape.at
    for key in DATE_KEYS:
        if key in at:
            for text in facts.entry.raw(key):
                yield from _date(facts, key, text)


def _date(facts: EntryFacts, key: str, text: str) -> Iterator[Occurrence]:
    """Look at one date."""
    written = text.strip()
    form = _FORM.fullmatch(written)
    date = facts.date_of(text) if form is None or key == _LASTMOD else None
    if form is None:
        if date is not None:
            yield facts.occurrence("SM451", f"{key} {excerpt(written, 80)}")
    elif form["time"] and not form["zone"]:
        yield facts.occurrence("SM452", f"{key} {written}")
    elif len(written) <= _COARSE:
        yield facts.occurrence("SM453", f"{key} {written}")
    if key == _LASTMOD and date is not None:
        yield from _unlikely_date(facts, date, written)


def _unlikely_date(facts: EntryFacts, date: datetime, written: str) -> Iterator[Occurrence]:
    """Look for dates of changes that are in the future, or too long ago."""
    if utc(date) > facts.sitemap.options.now + _FUTURE:
        yield facts.occurrence("SM454", f"lastmod {excerpt(written, 80)}")
    elif date.year < _EPOCH:
        yield facts.occurrence("SM455", f"lastmod {excerpt(written, 80)}")


@entry_rule("SM256", kinds=_SITEMAPS, prefix=UNEXPECTED)
def unknown_tags(facts: EntryFacts) -> Iterator[Occurrence]:
    """Look for tags and attributes of the sitemap namespace that the protocol doesn't have."""
    for name in facts.entry.unexpected:
        if ":" not in name:
            element, is_attribute, attribute = name.partition("@")
            what = f"the attribute {attribute} of <{element}>" if is_attribute else f"<{element}>"
            yield facts.occurrence("SM256", what)


@entry_rule("SM257", kinds=[Kind.URLSET])
def tag_order(facts: EntryFacts) -> Iterable[Occurrence]:
    """Look at the order of the tags of a ``<url>``; in an index any order is valid."""
    if facts.entry.name != "url":
        return ()
    wrong = _wrong_order(facts.entry.shape)
    return (facts.occurrence("SM257", wrong),) if wrong else ()


@once_a_shape
def _wrong_order(shape: EntryShape) -> str:
    """Return which tag comes too late; empty if none does."""
    latest, before = 0, "loc"
    for key in shape.keys:
        if not key[:1].isalpha() or key == "xml:base" or "@" in key:
            continue
        rank = _ORDER.get(key, _LAST)
        if rank < latest:
            return f"<{key}> comes after <{before}>"
        latest, before = rank, key
    return ""
