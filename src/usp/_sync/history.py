"""What a state knows of its sites: now, and after an earlier run.

The state keeps what each sitemap lists now. What a site listed after an earlier run follows from
that and from the changes since, taken back one by one. The URLs are exact. Not known any more are
the sitemap of a URL that moved, other fields of a page that changed, and the dates of a sitemap
that churned, which are taken as they are now.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from usp._sync import listing
from usp._sync.state import State
from usp.exceptions import UsageError

_RUNS: Final = """
SELECT r.id, r.site_id, s.name, r.at, r.outcome, r.last_seq, s.has_baseline,
    row_number() OVER (PARTITION BY r.site_id ORDER BY r.id DESC) - 1 AS back,
    max(0, r.last_seq - lag(r.last_seq, 1, 0) OVER (ORDER BY r.id)) AS changes
FROM runs r JOIN sites s ON s.id = r.site_id ORDER BY s.name, r.id
"""
_LATER: Final = """
INSERT OR IGNORE INTO later SELECT url, change, before, sitemap_url, lastmod, old_lastmod
FROM (SELECT *, lag(change) OVER (PARTITION BY url ORDER BY seq) AS before
    FROM changes WHERE site_id = ? AND change != 'churn')
WHERE seq > ? ORDER BY seq
"""
"""The first change of each URL after a run, and its last one before it."""
_GONE: Final = """
SELECT url, CASE WHEN change IN ('changed', 'moved') THEN old_lastmod ELSE lastmod END FROM later
WHERE change IN ('changed', 'moved', 'missing', 'expired')
    OR (change = 'removed' AND before IS NOT 'missing') ORDER BY url
"""
"""URLs that were listed after the run, and aren't any more."""
_LISTED: Final = """
SELECT s.final_url, l.entries FROM sitemaps s JOIN listings l ON l.sitemap_id = s.id
WHERE s.site_id = ? ORDER BY s.id
"""
_STAYED: Final = frozenset({"changed", "moved"})
_OTHER_FIELDS: Final = 0xFFFFFFFF
"""What makes another fingerprint out of one."""
_FOUND: Final = "found"
_RUNS_SHOWN: Final = 5
_URLS_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class KnownRun:
    """One run of a site."""

    number: int
    site_id: int
    site: str
    at: int
    """When it ended, in microseconds since 1970."""
    outcome: str
    last_seq: int
    has_baseline: bool
    back: int
    """How many runs of the site came after it."""
    changes: int
    """How many changes it has found."""

    @property
    def is_whole(self) -> bool:
        """Whether all sitemaps of the site were read."""
        return self.has_baseline and self.outcome == _FOUND


KnownPage = tuple[int | None, int | None]
"""The date of a page, and the fingerprint of its other fields; None if that isn't known."""


class KnownPages(NamedTuple):
    """Some pages that a state knows."""

    site: str
    sitemap_url: str | None
    """None if it isn't known."""
    pages: Mapping[str, KnownPage]
    """By URL."""


@contextmanager
def readable(state: State) -> Iterator[None]:
    """Raise what a damaged state gives as ours, in one line.

    :raises UsageError: if the state is damaged.
    :raises StateError: if it can't be read.
    """
    try:
        with state.path.errors():
            yield
    except zlib.error as error:  # a listing has a checksum; other columns have none
        raise UsageError(f"{state.path.path} is damaged: {error}.") from error


