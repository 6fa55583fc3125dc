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

TABLES: Final = ("pages", "sitemaps", "sites")
COLUMNS: Final = {
    "pages": (
        *("site", "url", "sitemap_url", "lastmod"),
        *(name for name in COMPARED if name != FINGERPRINT.name),
    ),
    "sitemaps": ("url", "declared_url", "state", "complete"),
    "sites": ("site", "complete"),
}
"""What is read of a side."""
_SITE: Final = "site "
"""What no URL of a sitemap begins with."""
_SKIPPED: Final = "skipped"
"""The state of a sitemap that was not wanted, or is read where it is listed first."""
_ANSWERED: Final = frozenset({Outcome.FOUND, Outcome.PARTIAL, None})


class PlaceNumbers:
    """Numbers the sitemaps and sites of both sides: those that count as the same have one."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def sitemap(self, key: str) -> int:
        """Return the number of a sitemap."""
        return self._number(key)

    def site(self, key: str) -> int:
        """Return the number of a site, which may have the name of its only sitemap."""
        return self._number(f"{_SITE}{key}")

    def _number(self, key: str) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


@dataclass(slots=True)
class Side:
    """One side while it is read, and what is known of it then."""

    letter: str
    """``a`` or ``b``."""
    keys: UrlKeys
    numbers: PlaceNumbers
    name: str = ""
    kind: InputKind | None = None
    outcome: Outcome | None = None
    rows: int = 0
    """The rows of pages; a URL that several sitemaps list counts for each."""
    not_urls: int = 0
    """The rows that have no URL, such as totals; they were left out."""
    incomplete_url: str | None = None
    """The first sitemap that was not read, or not whole."""
    _columns: set[str] | None = None
    _whole: set[int] = field(default_factory=set)
    _listing: dict[int, str] = field(default_factory=dict)
    """The sitemaps that list pages, by number."""
    _sites: dict[int, set[int]] = field(default_factory=dict)
    """The sites of each place that lists pages."""
    _known: dict[tuple[str | None, str | None], int | str] = field(default_factory=dict)
    """The number of each place by its site and sitemap; empty for one that has neither."""

    def read(self, listing: ListingStream, add: Callable[[list[str]], None]) -> None:
        """Read all rows; hand their lines over."""
        self.name, self.kind = listing.name, listing.kind
        writer = RecordWriter(self.letter)
        with listing:
            for batch in listing:
                if batch.table.name == "pages":
                    add(self._lines(batch, writer))
                elif batch.table.names == COLUMNS[batch.table.name]:
                    # Others are of an export without the column that says what was lost.
                    self._take_whole(batch)
            self.outcome, self.not_urls = listing.outcome, listing.not_urls

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
        return SideFacts(columns, self.is_whole, self._whole, self._sites, listing, urls)

    def _lines(self, batch: Batch, writer: RecordWriter) -> list[str]:
        self.rows += batch.length
        names = set(batch.table.names)
        self._columns = names if self._columns is None else self._columns & names
        urls = clean_urls(list(batch.columns["url"]))
        keys = self._keys(urls)
        nothing = [None] * batch.length
        sites, sitemaps = (batch.columns.get(name) or nothing for name in ("site", "sitemap_url"))
        places, known = list(zip(sites, sitemaps, strict=True)), self._known
        for place in set(places) - known.keys():
            known[place] = self._number(*place)
        return writer.lines(keys, urls, [known[place] for place in places], batch)

    def _keys(self, urls: list[str]) -> list[str]:
        return self.keys.of_urls(urls, is_first=self.letter == "a")

    def _sitemap(self, url: str) -> int:
        return self.numbers.sitemap(self._keys([url])[0])

    def _site(self, name: str) -> int:
        return self.numbers.site(self._keys([name])[0])

    def _number(self, site: str | None, sitemap_url: str | None) -> int | str:
        """Return the number of a sitemap that lists pages.

        A file has no URL, and the sitemaps of an earlier run are not known: that of the site, then.
        """
        sites = {self._site(site)} if site else set[int]()
        if sitemap_url is not None and is_http_url(sitemap_url):
            place = self._sitemap(sitemap_url)
            self._listing.setdefault(place, sitemap_url)
        elif not sites:
            return ""
        else:
            place = min(sites)
        self._sites.setdefault(place, set()).update(sites)
        return place

    def _take_whole(self, batch: Batch) -> None:
        """Take note of the sites, or the sitemaps, that were read whole."""
        if batch.table.name == "sites":
            whole = (self._site(site) for site, is_complete in batch if site and is_complete)
            self._whole.update(whole)
            return
        for url, declared_url, state, is_complete in batch:
            if state in READ_STATES and is_complete:
                self._whole.update(self._sitemap(name) for name in {url, declared_url} - {None})
            elif state != _SKIPPED:
                self.incomplete_url = self.incomplete_url or url
