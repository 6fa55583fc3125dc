"""Where pages leave a stream: those that are wanted, up to the caller's limits.

The rules are the same whoever reads the documents, so they stand here once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from usp._crawl.core import Crawl, StopCallback
from usp._crawl.nodes import Place
from usp._drive.events import Tell
from usp.objects.outcome import Skip
from usp.objects.page import SitemapPage
from usp.objects.events import PagesCounted


class Gate:
    """Lets the pages of a crawl through; it may stop the crawl."""

    def __init__(self, crawl: Crawl, stop_callback: StopCallback | None, tell: Tell) -> None:
        self._crawl = crawl
        self._has_enough = stop_callback or (lambda _page: False)
        self._tell = tell
        self._left = crawl.policy.max_pages
        self._count = 0
        self._shut = False
        self.skipped: Counter[Skip] = Counter()
        """How many pages were left out, as the caller asked."""

    def passing(self, place: Place, pages: Iterable[SitemapPage]) -> Iterator[SitemapPage]:
        """Yield those pages of a sitemap, or of a part of it, that are wanted."""
        crawl = self._crawl
        for page in crawl.selection.choose(pages, self.skipped):
            if self._has_enough(page):
                self._end(place, "SM706", "The caller had enough")
                return
            self._count += 1
            yield page
            if self._count == self._left:
                reason = f"The crawl has reached its {crawl.policy.max_pages} pages"
                self._end(place, "SM704", reason)
                return

    def _end(self, place: Place, code: str, reason: str) -> None:
        self._shut = True
        self._crawl.stop(code, reason, at=place)

    def is_shut(self) -> bool:
        """Tell whether nothing passes any more; what came before another limit still does."""
        return self._shut

    def close(self, place: Place) -> None:
        """Tell that a sitemap was read, and forget its document."""
        self._tell(PagesCounted(place.final_url, self._count))
        self._left = None if self._left is None else self._left - self._count
        self._count = 0
        self._crawl.release(place)
