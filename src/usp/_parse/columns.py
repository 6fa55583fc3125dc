"""The columns of a document's pages: many pages at a time, without page objects.

What a column means is in ``formats.columns``; how it is read from the rows of the pattern reader,
in ``formats.row_columns``.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats import columns as values
from usp._parse.formats.field_reader import FieldReader
from usp._parse.formats.row_columns import RowColumnReader
from usp._parse.formats.urlset import STORY
from usp._parse.pages import EntryReading
from usp._parse.pattern.layout import EntryRun, RowLayout
from usp._parse.values.enumerations import change_frequency_word
from usp._parse.values.timestamps import timestamp
from usp._parse.xml.entry_builder import Entry
from usp.objects.page import SITEMAP_PAGE_DEFAULT_PRIORITY, Record, SitemapPage

PageColumns = dict[str, list[Any]]
"""Columns of some pages by their names, all of the same length; ``url`` is always one of them."""

ReadColumns = Callable[[Collection[str]], Iterator[PageColumns]]
"""Yields these columns of pages, with the URLs."""

ROWS_AT_ONCE: Final = 4096
"""How many pages are read at a time: enough that the cost of each step doesn't count."""
_MAX_SIZE: Final = 2_000_000
"""How many characters the entries of a batch have, or a few more: then it is full."""
_URL: Final = "url"
_POSITION: Final = "position"


def read_columns(names: Collection[str], read: ReadColumns) -> Iterator[PageColumns]:
    """Yield the columns that ``read`` reads, and the positions of the pages, if they are wanted."""
    wanted = [name for name in names if name not in {_URL, _POSITION}]
    end = 1
    for columns in read(wanted):
        if _POSITION in names:
            start, end = end, end + len(columns[_URL])
            columns[_POSITION] = list(range(start, end))
        yield columns


class ColumnReading(EntryReading[None]):
    """Reads columns of the pages of one document."""

    parses_times: ClassVar = True

    def __init__(
        self,
        fields: FieldReader,
        diagnostics: Diagnostics,
        names: Collection[str],
        *,
        quick: bool,
    ) -> None:
        super().__init__(fields, diagnostics, quick=quick)
        self._names = names
        self._readers: dict[RowLayout, RowColumnReader] = {}
        self._start_batch()

    def _start_batch(self) -> None:
        self._columns: PageColumns = {name: [] for name in (_URL, *self._names)}
        self._urls = self._columns[_URL]
        self._record_columns = [(values.READ[name], self._columns[name]) for name in self._names]

    def _take_batch(self) -> PageColumns:
        """Return the batch, and start another one.

        Columns are as long as they have values: most have none, and share what they lack.
        """
        count = len(self._urls)
        absent = [None] * count
        columns = {
            name: _pad(column, count) if column else absent
            for name, column in self._columns.items()
        }
        self._start_batch()
        return columns

    def columns(self, entries: Iterable[Entry | EntryRun], rows: int) -> Iterator[PageColumns]:
        """Yield the columns of some ``rows`` pages at a time, or of a few less or more.

        Of long entries there are fewer at a time, so that memory is bounded.
        """
        size = 0
        try:
            for piece in entries:
                count = len(self._urls)
                if count and (count + _count(piece) > rows or size >= _MAX_SIZE):
                    size = 0
                    yield self._take_batch()
                deque(self.read(piece), maxlen=0)
                size += _size(piece)
        except TimeoutError:  # what was read before that counts
            if self._urls:
                yield self._take_batch()
            raise
        deque(self.end(), maxlen=0)
        if self._urls:
            yield self._take_batch()

    def of_record(self, url: str, record: Record) -> Iterable[None]:
        """Add the page of a record."""
        fields, pairs, before = self._fields, list(record), len(self._urls)
        self._urls.append(url)
        for read, column in self._record_columns:
            if (value := read(fields, pairs)) is not None:
                _pad(column, before).append(value)
        return ()

    def of_run(self, urls: list[str], run: EntryRun) -> Iterable[None]:
        """Add the pages of entries."""
        layout = run.layout
        reader = self._readers.get(layout)
        if reader is None:
            reader = self._readers[layout] = RowColumnReader(self._fields, layout, self._names)
        before = len(self._urls)
        self._urls += urls
        for name, column in reader.read(run).items():
            _pad(self._columns[name], before).extend(column)
        return ()


