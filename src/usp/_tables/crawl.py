"""The tables of a crawl that runs: what each node of it, and its end, add to them.

The stream of a driver calls it, in threads or in asyncio. It fetches nothing.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from usp._crawl import Crawl
from usp._crawl.assembly import site_verdict
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback
from usp._crawl.unique_urls import UniqueUrls
from usp._crawl.work import ColumnBatch
from usp._drive.events import Emit
from usp._drive.page_filter import RowFilter
from usp._parse import PageColumns, timestamp
from usp._source import SourceName
from usp._tables import nodes
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.pages import PageTables
from usp._tables.rows import (
    TableRow,
    attempt_row,
    homepage_of,
    problem_row,
    robots_row,
    site_name,
)
from usp._validate import check_int
from usp.objects.events import Event, Observer, RequestStarted, ResponseReceived
from usp.objects.outcome import Outcome
from usp.objects.problem import Problem, Severity
from usp.stream import StreamState

_NODE_TABLES: Final = frozenset({"sitemaps", "problems", "attempts", "sites"})
"""The tables that need every node, not just those with pages."""
_READ: Final = frozenset({"ok", "unchanged"})
_ROBOTS: Final = "robots"


class CrawlTables:
    """Makes the batches of the wanted tables, in document order."""

    def __init__(
        self,
        source: SourceName,
        choice: TableChoice,
        batch_rows: int,
        unique: UniqueUrls | None = None,
    ) -> None:
        self.choice = choice
        self.site = site_name(source)
        self._pages = PageTables(self.site, choice, check_int("batch_rows", batch_rows, 1))
        self._batch_rows = batch_rows
        self._unique = unique
        self._counts: Counter[str] = Counter()
        self._homepage: str | None = None
        self._pages_of_node = 0
        self._first_failure: str | None = None
        self._searched_homepage = False
        self._started_at = datetime.now(UTC)
        self._started = time.monotonic()

    def options(
        self,
        recurse_callback: RecurseCallback | None,
        recurse_list_callback: RecurseListCallback | None,
        observer: Observer | None,
        *,
        probe_early: bool = False,
    ) -> CrawlOptions:
        """Return the options of the crawl."""

        def count(event: Event) -> None:
            self._count(event)
            if observer:
                observer(event)

        return CrawlOptions(
            recurse_callback,
            recurse_list_callback,
            observer=count if "sites" in self.choice else observer,
            probe_early=probe_early,
            streaming=True,
            every_node=not _NODE_TABLES.isdisjoint(self.choice.tables),
        )

    def _count(self, event: Event) -> None:
        if isinstance(event, RequestStarted):
            self._counts["requests"] += 1
        elif isinstance(event, ResponseReceived):
            self._counts["bytes"] += event.fetch_info.bytes_received or 0

    def filter(self, crawl: Crawl, emit: Emit) -> RowFilter:
        """Return what selects the rows of pages."""
        self._homepage = homepage_of(crawl._name)  # before the crawl chooses a scheme
        return RowFilter(crawl, emit, self._unique)

    def batches(self, node: Node, state: StreamState[RowFilter]) -> ColumnBatch:
        """Return what reads the columns of a node's pages, if they are to be read here."""
        is_due = node.pages_due and self.choice.reads_pages
        pages = node.document.pages if node.document and is_due else ()
        names = self.choice.page_columns | state.crawl._cursor.selection.columns
        return ColumnBatch(pages, names, self._batch_rows)

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
        if node.absence is None and ("sitemaps" in self.choice or "sites" in self.choice):
            rows = [
                self._sitemap_row(node, reading),
                *map(self._numbered, nodes.skipped_rows(node)),
            ]
            yield from self._rows("sitemaps", rows)
        if "problems" in self.choice or "sites" in self.choice:
            yield from self._problems(nodes.node_problems(node, reading), nodes.node_url(node))
        if node.was_tried and not (node.homepage and self._searched_homepage):
            self._searched_homepage = self._searched_homepage or node.homepage is not None
            code = nodes.failure_code(node)
            row = attempt_row(self.site, node.attempt(), nodes.fetch_info(node), code)
            yield from self._rows("attempts", [row])

    def _sitemap_row(self, node: Node, reading: nodes.Reading) -> TableRow:
        row = nodes.sitemap_row(node, reading)
        # robots.txt is no sitemap: it only leads to them.
        self._counts["sitemaps"] += row["state"] in _READ and row["kind"] != _ROBOTS
        self._counts["sitemaps_failed"] += row["state"] == "failed"
        self._counts["pages"] += reading.pages
        if "bytes" in self.choice.columns("sitemaps"):
            row["bytes"] = nodes.document_bytes(node, reading)
        return self._numbered(row)

    def _numbered(self, row: dict[str, Any]) -> TableRow:
        self._counts["positions"] += 1
        return row | {"site": self.site, "position": self._counts["positions"]}

    def _problems(self, found: Iterable[Problem], sitemap_url: str | None) -> Iterator[Batch]:
        rows = [problem_row(self.site, problem, sitemap_url) for problem in found]
        self._counts["problems"] += len(rows)
        if not self._first_failure:
            errors = (row["code"] for row in rows if row["severity"] == Severity.ERROR)
            self._first_failure = next(errors, None)
        return self._rows("problems", rows)

    def end(self, state: StreamState[RowFilter]) -> Iterator[Batch]:
        """Yield the rows of the crawl as a whole."""
        stopped = state.crawl.stopped
        yield from self._problems([stopped] if stopped else [], None)
        yield from self._rows("sites", [self._site_row(state.crawl)])

    def _site_row(self, crawl: Crawl) -> TableRow:
        counted = ("requests", "bytes", "sitemaps", "sitemaps_failed", "pages", "problems")
        verdict = site_verdict(crawl._name, crawl._cursor, crawl.policy.robots_agent)
        return {
            "site": self.site,
            "homepage": self._homepage,
            "final_url": homepage_of(crawl._name),
            "outcome": str(crawl.outcome),
            "code": self._first_failure,
            "complete": crawl.outcome in {Outcome.FOUND, Outcome.NONE},
            "limit": crawl.stopped.code if crawl.stopped else None,
            "started_at": timestamp(self._started_at),
            "seconds": time.monotonic() - self._started,
            **{name: self._counts[name] for name in counted},
            **robots_row(verdict),
        }

    def _rows(self, table: str, rows: Iterable[TableRow]) -> Iterator[Batch]:
        """Yield rows of a table, if it is wanted."""
        if table in self.choice:
            batch = Batch.of_rows(self.choice.tables[table], rows)
            yield from batch.cut(self._batch_rows)
