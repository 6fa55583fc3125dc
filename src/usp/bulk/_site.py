"""The crawl of one of many sites: its rows, and what becomes of it when something goes wrong."""

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Final

from usp._aio_stream import first_crawl
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback
from usp._crawl.work import ColumnBatch
from usp._drive.aio import AioCrawlClient, options_for
from usp._drive.events import emitter
from usp._drive.page_filter import RowFilter
from usp._parse import ROWS_AT_ONCE, Pages
from usp._source import CrawlStart
from usp._store import Store
from usp._tables import nodes
from usp._tables.aio import AioTableStream
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.crawl import CrawlTables
from usp._tables.rows import TableRow
from usp._tables.schema import TABLES
from usp.bulk._markers import TABLE_NAMES
from usp.bulk._options import BulkOptions
from usp.bulk._previous import PreviousSite
from usp.exceptions import StorageError, ThreadStartError
from usp.objects.events import Observer
from usp.objects.outcome import Outcome
from usp.objects.problem import Problem
from usp.stream import StreamState
from usp.web_client.abstract_aio_client import AbstractAioWebClient

_CHOICE: Final = TableChoice({name: TABLES[name] for name in TABLE_NAMES})
_SITES: Final = "sites"
_NOT_OF_A_SITE: Final = (StorageError, ThreadStartError)
"""What ends the shard: the next site would have the same trouble."""
_READ_AT_ONCE: Final = 64 * 1024
"""No user waits for this event loop, and threads would take a fifth of the CPU time."""
_LOG: Final = logging.getLogger(__name__)

TakeBatch = Callable[[Batch], Awaitable[None]]
"""Takes some rows of a site."""


class SiteReader(CrawlTables):
    """Makes the rows of a site; those of sitemaps that are unchanged are left to be copied."""

    def __init__(
        self,
        name: str,
        previous: PreviousSite | None,
        large_reads: AbstractAsyncContextManager[object] | None,
    ) -> None:
        super().__init__(name, _CHOICE, ROWS_AT_ONCE)
        self._previous = previous
        self._large_reads = large_reads
        self._state: StreamState[RowFilter] | None = None
        self.copied: set[str] = set()
        """The sitemaps whose pages and problems are those of the previous crawl."""

    def options(
        self,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
        observer: Observer | None = None,
    ) -> CrawlOptions:
        """Return the options of the crawl."""
        options = super().options(recurse_callback, recurse_list_callback, observer)
        find_stored = self._previous.stored if self._previous else None
        return replace(
            options,
            find_stored=find_stored,
            read_at_once=_READ_AT_ONCE,
            large_reads=self._large_reads,
        )

    def batches(self, node: Node, state: StreamState[RowFilter]) -> ColumnBatch:
        """Return what reads the columns of a node's pages, unless they are copied."""
        self._state = state
        if self._copied_row(node) is None:
            return super().batches(node, state)
        return ColumnBatch((), frozenset(), self._batch_rows)

    def after(self, node: Node, *, to_the_end: bool) -> Iterator[Batch]:
        """Yield the rows that a node adds to other tables than that of pages."""
        known = self._copied_row(node)
        if known is None:
            return super().after(node, to_the_end=to_the_end)
        return self._after_copied(node, known)

    def _copied_row(self, node: Node) -> Mapping[str, Any] | None:
        """Return the row of a sitemap in the previous crawl, if its pages are copied from there."""
        document = node.document
        if self._previous is None or document is None or not document.fetch_info.unchanged:
            return None
        if not isinstance(document.pages, Pages) or node.invalid is not None or node.collapsed:
            return None
        return self._previous.row(nodes.node_url(node))

    def _after_copied(self, node: Node, known: Mapping[str, Any]) -> Iterator[Batch]:
        url = nodes.node_url(node)
        self.copied.add(url)
        pages = int(known["pages"] or 0)
        if self._state is not None and pages:
            self._state.filter.count_elsewhere(node, pages)
        row = nodes.sitemap_row(node, nodes.Reading(pages))
        row |= {name: known[name] for name in ("bytes", "children", "complete")}
        yield from self._sitemap(node, row, pages)
        self._counts["problems"] += known["problems"]

    def failed(self, error: Exception) -> tuple[TableRow, list[Batch]]:
        """Return the row of the site after an error of ours, and the row of the problem."""
        problem = Problem("SM708", f"{type(error).__name__}: {error}"[:500])
        batches = list(self._problems([problem], None))
        has_pages = bool(self._counts["pages"])
        row = {
            **self._totals(),
            "outcome": str(Outcome.PARTIAL if has_pages else Outcome.UNREACHABLE),
            "code": problem.code,
            "complete": False,
        }
        return row, batches


async def crawl_site(
    name: str,
    options: BulkOptions,
    client: AbstractAioWebClient,
    take: TakeBatch,
    previous: PreviousSite | None = None,
    large_reads: AbstractAsyncContextManager[object] | None = None,
) -> tuple[TableRow, set[str]]:
    """Crawl one site; return its row of ``sites``, and the sitemaps that were copied.

    :param take: takes the rows of the other tables as they come.
    :param large_reads: what is entered while a large document is read.
    :raises StorageError: if there is no room. Nothing that the site does raises.
    """
    reader = SiteReader(name, previous, large_reads)
    row: TableRow = {}
    try:
        async with _stream(name, reader, options, client) as stream:
            async for batch in stream:
                if batch.table.name == _SITES:
                    row = dict(zip(batch.table.names, next(iter(batch)), strict=True))
                else:
                    await take(batch)
    except _NOT_OF_A_SITE:
        raise
    except Exception as error:  # noqa: BLE001 -- a bug of ours, which the other sites don't have
        _LOG.exception("The crawl of %s failed", name)
        row, batches = reader.failed(error)
        for batch in batches:
            await take(batch)
    return row, reader.copied


def _stream(
    name: str, reader: SiteReader, options: BulkOptions, client: AbstractAioWebClient
) -> AioTableStream:
    policy = options.policy
    store = Store(file_per_document=True)
    start = CrawlStart.for_url(
        name,
        policy,
        use_robots=options.use_robots,
        use_known_paths=options.use_known_paths,
    )
    shared = AioCrawlClient(client)
    crawl_options = options_for(shared, reader.options())
    crawl = first_crawl(start, policy, crawl_options)
    state = StreamState(crawl, emitter(crawl_options.observer), reader.filter)
    return AioTableStream._start(start, state, reader, shared, store)
