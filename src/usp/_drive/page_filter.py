"""The filter of a stream: selection, page limit and stop callback, on page objects or columns.

It is the same for threads and asyncio, so it is here once. Which pages are selected (``since``,
``include``, ...) is decided in ``_crawl.selection``; here that is applied to a stream.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from usp._crawl.core import Crawl
from usp._crawl.cursor import Cursor
from usp._crawl.nodes import Node
from usp._crawl.row_selection import RowSelection
from usp._crawl.unique_urls import UniqueUrls
from usp._drive.events import Emit
from usp._drive.time_limit import GRACE_SECONDS, TimeLimit
from usp._parse import PageColumns
from usp._quantities import count
from usp.objects.events import PagesRead
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage


class StreamFilter:
    """What page objects and columns have in common: the nodes that are due, and how it ends."""

    def __init__(self, crawl: Crawl, emit: Emit) -> None:
        self._crawl = crawl
        self._emit = emit
        self._count = 0
        self.ended = TimeLimit(crawl, GRACE_SECONDS)
        """Tells whether there is no more time to read pages."""
        self.closed = False
        """Whether no further page is wanted. A limit of another kind still lets pages through that
        arrived before it."""
        self.skipped: Counter[SkipReason] = Counter()
        """The number of skipped pages, by reason."""

    @property
    def _cursor(self) -> Cursor:
        # Another one as soon as the crawl falls back to the other scheme.
        return self._crawl._cursor

    @property
    def _is_out_of_time(self) -> bool:
        return not self.closed and self._crawl._deadline.at is not None and self.ended()

    def end_soon(self) -> None:
        """Take no further page, and end the reading of a document at its next part."""
        self.closed = True
        self.ended.cancel()

    def ready_nodes(self) -> Iterator[Node]:
        """Yield the nodes whose pages can be read now."""
        while self._cursor.ready and not self.closed:
            yield self._cursor.ready.popleft()

    def _close(self, node: Node, code: str, reason: str) -> None:
        self.closed = True
        self._cursor.stop_at(node, code, reason)

    def run_out_of_time(self, node: Node) -> None:
        """End the crawl at a node, since its time is up."""
        self._close(node, *self._crawl._deadline.limit.problem)

    def _reach_limit(self, node: Node) -> None:
        reason = f"The crawl reached its limit of {count(self._crawl.policy.limit or 0, 'page')}"
        self._close(node, "SM704", reason)

    def finish(self, node: Node, *, ended: bool) -> None:
        """Record that the pages of a node were read, and drop its document.

        :param ended: whether the time was up before all were read.
        """
        if ended and not self.closed:
            self.run_out_of_time(node)
        self._emit(PagesRead(node.final_url, self._count))
        self._count = 0
        self._cursor.release(node)


class PageFilter(StreamFilter):
    """Yields the wanted pages of a streamed crawl; it may end the crawl."""

    def __init__(self, crawl: Crawl, emit: Emit) -> None:
        super().__init__(crawl, emit)
        self._stops = crawl._cursor.options.stop_callback or (lambda _page: False)
        self._left = crawl.policy.limit

    def select(self, node: Node, pages: Iterable[SitemapPage]) -> Iterator[SitemapPage]:
        """Yield the wanted pages of a sitemap, or of a part of it."""
        for page in self._cursor.selection.choose(pages, self.skipped):
            if self._is_out_of_time:
                self.run_out_of_time(node)
                return
            if self._stops(page):
                self._close(node, "SM706", "The stop callback ended the crawl")
                return
            self._count += 1
            yield page
            if self._count == self._left:
                self._reach_limit(node)
                return

    def finish(self, node: Node, *, ended: bool) -> None:
        """Record that the pages of a node were read, and drop its document."""
        self._left = None if self._left is None else self._left - self._count
        super().finish(node, ended=ended)


class RowFilter(StreamFilter):
    """Takes the wanted rows of a streamed crawl; it may end the crawl."""

    def __init__(self, crawl: Crawl, emit: Emit, unique: UniqueUrls | None = None) -> None:
        super().__init__(crawl, emit)
        self._rows = RowSelection(crawl._cursor.selection, crawl.policy.limit, self.skipped, unique)

    def select(self, node: Node, columns: PageColumns) -> PageColumns:
        """Return the wanted rows of a sitemap, or of a part of it.

        What was read in time counts, so the time is asked for afterwards.
        """
        wanted = self._rows.select(columns)
        self._count += len(wanted["url"])
        if self._rows.is_full:
            self._reach_limit(node)
        elif self._is_out_of_time:
            self.run_out_of_time(node)
        return wanted

    def count_elsewhere(self, node: Node, rows: int) -> None:
        """Count rows of a sitemap that are taken from elsewhere, so they were not selected here."""
        self._count += rows
        self._rows.take_elsewhere(rows)
        if self._rows.is_full:
            self._reach_limit(node)
