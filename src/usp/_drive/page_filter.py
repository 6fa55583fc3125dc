"""Where pages leave a stream: those that are wanted, up to the caller's limits.

The rules are the same whoever reads the documents, so they stand here once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from usp._crawl.core import Crawl, StopCallback
from usp._crawl.nodes import Node
from usp._drive.events import Emit
from usp.objects.events import PagesRead
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage


class PageFilter:
    """Lets the pages of a crawl through; it may stop the crawl."""

    def __init__(self, crawl: Crawl, stop_callback: StopCallback | None, emit: Emit) -> None:
        self._crawl = crawl
        self._has_enough = stop_callback or (lambda _page: False)
        self._emit = emit
        self._left = crawl.policy.limit
        self._count = 0
        self._closed = False
        self.skipped: Counter[SkipReason] = Counter()
        """How many pages were left out, as the caller asked."""

    def select(self, node: Node, pages: Iterable[SitemapPage]) -> Iterator[SitemapPage]:
        """Yield those pages of a sitemap, or of a part of it, that are wanted."""
        crawl = self._crawl
        for page in crawl.selection.choose(pages, self.skipped):
            if self._has_enough(page):
                self._end(node, "SM706", "The caller had enough")
                return
            self._count += 1
            yield page
            if self._count == self._left:
                reason = f"The crawl has reached its {crawl.policy.limit} pages"
                self._end(node, "SM704", reason)
                return

    def _end(self, node: Node, code: str, reason: str) -> None:
        self._closed = True
        self._crawl.stop(code, reason, at=node)

    def is_closed(self) -> bool:
        """Emit whether nothing passes any more; what came before another limit still does."""
        return self._closed

    def close(self, node: Node) -> None:
        """Emit that a sitemap was read, and forget its document."""
        self._emit(PagesRead(node.final_url, self._count))
        self._left = None if self._left is None else self._left - self._count
        self._count = 0
        self._crawl.release(node)