class History:
    """What a state knew after a run of each of its sites."""

    def __init__(self, state: State, run: int = 0) -> None:
        """Find the runs.

        :param run: the number of a run; or how many runs back, as a negative number, of each site.
        :raises UsageError: if there is no such run, or its changes are not kept any more.
        """
        self._state = state
        self._db = state.connection
        self._db.execute("BEGIN")  # what is read is that of one moment
        every = [KnownRun(*row) for row in self._db.execute(_RUNS)]
        self.runs = [one for one in every if (one.number == run if run > 0 else one.back == -run)]
        if not self.runs:
            raise UsageError(f"{state.path.path} has no run {run or ''}{_last_runs(every)}.")
        for chosen in self.runs:
            self._check_kept(chosen, [one for one in every if one.site_id == chosen.site_id])

    def _check_kept(self, run: KnownRun, runs_of_site: list[KnownRun]) -> None:
        found = sum(one.changes for one in runs_of_site if one.number > run.number)
        query = "SELECT count(*) FROM changes WHERE site_id = ? AND seq > ?"
        (kept,) = self._db.execute(query, (run.site_id, run.last_seq)).fetchone()
        if kept < found:
            raise UsageError(
                f"{self._state.path.path}: the changes since run {run.number} are not kept any "
                "more (keep, --keep)."
            )

    def pages(self) -> Iterator[KnownPages]:
        """Yield the pages of all sites, sitemap by sitemap."""
        for run in self.runs:
            if run.back:
                yield from self._earlier_pages(run)
            else:
                for final_url, entries in self._db.execute(_LISTED, (run.site_id,)):
                    yield KnownPages(run.site, final_url, listing.decode(entries))

    def sitemaps(self) -> Iterator[Mapping[str, Any]]:
        """Yield what is known of each sitemap; nothing of an earlier run."""
        query = "SELECT * FROM sitemaps WHERE site_id = ? ORDER BY id"
        for run in self.runs:
            if run.back:
                continue
            rows = self._db.execute(query, (run.site_id,))
            names = [name for name, *_ in rows.description]
            for row in rows:
                known = dict(zip(names, row, strict=True))
                # Of a run that lost something, only what it has read itself is known to be whole.
                was_read = run.is_whole or known["fetched_at"] == run.at
                yield known | {"site": run.site, "is_complete": known["is_complete"] and was_read}

    def _earlier_pages(self, run: KnownRun) -> Iterator[KnownPages]:
        self._db.execute("DROP TABLE IF EXISTS temp.later")
        self._db.execute(
            "CREATE TEMP TABLE later (url TEXT PRIMARY KEY, change, before, sitemap_url, lastmod, "
            "old_lastmod) WITHOUT ROWID"
        )
        self._db.execute(_LATER, (run.site_id, run.last_seq))
        for final_url, entries in self._db.execute(_LISTED, (run.site_id,)):
            pages: dict[str, KnownPage] = {**listing.decode(entries)}
            done = []
            for url, change, sitemap_url, lastmod, old_lastmod in self._changes_of(pages):
                if change not in _STAYED:  # what was listed nevertheless comes at the end
                    del pages[url]
                elif change == "moved" or sitemap_url == final_url:
                    pages[url] = old_lastmod, _earlier_fields(pages[url], lastmod, old_lastmod)
                    done.append((url,))
            self._db.executemany("DELETE FROM later WHERE url = ?", done)
            yield KnownPages(run.site, None, pages)
        gone = self._db.execute(_GONE)
        while rows := gone.fetchmany(_URLS_AT_ONCE):
            yield KnownPages(run.site, None, {url: (lastmod, None) for url, lastmod in rows})

    def _changes_of(self, pages: Mapping[str, KnownPage]) -> list[tuple[Any, ...]]:
        return self._db.execute(
            "SELECT url, change, sitemap_url, lastmod, old_lastmod FROM later "
            "WHERE url IN (SELECT value FROM json_each(?))",
            (json.dumps(list(pages)),),
        ).fetchall()


def _earlier_fields(page: KnownPage, lastmod: int | None, old_lastmod: int | None) -> int | None:
    """Return the fingerprint of a page before it changed: if its date did not, the fields did."""
    fields = page[1]
    return fields if fields is None or lastmod != old_lastmod else fields ^ _OTHER_FIELDS


def _last_runs(runs: list[KnownRun]) -> str:
    """Return the last runs of a state, for a message."""
    listed = sorted(runs, key=lambda run: run.number)[-_RUNS_SHOWN:]
    numbers = ", ".join(str(run.number) for run in listed)
    return f"; its last runs are {numbers}" if numbers else ""
