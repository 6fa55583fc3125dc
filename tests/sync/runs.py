"""Runs of a site without a network: what was read of its sitemaps is given."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from usp._parse import Kind
from usp._sync.changes import Change
from usp._sync.listing import ListedPage, Listing
from usp._sync.readings import RunResult, RunRules, SitemapReading, Structure
from usp._sync.site_run import SiteRun
from usp._sync.state import State
from usp.objects.fetch_info import FetchInfo

HOME = "https://example.org/"
ROBOTS = f"{HOME}robots.txt"
SECOND = 1_000_000
NOW = 1_800_000_000 * SECOND


def sitemap_url(name: str) -> str:
    return f"{HOME}{name}.xml"


def page(name: object) -> str:
    return f"{HOME}{name}"


def entries(*names: object, lastmod: int | None = None, fields: int = 0) -> dict[str, ListedPage]:
    """A listing of these pages; a date is in seconds."""
    date = None if lastmod is None else lastmod * SECOND
    return {page(name): ListedPage(date, fields) for name in names}


@dataclass(frozen=True)
class Read:
    """A sitemap that was read."""

    entries: Listing
    is_whole: bool = True
    kind: Kind = Kind.URLSET
    news: int = 0


NOT_THERE = Read({})
"""A sitemap that was answered with 404."""
NOT_DUE = Read({})
"""A sitemap that was not requested, since it is not due."""

Round = Mapping[str, "Read | None"]
"""What came of each sitemap that robots.txt lists, by name; None for one that failed."""


@dataclass
class Site:
    """A site in a state, and its runs."""

    path: Path
    rules: RunRules = field(default_factory=RunRules)
    runs: int = 0
    result: RunResult | None = None

    def run(self, sitemaps: Round | None, *, stopped: bool = False) -> list[Change]:
        """Make a run; return its changes. None: robots.txt could not be read."""
        self.runs += 1
        state = State.open_to_run(self.path)
        try:
            site_id = state.add_site(HOME)
            run = SiteRun(state.path, site_id, self.rules, NOW + self.runs * 3600 * SECOND)
            try:
                self._read(run, sitemaps)
                found = Structure("found", has_sitemaps=True, was_stopped=stopped)
                self.result = run.finish(found)
            finally:
                run.close()
            changes = list(state.undelivered(site_id))
            if changes:
                state.deliver(site_id, changes[-1].seq)
            return changes
        finally:
            state.close()

    def _read(self, run: SiteRun, sitemaps: Round | None) -> None:
        if sitemaps is None:
            run.add_failed(ROBOTS, None, may_list_sitemaps=True)
            return
        children = tuple((sitemap_url(name), None) for name in sitemaps)
        self._add(run, ROBOTS, Read({}, kind=Kind.ROBOTS), children)
        for name, read in sitemaps.items():
            if read is NOT_DUE:
                self._add_unasked(run, sitemap_url(name))
            elif read is None or read is NOT_THERE:
                may_list_pages = read is None
                url = sitemap_url(name)
                run.add_failed(url, ROBOTS, may_list_sitemaps=True, may_list_pages=may_list_pages)
            else:
                self._add(run, sitemap_url(name), read)

    def _add_unasked(self, run: SiteRun, url: str) -> None:
        info = FetchInfo(status=200, unchanged=True)
        run.add(SitemapReading(url, url, Kind.URLSET, info, parent_url=ROBOTS))

    def _add(
        self,
        run: SiteRun,
        url: str,
        read: Read,
        children: tuple[tuple[str, None], ...] = (),
    ) -> None:
        digest = sha256(repr((read, children)).encode()).hexdigest()
        stored = run.stored(url)
        info = FetchInfo(
            status=200,
            sha256=digest,
            fetched_at=datetime.now(UTC),
            unchanged=stored is not None and stored.fetch_info.sha256 == digest,
        )
        run.add(
            SitemapReading(
                url,
                url,
                read.kind,
                info,
                read.entries,
                read.news,
                children,
                read.is_whole,
                parent_url=None if url == ROBOTS else ROBOTS,
            )
        )


def told(changes: Iterable[Change]) -> list[tuple[str, str]]:
    """Changes in short: the kind, and the name of the page or sitemap."""
    return [(str(one.change), one.url.removeprefix(HOME)) for one in changes]