def _pad(column: list[Any], length: int) -> list[Any]:
    """Return a column, with None for the pages at its end that have no value."""
    column += [None] * (length - len(column))
    return column


def _count(piece: Entry | EntryRun) -> int:
    return len(piece) if isinstance(piece, EntryRun) else 1


def _size(piece: Entry | EntryRun) -> int:
    """Return how many characters an entry or a run of them has, or nearly so."""
    if isinstance(piece, EntryRun):
        return piece.length
    return sum(len(text) for _, text in piece[1])


def columns_of_urls(
    urls: Iterable[str], names: Collection[str], rows: int = ROWS_AT_ONCE
) -> Iterator[PageColumns]:
    """Yield the columns of pages of which only the URLs are known: of plain text."""
    walk = iter(urls)
    while found := list(islice(walk, rows)):
        yield {name: [_NO_VALUE.get(name)] * len(found) for name in names} | {_URL: found}


def columns_of_pages(
    pages: Iterable[SitemapPage], names: Collection[str], rows: int = ROWS_AT_ONCE
) -> Iterator[PageColumns]:
    """Yield the columns of page objects: of those that the caller built or changed.

    They have the values of the columns of the document that the pages were parsed from.
    """
    walk = iter(pages)

    def read(wanted: Collection[str]) -> Iterator[PageColumns]:
        while found := list(islice(walk, rows)):
            yield {name: list(map(_OF_PAGE[name], found)) for name in (_URL, *wanted)}

    return read_columns(names, read)


_NO_VALUE: Final[Mapping[str, object]] = {"is_news": False}
"""The value of a column that a page doesn't have, where that is not None."""


def _priority(page: SitemapPage) -> float | None:
    if (text := page.declared.get("priority")) is not None:
        return values.priority_value(text)
    # The default is what a page has that gives none.
    priority = page.priority
    return None if priority == SITEMAP_PAGE_DEFAULT_PRIORITY else values.real(priority)


def _changefreq(page: SitemapPage) -> str | None:
    if (text := page.declared.get("changefreq")) is not None:
        return change_frequency_word(text)
    return page.change_frequency.value if page.change_frequency else None


def _lastmod_raw(page: SitemapPage) -> str | None:
    declared = page.declared
    return values.raw_text(declared.get("lastmod") or declared.get("date_modified"))


def _news(page: SitemapPage) -> values.RowValues | None:
    declared, story = page.declared, page.news_story
    has_elements = not declared.keys().isdisjoint(STORY.keys)
    if story and (has_elements or not declared):
        return values.story_row(story)
    return values.declared_story(declared) if has_elements else None


def _news_value(at: int) -> Callable[[SitemapPage], Any]:
    return lambda page: (_news(page) or (None,) * len(STORY.keys))[at]


_OF_PAGE: Final[Mapping[str, Callable[[SitemapPage], Any]]] = {
    "url": lambda page: page.url,
    "lastmod": lambda page: timestamp(page.last_modified),
    "lastmod_raw": _lastmod_raw,
    "changefreq": _changefreq,
    "priority": _priority,
    "updated_at": lambda page: timestamp(page.updated_at),
    "published_at": lambda page: timestamp(page.published_at),
    "title": lambda page: page.title,
    "news": _news,
    "is_news": lambda page: bool(page.news_story),
    **{name: _news_value(at) for name, at in values.NEWS.items()},
    "images": lambda page: values.rows_of(page.images, values.image_row),
    "videos": lambda page: values.rows_of(page.videos, values.video_row),
    "alternates": lambda page: [tuple(one) for one in page.alternates or ()] or None,
    "links": lambda page: values.rows_of(page.links, values.link_row),
}
"""How each column is read from a page object."""
