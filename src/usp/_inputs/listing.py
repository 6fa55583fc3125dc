"""``open_listing``: the tables of anything that was named."""

from collections.abc import Collection, Generator, Iterator
from typing import Final, Unpack

from usp._closing import ClosesAtExit
from usp._inputs.arrow import ArrowReader
from usp._inputs.crawled import CrawlReader
from usp._inputs.database import DatabaseReader
from usp._inputs.delimited import DelimitedReader
from usp._inputs.folder import FolderReader
from usp._inputs.json_lines import JsonLinesReader
from usp._inputs.kinds import InputKind, NamedInput, named_input
from usp._inputs.page_rows import PageRows
from usp._inputs.reader import InputOptions, InputReader
from usp._inputs.state import StateReader
from usp._inputs.url_list import UrlListReader
from usp._source import SourceName
from usp._tables.batch import Batch
from usp._tables.choice import ColumnNames, TableChoice, TableNames
from usp._tables.read import ReadFields, TableStream
from usp._validate import check_optional_instance
from usp.objects.outcome import Outcome

READERS: Final[dict[InputKind, type[InputReader]]] = {
    InputKind.SITE: CrawlReader,
    InputKind.SITEMAP: CrawlReader,
    InputKind.FILE: CrawlReader,
    InputKind.RECORDING: CrawlReader,
    InputKind.DELIMITED: DelimitedReader,
    InputKind.JSON_LINES: JsonLinesReader,
    InputKind.PARQUET: ArrowReader,
    InputKind.ARROW: ArrowReader,
    InputKind.DATABASE: DatabaseReader,
    InputKind.FOLDER: FolderReader,
    InputKind.STATE: StateReader,
    InputKind.URL_LIST: UrlListReader,
}
"""What reads each kind of input."""


class ListingStream(ClosesAtExit, Iterator[Batch]):
    """Batches of the tables of an input; it can be closed at any time."""

    def __init__(self, named: NamedInput, reader: InputReader, choice: TableChoice) -> None:
        self.name = named.name
        """The input, as it was named."""
        self.kind = named.kind
        self._reader = reader
        self._page_rows = PageRows()
        self._batches = self._read(choice)
        self._is_ending = False

    @property
    def tables(self) -> Collection[str]:
        """The tables that the input has; of a text, all that it may have, until it is read."""
        return self._reader.tables

    @property
    def not_urls(self) -> int:
        """The rows of pages without a URL, such as totals, so far; they are left out."""
        return self._page_rows.not_urls

    @property
    def outcome(self) -> Outcome | None:
        """Whether all was read, at the end; None if the input doesn't say, as a CSV file."""
        return self._reader.outcome

    @property
    def crawl(self) -> TableStream | None:
        """The crawl, if there is one and it has begun: what was tried, problems, robots.txt."""
        return self._reader.stream if isinstance(self._reader, CrawlReader) else None

    def _read(self, choice: TableChoice) -> Generator[Batch]:
        reader, rows = self._reader, self._page_rows
        for batch in reader.batches(choice):
            has_pages = batch.table.name == "pages" and "url" in batch.columns
            yield rows.kept(batch, is_ours=reader.is_ours) if has_pages else batch
            if self._is_ending:
                return
        if self._is_ending:
            return
        rows.check_end(self.name)

    def __next__(self) -> Batch:
        return next(self._batches)

    def close(self) -> None:
        """End it: nothing more is read."""
        self._batches.close()

    def end_soon(self) -> None:
        """Let the thread that reads it end after the current batch; a crawl is cancelled."""
        self._is_ending = True
        if isinstance(self._reader, CrawlReader):
            self._reader.end_soon()


def open_listing(
    source: SourceName,
    tables: TableNames = "pages",
    *,
    columns: ColumnNames | None = None,
    column: str | None = None,
    fingerprints: bool = False,
    **reading: Unpack[ReadFields],
) -> ListingStream:
    """Open anything that lists pages, and stream its tables.

    What it is, is decided by its content: a homepage, a bare domain, the URL of a sitemap; a
    sitemap in a file, or ``-`` for standard input; an export (CSV, TSV, JSON lines, also
    compressed; Parquet, Arrow, SQLite; a folder of them); the folder of a bulk crawl; a recording
    (WARC); the state of a sync (``state.db``), also after an earlier run (``state.db@-1`` for the
    one before the last, ``state.db@17`` by its number); a list of URLs; a table of another tool.

    A batch has those of the wanted columns that the input has. Tables that it doesn't have give no
    batch. Files are read table by table; crawls give rows as they come. Rows of pages without a URL
    are left out; if all are, that is an error at the end.

    :param source: what to read.
    :param tables: the names of the tables.
    :param columns: the wanted columns, as in ``read_tables``.
    :param column: the name of the column with URLs, in a table of another tool.
    :param fingerprints: whether the pages of a state have one more column, ``fingerprint``.
    :param reading: how a site, sitemap, file or recording is read: keywords of ``read_tables``.
    :raises UsageError: if it can't be read, or an argument is wrong.
    :raises MissingExtraError: if a library is missing.
    """
    check_optional_instance("column", column, str)
    choice = TableChoice.of(tables, columns)
    named = named_input(source, column=column)
    options = InputOptions(column, fingerprints=fingerprints, reading=reading)
    return ListingStream(named, READERS[named.kind](named, options), choice)
