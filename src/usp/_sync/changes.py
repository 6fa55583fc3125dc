"""The kinds of changes between two runs, and one change as a value."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from usp._validate import check_choices

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ChangeKind(StrEnum):
    """What happened to a URL."""

    ADDED = "added"
    """A sitemap lists it, and none did before."""
    CHANGED = "changed"
    """Its ``lastmod`` moved forward, or other listed fields differ."""
    MOVED = "moved"
    """Another sitemap lists it now."""
    MISSING = "missing"
    """No sitemap lists it any more; that is not confirmed yet."""
    REMOVED = "removed"
    """No sitemap lists it any more, confirmed by later runs."""
    EXPIRED = "expired"
    """It left a news sitemap or a feed, which lists what is new only."""
    RETURNED = "returned"
    """It was missing, removed or expired, and is listed again."""
    CHURN = "churn"
    """Of a sitemap: most of its dates moved at once, with the same URLs."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one URL.

    :param seq: its number in the state; numbers grow for ever.
    :param change: what happened.
    :param url: the URL; that of the sitemap, if the change is ``churn``.
    :param sitemap_url: the sitemap that lists it now, or listed it last.
    :param lastmod: its date now, or the last one known.
    :param old_lastmod: its date before.
    :param at: when the run that found it ended.
    """

    seq: int
    change: ChangeKind
    url: str
    sitemap_url: str | None
    lastmod: datetime | None
    old_lastmod: datetime | None
    at: datetime

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values of JSON; times are texts in UTC."""
        return {
            "seq": self.seq,
            "change": str(self.change),
            "url": self.url,
            "sitemap_url": self.sitemap_url,
            "lastmod": iso(self.lastmod),
            "old_lastmod": iso(self.old_lastmod),
            "at": iso(self.at),
        }


def iso(time: datetime | None) -> str | None:
    """Return a time as text, such as ``2026-11-01T08:30:00Z``."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None


def time_of(microseconds: int | None) -> datetime | None:
    """Return the time that tables and the state write as microseconds since 1970."""
    return None if microseconds is None else moment_of(microseconds)


def moment_of(microseconds: int) -> datetime:
    """Return the time that is so many microseconds after the beginning of 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


def microseconds_of(time: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def kinds_named(name: str, given: Iterable[str] | None) -> frozenset[ChangeKind]:
    """Return some kinds of changes; all of them for None.

    :param name: the name of the argument, for errors.
    :raises UsageError: if there is no such kind.
    """
    if given is None:
        return frozenset(ChangeKind)
    return frozenset(map(ChangeKind, check_choices(name, given, ChangeKind)))
