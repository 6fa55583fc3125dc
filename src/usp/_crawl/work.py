"""Work of the crawl core in small steps, so that a driver can do other things in between.

A document may list 50,000 sitemaps; an event loop must not wait until each has its node. Work is a
generator. Each step takes microseconds and yields None, or a ``PageBatch``: pages to be parsed,
which may take longer, and which a driver may do in a thread. It sends the pages back.
"""

from collections.abc import Collection, Generator, Iterable, Iterator
from itertools import islice
from typing import Final, Protocol, TypeVar

from usp._crawl.selected_pages import columns_of
from usp._crawl.selection import Selection
from usp._parse import Document, Ended, PageColumns, Pages
from usp.objects.page import SitemapPage

_PAGES_AT_ONCE: Final = 256

T = TypeVar("T")
Read_co = TypeVar("Read_co", covariant=True)


class ReadBatch(Protocol[Read_co]):
    """Reads the pages of a document in batches: a ``PageBatch`` or a ``ColumnBatch``."""

    ended: bool

    def __call__(self, ended: Ended | None = None) -> Read_co:
        """Return the next pages; nothing at the end, or if there is no more time."""


class PageBatch:
    """The pages of a document, those that a selection takes, in batches or one by one."""

    def __init__(self, pages: Iterable[SitemapPage], selection: Selection | None = None) -> None:
        self._pages = pages
        self._selection = selection
        self._reading: Iterator[SitemapPage] | None = None
        self.ended = False
        """Whether the time was up before the document was read to its end."""

    def __call__(self, ended: Ended | None = None) -> list[SitemapPage]:
        """Return the next pages; none at the end, or if there is no more time."""
        if self._reading is None:
            self._reading = self.one_by_one(ended)
        return list(islice(self._reading, _PAGES_AT_ONCE))

    def one_by_one(self, ended: Ended | None = None) -> Iterator[SitemapPage]:
        """Yield the pages, as long as there is time."""
        try:
            pages = self._pages
            if isinstance(pages, Pages):
                pages = pages.walk(ended, with_problems=True)  # it may not be there any more later
            yield from self._selection.choose(pages) if self._selection else pages
        except TimeoutError:
            self.ended = True


class ColumnBatch:
    """Columns of the pages of a document, many pages at a time."""

    def __init__(
        self,
        pages: Iterable[SitemapPage],
        names: Collection[str],
        rows: int,
        *,
        with_problems: bool = False,
    ) -> None:
        self._pages = pages
        self._names = names
        self._rows = rows
        self._with_problems = with_problems
        self._reading: Iterator[PageColumns] | None = None
        self.ended = False
        """Whether the time was up before the document was read to its end."""

    def __call__(self, ended: Ended | None = None) -> PageColumns | None:
        """Return the next columns; None at the end, or if there is no more time."""
        if self._reading is None:
            self._reading = columns_of(
                self._pages, self._names, ended, self._rows, with_problems=self._with_problems
            )
        try:
            return next(self._reading, None)
        except TimeoutError:
            self.ended = True
            return None


Work = Generator[PageBatch | None, list[SitemapPage] | None, T]


def page_count(document: Document, selection: Selection) -> Work[int | None]:
    """Return how many pages of a document a selection takes; None if there was no time to count."""
    if document.page_count is not None:
        return document.page_count
    count = 0  # a file, or the caller's own driver
    batch = PageBatch(document.pages, selection)
    while pages := (yield batch):
        count += len(pages)
    return None if batch.ended else count


def finish(work: Work[T]) -> T:
    """Do all of the work here and now; return its result."""
    pages: list[SitemapPage] | None = None
    try:
        while True:
            batch = work.send(pages)
            pages = batch() if batch else None
    except StopIteration as end:
        result: T = end.value
        return result
