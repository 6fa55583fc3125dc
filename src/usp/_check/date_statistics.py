"""Rules about the dates of a whole document: SM456, SM457, SM459, SM460, SM462.

They are counted for each sitemap alone: pooled, the dates of a news sitemap would accuse all.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, timedelta
from typing import Final

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.registry import DocumentRule, document_rule
from usp._check.rules import CheckSeverity
from usp._check.value_rules import utc
from usp._parse import Kind

_KINDS: Final = frozenset({Kind.URLSET, Kind.INDEX})
_PLACEHOLDERS: Final = frozenset({date(1, 1, 1), date(1900, 1, 1), date(1970, 1, 1)})
MIN_PLACEHOLDERS: Final = 5
MIN_DATED: Final = 20
_SHARE: Final = 0.9
_OLD: Final = timedelta(days=90)
_NOW: Final = timedelta(minutes=5)
_MAX_DAYS: Final = 4096
"""A sitemap with dates of more days was not dated by its build."""
_IGNORED: Final = ("priority", "changefreq")


@document_rule("SM456", "SM457", "SM459", "SM460", "SM462")
class DateStatistics(DocumentRule):
    """Counts the dates of a document by day."""

    def __init__(self, sitemap: SitemapFacts) -> None:
        super().__init__(sitemap)
        self._counted = sitemap.kind in _KINDS
        self._entries = self._dated = self._at_fetch = 0
        self._has_news = False
        self._days: Counter[date] = Counter()
        self._placeholders: Counter[date] = Counter()
        self._ignored: Counter[str] = Counter()

    def add(self, facts: EntryFacts) -> None:
        """Count the date of an entry."""
        if not self._counted:
            return
        self._entries += 1
        entry = facts.entry
        for key in _IGNORED:
            if key in entry.shape.at and any(map(str.strip, entry.raw(key))):
                self._ignored[key] += 1
        self._has_news = self._has_news or entry.has("news:")
        text, written = facts.lastmod
        if written is None:
            return
        self._dated += 1
        if written.date() in _PLACEHOLDERS:
            self._placeholders[written.date()] += 1
        moment = utc(written)
        if moment.date() in self._days or len(self._days) <= _MAX_DAYS:
            self._days[moment.date()] += 1
        fetched = self._sitemap.fetch_info.fetched_at
        has_time = "T" in text or ":" in text
        if fetched and has_time and abs(fetched - moment) <= _NOW:
            self._at_fetch += 1

    def finish(self, end: DocumentEnd) -> Iterator[Occurrence]:
        """Say what the dates have in common."""
        del end
        sitemap = self._sitemap
        for day, count in sorted(self._placeholders.items()):
            if count >= MIN_PLACEHOLDERS:
                yield sitemap.occurrence("SM456", f"{count:,} entries have {day}")
        yield from self._one_day()
        if self._dated * 2 < self._entries and not self._has_news:
            detail = f"{self._dated:,} of {self._entries:,} entries have a date"
            yield sitemap.occurrence("SM460", detail)
        if self._ignored:
            named = ", ".join(f"{count:,} {key}" for key, count in sorted(self._ignored.items()))
            yield sitemap.occurrence("SM462", named)

    def _one_day(self) -> Iterator[Occurrence]:
        """Say whether the dates are those of one day; those of the fetch come first."""
        sitemap, least = self._sitemap, self._dated * _SHARE
        if self._dated < MIN_DATED or self._has_news:
            return
        if self._at_fetch >= least:
            detail = f"{self._at_fetch:,} of {self._dated:,} dates are those of the fetch"
            yield sitemap.occurrence("SM459", detail)
            return
        if sitemap.kind is Kind.INDEX:
            return  # each of its sitemaps may well have a page that changed on that day
        day, count = self._days.most_common(1)[0]
        if count < least or len(self._days) > _MAX_DAYS or day in _PLACEHOLDERS:
            return
        is_old = sitemap.options.now.astimezone(UTC).date() - day > _OLD
        detail = f"{count:,} of {self._dated:,} dates are of {day}"
        yield sitemap.occurrence("SM457", detail, CheckSeverity.INFO if is_old else None)
