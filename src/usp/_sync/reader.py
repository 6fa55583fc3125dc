"""Takes the sitemaps of a crawl to a run, node by node; the same for threads and asyncio.

What a node says is decided here: read whole, read in part, unchanged, failed, or nothing at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from usp._crawl import Crawl
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._crawl.work import ColumnBatch
from usp._drive.events import Emit
from usp._drive.page_filter import RowFilter
from usp._parse import ROWS_AT_ONCE, Document, Kind, PageColumns, Pages
from usp._sync.listing import COLUMNS, ListingBuilder
from usp._sync.readings import RunResult, SitemapReading, Structure
from usp._sync.site_run import SiteRun
from usp._tables.nodes import Reading, node_url, sitemap_row
from usp.exceptions import UsageError
from usp.objects.events import (
    Event,
    Observer,
    RequestFailed,
    ResponseReceived,
    RetryScheduled,
)
from usp.objects.outcome import FoundBy, Outcome, Result
from usp.objects.problem import Problem
from usp.stream import StreamState

_WITH_SITEMAPS: Final = frozenset({Outcome.FOUND, Outcome.PARTIAL})
_READ: Final = frozenset({"ok", "unchanged"})
_SAYS_NOTHING: Final = frozenset({Result.NOT_NEEDED, Result.ALREADY_FOUND})
_NO_ANSWER: Final = frozenset({Result.BLOCKED, Result.UNREACHABLE, Result.UNFINISHED})
_ONE_PAGE_ONLY: Final = ("since", "until", "limit", "kind")
"""Fields of a policy that choose pages by what changes from run to run."""


def check_policy(policy: Policy, *more: str) -> None:
    """Check that a policy reads whole sitemaps: what it leaves out would seem to be removed.

    :param more: other fields that must not leave anything out.
    :raises UsageError: if it doesn't.
    """
    for name in (*_ONE_PAGE_ONLY, *more):
        if getattr(policy, name) not in (None, ()):
            raise UsageError(
                f"{name} can't be used here: changes are found by comparing whole sitemaps."
            )


@dataclass(slots=True)
class Traffic:
    """What a run has requested and read."""

    requests: int = 0
    """Requests that were answered or failed; retries count."""
    not_modified: int = 0
    """Those of them that were answered with 304."""
    bytes: int = 0
    """The bytes of all bodies as received."""
    sitemaps: int = 0
    """The sitemaps that were read, changed or not; robots.txt is not counted."""
    unchanged: int = 0
    incomplete: int = 0
    """The sitemaps, and robots.txt, too, that were read in part."""
    incomplete_url: str | None = None
    """The first of them."""
    failed: int = 0
    """The sitemaps that could not be read."""
    failed_url: str | None = None
    """The first of them."""
    reason: str | None = None
    """Why a sitemap or robots.txt could not be read: the first reason."""
    guess_reason: str | None = None
    """Why a URL that nothing declares had no answer: the first reason."""

    def find_incomplete(self, url: str) -> None:
        """Count a sitemap, or robots.txt, that was read in part."""
        self.incomplete += 1
        self.incomplete_url = self.incomplete_url or url

    def fail(self, url: str, reason: str | None) -> None:
        """Count a sitemap that could not be read, and note why."""
        self.failed += 1
        self.failed_url = self.failed_url or url
        self.reason = self.reason or reason

    def miss_robots(self, reason: str | None) -> None:
        """Note why robots.txt could not be read; it is no sitemap that failed."""
        self.reason = self.reason or reason

    def miss_guess(self, reason: str | None) -> None:
        """Note why a URL that nothing declares had no answer; there may be no sitemap at all."""
        self.guess_reason = self.guess_reason or reason

    def observe(self, event: Event) -> None:
        """Count an event."""
        match event:
            case ResponseReceived(fetch_info=info):
                self.requests += 1
                self.not_modified += info.not_modified
                self.bytes += info.bytes_received or 0
            case RequestFailed() | RetryScheduled():
                self.requests += 1


class SyncReader:
    """Reads a crawl for a run: yields None now and then, so that the caller may end it."""

    takes_long = True

    def __init__(self, run: SiteRun) -> None:
        self._run = run
        self._listing = ListingBuilder()
        self._lists_more = False
        self.traffic = Traffic()
        self.stopped: Problem | None = None
        """The limit that ended the crawl, if one did, once it is over."""
        self.result: RunResult | None = None
        """What came of the run, once it is over."""

    def options(self, observer: Observer | None) -> CrawlOptions:
        """Return the options of the crawl."""

        def observe(event: Event) -> None:
            self.traffic.observe(event)
            if observer:
                observer(event)

        return CrawlOptions(
            observer=observe,
            find_stored=self._run.stored,
            streaming=True,
            every_node=True,
        )

    def filter(self, crawl: Crawl, emit: Emit) -> RowFilter:
        """Return what notices the end of the time."""
        return RowFilter(crawl, emit)

    def batches(self, node: Node, state: StreamState[RowFilter]) -> ColumnBatch:
        """Return what reads the columns of a sitemap, unless it is unchanged."""
        del state
        self._listing = ListingBuilder()
        document = node.document
        is_new = document is not None and not document.fetch_info.unchanged
        pages = document.pages if document and node.pages_due and is_new else ()
        return ColumnBatch(pages, COLUMNS, ROWS_AT_ONCE)

    def items(
        self, node: Node, batch: PageColumns, state: StreamState[RowFilter]
    ) -> Iterator[None]:
        """Collect some pages."""
        self._listing.add(state.filter.select(node, batch))
        yield None

    def after(self, node: Node, *, to_the_end: bool) -> Iterator[None]:
        """Take what was read of a node to the run."""
        if node.rejection is not None:  # it is listed, but was not requested here
            self._run.add_failed(_requested(node), _parent(node), may_list_sitemaps=False)
        elif node.homepage is None and node.resource is not None:
            self._take(node, to_the_end=to_the_end)
        for child, _ in node.skipped_children:
            self._run.leave_out(child.url)
        yield None

    def _take(self, node: Node, *, to_the_end: bool) -> None:
        row = sitemap_row(node, Reading(len(self._listing.entries), to_the_end))
        document = node.document
        if node.absence is not None:
            self._take_absence(node)
        elif row["state"] in _READ and document and _is_read_here(node, document):
            is_whole = bool(row["complete"]) and to_the_end
            is_sitemap = document.kind is not Kind.ROBOTS
            self.traffic.sitemaps += is_sitemap
            self.traffic.unchanged += is_sitemap and document.fetch_info.unchanged
            if not is_whole:
                self.traffic.find_incomplete(document.url)
            if to_the_end and not is_whole and _is_corrupt(document):
                self._listing = ListingBuilder()  # URLs and dates may be none of the site's
            self._run.add(self._reading(node, document, is_whole=is_whole))
        elif row["state"] == "failed":
            self._take_failure(node, row["reason"])

    def _take_failure(self, node: Node, reason: str | None) -> None:
        """Take a sitemap that is declared, and could not be read."""
        self.traffic.fail(_requested(node), reason)
        self._run.add_failed(
            _requested(node),
            _parent(node),
            may_list_sitemaps=True,
            may_list_pages=node.attempt().result in _NO_ANSWER,
        )

    def _take_absence(self, node: Node) -> None:
        """Take a URL where nothing is; it is declared only if the crawl's time was up before."""
        attempt = node.attempt()
        result = attempt.result
        if not node.is_guess and result not in _SAYS_NOTHING:
            self._take_failure(node, attempt.detail)
            return
        is_robots = node.found_by is FoundBy.WELL_KNOWN
        if result in _NO_ANSWER or node.is_disallowed:
            miss = self.traffic.miss_robots if is_robots else self.traffic.miss_guess
            miss(attempt.detail)
        if result not in _SAYS_NOTHING:
            # Without robots.txt, sitemaps that it lists are not known.
            hides = is_robots and result in _NO_ANSWER
            self._run.add_failed(_requested(node), None, may_list_sitemaps=hides)

    def _reading(self, node: Node, document: Document, *, is_whole: bool) -> SitemapReading:
        left_out = bool(document.more_children or (document.skipped and document.skipped.total()))
        self._lists_more = self._lists_more or left_out
        return SitemapReading(
            _requested(node),
            node_url(node),
            document.kind,
            document.fetch_info,
            self._listing.entries,
            self._listing.news,
            tuple((child.url, child.lastmod) for child in document.children),
            is_whole,
            # Passwords are never stored, and without them a child could not be fetched.
            not left_out and not any(child.userinfo for child in document.children),
            _parent(node),
        )

    def end(self, state: StreamState[RowFilter]) -> Iterator[None]:
        """Finish the run."""
        crawl = state.crawl
        outcome = crawl.outcome
        self.stopped = crawl.stopped
        structure = Structure(
            str(outcome), outcome in _WITH_SITEMAPS, self.stopped is not None, self._lists_more
        )
        self.result = self._run.finish(structure)
        return iter(())


def _is_read_here(node: Node, document: Document) -> bool:
    """Tell whether a document is read at a node; robots.txt has no pages, and one node."""
    return node.pages_due or document.kind is Kind.ROBOTS


def _is_corrupt(document: Document) -> bool:
    return isinstance(document.pages, Pages) and document.pages.corrupt


def _requested(node: Node) -> str:
    return node.resource.url if node.resource else node.url


def _parent(node: Node) -> str | None:
    return _requested(node.parent) if node.parent else None
