"""Rows of sitemaps, sites and attempts: all counted, the most important ones kept."""

from datetime import datetime
from typing import Final

from usp._display import shown, shown_url
from usp._report.counting import First, NameCounts
from usp._report.figures import (
    AttemptLine,
    DiscoveryLog,
    SiteFigures,
    SiteLine,
    SitemapLine,
    Sitemaps,
)
from usp._sync.changes import moment_of
from usp._tables.rows import TableRow
from usp.objects.outcome import Outcome

MAX_LINES: Final = 2000
"""How many sitemaps, or sites, a report lists."""
_MAX_ATTEMPTS: Final = 300
_LONGEST: Final = 500
"""How many characters of a URL or of a text of a site are shown."""
_FAILED: Final = "failed"
_ROBOTS: Final = "robots"
_BY_INDEX: Final = "indexes"
_READ: Final = frozenset({Outcome.FOUND, Outcome.PARTIAL})


def cut(value: object) -> str:
    """Return a text of a site as it is shown: on one line, and not too long."""
    return _shortened("" if value is None else shown(str(value)))


def cut_url(value: object) -> str:
    """Return a URL of a site in the same way: what looks like another URL in it stays."""
    return _shortened("" if value is None else shown_url(str(value)))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class SitemapRows:
    """Takes the rows of the table ``sitemaps``."""

    def __init__(self) -> None:
        self._first: First[SitemapLine] = First(MAX_LINES, _importance)
        self._kinds, self._states = NameCounts(), NameCounts()
        self._total = self._failed = self._damaged = 0
        self.last_fetch: int | None = None

    def add(self, row: TableRow) -> None:
        """Take a row; robots.txt is no sitemap, it only leads to them."""
        if row.get("kind") == _ROBOTS:
            return
        line = SitemapLine(
            cut_url(row.get("url") or row.get("declared_url")),
            cut_url(row.get("site")),
            cut(row.get("kind")),
            cut(row.get("state")),
            " ".join(filter(None, (cut(row.get("code")), cut(_reason(row))))),
            row.get("http_status"),
            row.get("pages"),
            row.get("children"),
            row.get("bytes") or row.get("bytes_received"),
            row.get("seconds"),
            row.get("complete") is not False,
            row.get("position") or self._total + 1,
        )
        self._total += 1
        self._failed += line.state == _FAILED
        self._damaged += line.state != _FAILED and not line.is_whole
        self._kinds.add([line.kind])
        self._states.add([line.state])
        fetched = row.get("fetched_at")
        if fetched is not None:
            self.last_fetch = max(fetched, self.last_fetch or fetched)
        self._first.add(line)

    def sitemaps(self) -> Sitemaps:
        """Return the figures."""
        return Sitemaps(
            tuple(self._first.items()),
            self._total,
            self._failed,
            self._damaged,
            self._kinds.ranking(),
            self._states.ranking(),
        )


def _importance(line: SitemapLine) -> tuple[int, int, str, int]:
    """Return the order of sitemaps: failed, damaged, then the largest."""
    rank = 0 if line.state == _FAILED else 1 if not line.is_whole else 2
    return rank, -(line.pages or 0), line.site, line.position


def _reason(row: TableRow) -> str | None:
    """Return why a sitemap failed, without its URL, which stands beside it."""
    reason, url = row.get("reason"), row.get("declared_url")
    return reason.replace(f" from {url}", "") if reason and url else reason


class SiteRows:
    """Takes the rows of the table ``sites``."""

    def __init__(self) -> None:
        self._first: First[SiteLine] = First(MAX_LINES, _site_importance)
        self._outcomes = NameCounts()
        self._total = self._requests = self._bytes = 0
        self._seconds = 0.0
        self.last_start: int | None = None

    def add(self, row: TableRow) -> None:
        """Take a row."""
        line = SiteLine(
            cut_url(row.get("site")),
            cut(row.get("outcome")),
            cut(row.get("code")),
            row.get("pages") or 0,
            row.get("sitemaps") or 0,
            row.get("sitemaps_failed") or 0,
            row.get("seconds"),
        )
        self._total += 1
        self._outcomes.add([line.outcome])
        self._requests += row.get("requests") or 0
        self._bytes += row.get("bytes") or 0
        self._seconds += line.seconds or 0.0
        started = row.get("started_at")
        if started is not None:
            self.last_start = max(started, self.last_start or started)
        self._first.add(line)

    def sites(self) -> SiteFigures:
        """Return the figures."""
        return SiteFigures(
            tuple(self._first.items()),
            self._total,
            self._outcomes.ranking(),
            self._requests,
            self._bytes,
            self._seconds,
        )


def _site_importance(line: SiteLine) -> tuple[bool, int, str]:
    return line.outcome in _READ, -line.pages, line.site


class AttemptRows:
    """Takes the rows of the table ``attempts``, in their order."""

    def __init__(self) -> None:
        self._first: First[tuple[tuple[bool, int], AttemptLine]] = First(
            _MAX_ATTEMPTS, lambda item: item[0]
        )
        self._results = NameCounts()
        self._total = 0

    def add(self, row: TableRow) -> None:
        """Take a row; what indexes list gives way to the other stages."""
        line = AttemptLine(
            cut(row.get("stage")),
            cut_url(row.get("url")),
            cut(row.get("result")),
            row.get("http_status"),
            cut(row.get("detail")),
            row.get("seconds"),
        )
        self._total += 1
        self._results.add([line.result])
        self._first.add(((line.stage == _BY_INDEX, self._total), line))

    def discovery(self) -> DiscoveryLog:
        """Return the figures."""
        kept = sorted(self._first.items(), key=lambda item: item[0][1])
        return DiscoveryLog(tuple(line for _, line in kept), self._total, self._results.ranking())


def latest(*times: int | None) -> datetime | None:
    """Return the latest of some times; None if there is none."""
    known = [time for time in times if time is not None]
    return moment_of(max(known)) if known else None
