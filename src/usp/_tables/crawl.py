"""The tables of a crawl that runs: what each node of it, and its end, add to them.

The stream of a driver calls it, in threads or in asyncio. It fetches nothing.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from usp._crawl import Crawl
from usp._crawl.assembly import crawl_facts, site_verdict
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback
from usp._crawl.source_result import COMPLETE
from usp._crawl.unique_urls import UniqueUrls
from usp._crawl.work import ColumnBatch
from usp._drive.events import Emit
from usp._drive.page_filter import RowFilter
from usp._parse import PageColumns, timestamp
from usp._source import SourceName
from usp._tables import nodes
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.rows import TableRow, facts_row, homepage_of, robots_row, site_name
from usp._tables.site import SiteTables
from usp._tables.skipped import SkippedSitemaps
from usp._validate import check_int
from usp.objects.events import Observer
from usp.stream import StreamState

_NODE_TABLES: Final = frozenset({"sitemaps", "problems", "attempts", "sites"})
"""The tables that need every node, not just those with pages."""


class CrawlTables(SiteTables):
    """Makes the batches of the wanted tables, in document order."""

    takes_long = False

    def __init__(
        self,
        source: SourceName,
        choice: TableChoice,
        batch_rows: int,
        unique: UniqueUrls | None = None,
    ) -> None:
        super().__init__(site_name(source), choice, check_int("batch_rows", batch_rows, 1))
        self._unique = unique
        self._crawl: Crawl | None = None
        self._pages_of_node = 0
        self._skipped = SkippedSitemaps()
        self._searched_homepage = False
        self._started_at = datetime.now(UTC)
        self._started = time.monotonic()

    def options(
        self,
        recurse_callback: RecurseCallback | None,
        recurse_list_callback: RecurseListCallback | None,
        observer: Observer | None,
    ) -> CrawlOptions:
        """Return the options of the crawl."""
        return CrawlOptions(
            recurse_callback,
            recurse_list_callback,
            observer=observer,
            streaming=True,
            robots_rules="sites" in self._choice,
            every_node=not _NODE_TABLES.isdisjoint(self._choice.tables),
        )

    def filter(self, crawl: Crawl, emit: Emit) -> RowFilter:
        """Return what selects the rows of pages."""
        self._crawl = crawl
        return RowFilter(crawl, emit, self._unique)

    def batches(self, node: Node, state: StreamState[RowFilter]) -> ColumnBatch:
        """Return what reads the columns of a node's pages, if they are to be read here."""
        pages = node.document.pages if node.document and node.pages_due else ()
        names = self._choice.page_columns | state.crawl._cursor.selection.columns
        with_problems = "problems" in self._choice or "sites" in self._choice
        return ColumnBatch(pages, names, self._batch_rows, with_problems=with_problems)

    def items(
        self, node: Node, batch: PageColumns, state: StreamState[RowFilter]
    ) -> Iterator[Batch]:
        """Yield the batches of some pages of a node, those that are wanted."""
        columns = state.filter.select(node, batch)
        self._pages_of_node += len(columns["url"])
        return self._pages.batches(columns, nodes.node_url(node))

    def after(self, node: Node, *, to_the_end: bool) -> Iterator[Batch]:
        """Yield the rows that a node adds to other tables than that of pages.

        :param to_the_end: whether its pages were read to the end, if any are.
        """
        reading = nodes.Reading(self._pages_of_node, to_the_end)
        self._pages_of_node = 0
        if node.absence is None and ("sitemaps" in self._choice or "sites" in self._choice):
            yield from self._sitemap(node, self._sitemap_row(node, reading), reading.pages)
        if "problems" in self._choice or "sites" in self._choice:
            yield from self._problems(nodes.node_problems(node, reading), nodes.node_url(node))
        if node.was_tried and not (node.homepage and self._searched_homepage):
            self._searched_homepage = self._searched_homepage or node.homepage is not None
            yield from self._rows("attempts", [self._attempt(node.attempt())])

    def _sitemap_row(self, node: Node, reading: nodes.Reading) -> TableRow:
        row = nodes.sitemap_row(node, reading)
        if "bytes" in self._choice.columns("sitemaps"):
            row["bytes"] = nodes.document_bytes(node, reading)
        return row

    def _sitemap(self, node: Node, row: TableRow, pages: int) -> Iterator[Batch]:
        """Count a sitemap; yield its row, after those of skipped ones that come before it."""
        before = [self._numbered(skipped) for skipped in self._skipped.before(node)]
        yield from self._rows("sitemaps", [*before, self._counted(row, pages)])

    def end(self, state: StreamState[RowFilter]) -> Iterator[Batch]:
        """Yield the rows of the crawl as a whole."""
        stopped = state.crawl.stopped
        yield from self._rows("sitemaps", map(self._numbered, self._skipped.at_end()))
        yield from self._problems([stopped] if stopped else [], None)
        yield from self._rows("sites", [self._site_row(state.crawl)])

    def _totals(self) -> TableRow:
        """Return what is known of the site so far."""
        counted, crawl = super()._totals(), self._crawl
        if crawl is None:
            return counted
        return {**counted, **facts_row(crawl_facts(crawl._named, crawl._cursor))}

    def _site_row(self, crawl: Crawl) -> TableRow:
        return {
            **self._totals(),
            "final_url": homepage_of(crawl._name),
            "outcome": str(crawl.outcome),
            "code": self._code(crawl.outcome),
            "complete": crawl.outcome in COMPLETE,
            "limit": crawl.stopped.code if crawl.stopped else None,
            "started_at": timestamp(self._started_at),
            "seconds": time.monotonic() - self._started,
            **robots_row(site_verdict(crawl._name, crawl._cursor, crawl.policy.robots_agent)),
        }
