"""Reads a crawl for a report: its tables and, in the same reading, what the rules find in it.

A document is fetched once. Its pages are read as columns, and then its entries are checked.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Final, Unpack

from usp._check.check_run import CheckParts, CheckRun, finish_crawl
from usp._check.check_time import JUDGING_SECONDS, unless
from usp._check.facts import CheckOptions
from usp._check.findings import Finding
from usp._check.site_facts import SiteFacts
from usp._check.site_robots import SiteRobots
from usp._check.stream import RobotsFetcher
from usp._check.suppression import RuleSelection, Suppression
from usp._crawl.nodes import Node
from usp._crawl.options import RecurseCallback, RecurseListCallback
from usp._crawl.policy import Policy
from usp._crawl.work import ColumnBatch
from usp._drive.events import emitter
from usp._drive.page_filter import RowFilter
from usp._drive.run import CrawlClient
from usp._drive.time_limit import TimeLimit
from usp._keywords import CrawlFields, crawl_keywords
from usp._parse import ROWS_AT_ONCE, PageColumns
from usp._report.collect import PAGE_COLUMNS
from usp._source import SourceName
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.crawl import CrawlTables
from usp._tables.schema import TABLES
from usp.objects.events import Observer
from usp.stream import StreamStart, StreamState, SyncStream, read_items
from usp.web_client.abstract_client import AbstractWebClient

_ROW_TABLES: Final = ("sitemaps", "sites", "attempts")


def wanted_tables(*, with_problems: bool) -> TableChoice:
    """Return the tables and columns that a report needs.

    :param with_problems: whether the problems count, since nothing is checked.
    """
    names = (*_ROW_TABLES, "problems") if with_problems else _ROW_TABLES
    return TableChoice(
        {"pages": TABLES["pages"].only(PAGE_COLUMNS), **{name: TABLES[name] for name in names}}
    )


class CheckedTables:
    """Makes the batches of a crawl, and checks each document after its pages were read."""

    takes_long = True

    def __init__(self, tables: CrawlTables, run: CheckRun, homepage: str) -> None:
        self._tables = tables
        self._run = run
        self._homepage = homepage
        self._state: StreamState[RowFilter]

    def batches(self, node: Node, state: StreamState[RowFilter]) -> ColumnBatch:
        """Return what reads the columns of a node's pages."""
        self._state = state
        return self._tables.batches(node, state)

    def items(
        self, node: Node, batch: PageColumns, state: StreamState[RowFilter]
    ) -> Iterator[Batch | Finding]:
        """Yield the batches of some pages of a node."""
        return self._tables.items(node, batch, state)

    def after(self, node: Node, *, to_the_end: bool) -> Iterator[Batch | Finding]:
        """Yield the other rows of a node, and what is wrong with its document."""
        yield from self._tables.after(node, to_the_end=to_the_end)
        try:
            yield from self._run.check_node(node, self._state.filter.ended)
        except TimeoutError:
            self._state.filter.run_out_of_time(node)

    def end(self, state: StreamState[RowFilter]) -> Iterator[Batch | Finding]:
        """Yield what is wrong with the site, and the rows of the crawl as a whole."""
        # The rows have the outcome, which is partial if there was no time to judge the site.
        yield from finish_crawl(self._run, self._homepage, state.crawl)
        self._run.close()
        yield from self._tables.end(state)


class CheckedStream(SyncStream[Batch | Finding]):
    """Batches of tables and findings, as they are known; it can be closed at any time."""

    _run: CheckRun

    def close(self) -> None:
        """End the crawl: nothing more is fetched, and temporary files are removed."""
        super().close()
        self._run.close()


def read_checked(
    source: SourceName,
    now: datetime,
    *,
    web_client: AbstractWebClient | CrawlClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **crawl_fields: Unpack[CrawlFields],
) -> CheckedStream:
    """Stream the tables of a site and what a check finds in it.

    :raises UsageError: if an argument is wrong.
    """
    tables = CrawlTables(source, wanted_tables(with_problems=False), ROWS_AT_ONCE)
    options = tables.options(recurse_callback, recurse_list_callback, observer)
    policy, client = crawl_keywords(policy, web_client, crawl_fields, source)
    start = StreamStart.of(
        source,
        policy,
        options,
        client,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
    )
    state = StreamState(start.crawl, emitter(options.observer), tables.filter)
    run = _check_run(start, now, fetches_robots=use_robots)
    reader = CheckedTables(tables, run, start.homepage)
    stream = CheckedStream._start(start, state, partial(read_items, reader))
    stream._run = run
    return stream


def _check_run(start: StreamStart, now: datetime, *, fetches_robots: bool) -> CheckRun:
    """Return a check with all rules."""
    options = CheckOptions(now)
    is_online = not start.is_file and not start.client.replays
    robots = RobotsFetcher(start) if fetches_robots and is_online else None
    go_on = unless(TimeLimit(start.crawl, JUDGING_SECONDS))
    site = SiteFacts(options, SiteRobots(options.agents, robots), go_on)
    suppression = Suppression(RuleSelection(), (), None, now)
    return CheckRun(site, CheckParts(), suppression, None)
