"""Makes the figures of a report of the batches and findings of a source, as they come."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Final

from usp._check.findings import Finding
from usp._report.counting import DifferentUrls, NameCounts
from usp._report.dates import DateCounts, NewsAges
from usp._report.figures import ReportFigures, RunChanges
from usp._report.findings import FindingGroups
from usp._report.folders import FolderCounts, hosts_of, largest
from usp._report.sitemaps import AttemptRows, SitemapRows, SiteRows, latest
from usp._tables.batch import Batch
from usp._tables.rows import TableRow
from usp.objects.outcome import Outcome

PAGE_COLUMNS: Final = (
    *("url", "lastmod", "changefreq", "published_at", "news_publication", "news_language"),
    *("images", "videos", "alternates"),
)
"""The columns of pages that a report needs, where a source has them."""
_PARTS: Final = ("images", "videos", "alternates")
_NEWS: Final = "news"


class ReportCollector:
    """Takes batches of any tables, and findings."""

    def __init__(self, now: datetime, *, is_check: bool) -> None:
        self._now = now
        self._different = DifferentUrls()
        self._folders = FolderCounts()
        self._dates = DateCounts(now)
        self._has_dates = False
        self._kinds = NameCounts()
        self._parts = NameCounts()
        self._changefreqs = NameCounts()
        self._languages, self._news_languages = NameCounts(), NameCounts()
        self._news = NewsAges(now)
        self._findings = FindingGroups(is_check=is_check)
        self._sitemaps, self._sites, self._attempts = SitemapRows(), SiteRows(), AttemptRows()
        self._rows: Mapping[str, Any] = {
            "sitemaps": self._sitemaps.add,
            "sites": self._sites.add,
            "attempts": self._attempts.add,
            "problems": self._findings.add_problem,
        }

    @property
    def pages(self) -> int:
        """How many pages there were so far."""
        return self._folders.pages

    def add(self, item: Batch | Finding) -> None:
        """Take a batch of any table, or a finding."""
        if isinstance(item, Finding):
            self._findings.add_finding(item)
        elif item.table.name == "pages":
            self._add_pages(item)
        else:
            take = self._rows[item.table.name]
            for row in _rows(item):
                take(row)

    def _add_pages(self, batch: Batch) -> None:
        columns = batch.columns
        urls = columns["url"]
        self._different.add(urls)
        self._folders.add(urls)
        if "lastmod" in columns:
            self._has_dates = True
            self._dates.add(columns["lastmod"])
        self._changefreqs.add(columns.get("changefreq", ()))
        for name in _PARTS:
            self._add_part(name, columns.get(name, ()))
        alternates = filter(None, columns.get("alternates", ()))
        self._languages.add(_language(link[0]) for link in chain.from_iterable(alternates))
        self._add_news(columns, batch.length)

    def _add_part(self, name: str, values: Sequence[Any]) -> None:
        held = [len(parts) for parts in values if parts]
        if held:
            self._kinds.add_one(name, len(held))
            self._parts.add_one(name, sum(held))

    def _add_news(self, columns: Mapping[str, Sequence[Any]], length: int) -> None:
        nothing = (None,) * length
        publications = columns.get("news_publication", nothing)
        languages = columns.get("news_language", nothing)
        stories = [
            row for row in range(length) if publications[row] or languages[row]
        ]  # both are required of a news story
        if stories:
            times = columns.get("published_at", nothing)
            self._kinds.add_one(_NEWS, len(stories))
            self._news.add([times[row] for row in stories], [publications[row] for row in stories])
            self._news_languages.add(_language(languages[row]) for row in stories)

    def report(
        self,
        source: str,
        changes: RunChanges | None,
        made_at: datetime,
        as_of: datetime | None = None,
        reading: Outcome | None = None,
    ) -> ReportFigures:
        """Return the figures, once everything was read.

        :param as_of: by which dates are judged; None for the time at which the source was read.
        :param reading: what came of the reading.
        """
        as_of = as_of or latest(self._sites.last_start, self._sitemaps.last_fetch) or made_at
        tree = self._folders.tree()
        return ReportFigures(
            source,
            made_at,
            as_of,
            self._folders.pages,
            self._different.count(),
            self._has_dates,
            largest(tree),
            hosts_of(tree),
            self._folders.schemes.ranking(),
            self._dates.dates(as_of),
            tuple((name, self._kinds[name]) for name in (_NEWS, *_PARTS)),
            tuple((name, self._parts[name]) for name in _PARTS),
            self._changefreqs.ranking(),
            self._languages.ranking(),
            self._news_languages.ranking(),
            self._news.freshness(as_of),
            self._sitemaps.sitemaps(),
            self._sites.sites(),
            self._findings.findings(),
            changes,
            self._attempts.discovery(),
            reading,
        )

    def close(self) -> None:
        """Free the disk space."""
        self._different.close()
        self._folders.close()


def _rows(batch: Batch) -> Iterator[TableRow]:
    names = batch.table.names
    return (dict(zip(names, row, strict=True)) for row in batch)


def _language(code: str | None) -> str | None:
    """Return a code of a language in one spelling: case means nothing in it (RFC 5646 2.1.1)."""
    return code.strip().lower() if code else None
