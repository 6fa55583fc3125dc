"""Reads a side of a comparison: its rows become lines, and what is known of it is kept."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from usp._diff.compare import SideFacts
from usp._diff.keys import UrlKeys, clean_urls
from usp._diff.records import COMPARED, RecordWriter
from usp._inputs.kinds import InputKind
from usp._inputs.listing import ListingStream
from usp._inputs.state import FINGERPRINT
from usp._parse import is_http_url
from usp._tables.batch import Batch
from usp._tables.rows import READ_STATES
from usp.objects.outcome import Outcome

TABLES: Final = ("pages", "sitemaps")
COLUMNS: Final = {
    "pages": (
        *("url", "sitemap_url", "lastmod"),
        *(name for name in COMPARED if name != FINGERPRINT.name),
    ),
    "sitemaps": ("url", "declared_url", "state", "complete"),
}
"""What is read of a side."""
_ANSWERED: Final = frozenset({Outcome.FOUND, Outcome.PARTIAL, None})


class SitemapNumbers:
    """Numbers the sitemaps of both sides: those that count as the same have one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, key: str) -> int:
        """Return the number of a sitemap."""
        return self._numbers.setdefault(key, len(self._numbers))


@dataclass(slots=True)
class Side:
    """One side while it is read, and what is known of it then."""

    letter: str
    """``a`` or ``b``."""
    keys: UrlKeys
    numbers: SitemapNumbers
    name: str = ""
    kind: InputKind | None = None
    outcome: Outcome | None = None
    rows: int = 0
    """The rows of pages; a URL that several sitemaps list counts for each."""
    _columns: set[str] | None = None
    _whole: set[int] = field(default_factory=set)
    _listing: dict[int, str] = field(default_factory=dict)
    """The sitemaps that list pages, by number."""
    _known: dict[str | None, int | str] = field(default_factory=dict)
    """The number of each sitemap by its URL; empty for one that has none."""

    def read(self, listing: ListingStream, add: Callable[[list[str]], None]) -> None:
        """Read all rows; hand their lines over."""
        self.name, self.kind = listing.name, listing.kind
        writer = RecordWriter(self.letter)
        with listing:
            for batch in listing:
                if batch.table.name == "pages":
                    add(self._lines(batch, writer))
                else:
                    self._take_sitemaps(batch)
            self.outcome = listing.outcome

    @property
    def was_read(self) -> bool:
        """Whether there is an answer: a site that can't be reached says nothing."""
        return self.outcome in _ANSWERED

    @property
    def is_whole(self) -> bool:
        """Whether all of it was read, as far as it says."""
        return self.outcome in {Outcome.FOUND, None}

    def facts(self) -> SideFacts:
        """Return what is known of the side."""
        urls = [self._listing.get(number) for number in range(len(self.numbers))]
        columns = frozenset(self._columns or ())
        listing = self._listing.keys()
        return SideFacts(columns, self.is_whole, self._whole, listing, urls)

    def _lines(self, batch: Batch, writer: RecordWriter) -> list[str]:
        self.rows += batch.length
        names = set(batch.table.names)
        self._columns = names if self._columns is None else self._columns & names
        urls = clean_urls(list(batch.columns["url"]))
        keys = self._keys(urls)
        sitemaps = batch.columns.get("sitemap_url") or [None] * batch.length
        known = self._known
        for url in set(sitemaps) - known.keys():
            known[url] = self._number(url)
        return writer.lines(keys, urls, [known[url] for url in sitemaps], batch)

    def _keys(self, urls: list[str]) -> list[str]:
        return self.keys.of_urls(urls, is_first=self.letter == "a")

    def _number(self, url: str | None) -> int | str:
        """Return the number of a sitemap that lists pages; empty for a file, which has no URL."""
        if url is None or not is_http_url(url):
            return ""
        number = self.numbers.number(self._keys([url])[0])
        self._listing.setdefault(number, url)
        return number

    def _take_sitemaps(self, batch: Batch) -> None:
        if len(batch.table.columns) < len(COLUMNS["sitemaps"]):
            return  # an export without the column that says what was lost
        for url, declared_url, state, is_complete in batch:
            if state in READ_STATES and is_complete:
                for name in {url, declared_url} - {None}:
                    self._whole.add(self.numbers.number(self._keys([name])[0]))
