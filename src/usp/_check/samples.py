"""Samples of listed pages: the same for the same seed, whatever the order of reading.

Each URL gets a number by a hash of the seed and the URL. A sample of *n* pages has the *n* lowest
numbers, one of a share all below a bound. So every page is as likely as any other, and nothing but
the sample is kept. What it says about all pages is an interval (Wilson's, for 95 %).
"""

import heapq
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

from usp._check.spooled import SpooledRows
from usp._crawl.unique_urls import UniqueUrls
from usp._validate import argument_error

DEFAULT: Final = 200
"""How many pages are checked if no number is given."""
_ALL: Final = "all"
_PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%")
_NUMBERS: Final = 2**64
_Z: Final = 1.959964
"""The 97.5th percentile of the normal distribution: 95 % lie between it and its negative."""


class PageEntry(NamedTuple):
    """A page as a sitemap lists it."""

    sitemap_url: str
    url: str
    line: int | None
    offset: int | None
    lastmod: str = ""
    alternates: tuple[tuple[str, str], ...] = ()
    media: tuple[str, ...] = ()
    """The URLs of its images, videos and thumbnails."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many pages are checked: a number of them, or a share."""

    count: int | None = None
    share: float = 1.0
    """From 0 to 1, if there is no number."""

    @classmethod
    def of(cls, given: object) -> "SampleSize":
        """Return the size that a caller wants: 200, ``"200"``, ``"5%"``, ``"all"``; True for 200.

        :raises UsageError: if it is none of these.
        """
        text = str(DEFAULT if given is True else given).strip().lower()
        percent = _PERCENT.fullmatch(text)
        if text == _ALL:
            return cls()
        if percent and 0 < float(percent[1]) <= 100:  # noqa: PLR2004 -- per cent
            return cls(share=float(percent[1]) / 100)
        if text.isascii() and text.isdigit() and int(text):
            return cls(count=int(text))
        raise argument_error("live", "a number of pages, a share such as 5%, or all", given)

    @property
    def is_all(self) -> bool:
        """Whether every page is checked."""
        return self.count is None and self.share == 1.0


class PageSample(Protocol):
    """Chooses pages while they are read."""

    listed: int
    """How many pages there were to choose from."""

    def wants(self, url: str) -> bool:
        """Count a page; tell whether it is chosen, as far as is known."""

    def add(self, page: PageEntry) -> None:
        """Take a page that was wanted."""

    def __iter__(self) -> Iterator[PageEntry]:
        """Yield the chosen pages, when all were read."""

    def close(self) -> None:
        """Remove temporary files."""


def page_sample(size: SampleSize, seed: int) -> PageSample:
    """Return what chooses a sample."""
    return FixedSample(size.count, seed) if size.count else ShareSample(size.share, seed)


def sample_number(seed: int, url: str) -> int:
    """Return the number of a URL, from 0 to 2⁶⁴ - 1; the same in every process."""
    text = f"{seed} {url}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest())


class FixedSample:
    """The pages with the lowest numbers."""

    def __init__(self, count: int, seed: int) -> None:
        self._count = count
        self._seed = seed
        self._highest_first: list[tuple[int, str]] = []
        self._pages: dict[str, PageEntry] = {}
        self.listed = 0

    def wants(self, url: str) -> bool:
        """Count a page; tell whether its number is low enough so far."""
        self.listed += 1
        if url in self._pages:
            return False
        heap = self._highest_first
        return len(heap) < self._count or -sample_number(self._seed, url) > heap[0][0]

    def add(self, page: PageEntry) -> None:
        """Take a page; the one with the highest number goes, if there are too many."""
        entry = (-sample_number(self._seed, page.url), page.url)
        self._pages[page.url] = page
        if len(self._highest_first) < self._count:
            heapq.heappush(self._highest_first, entry)
        else:
            _, dropped = heapq.heapreplace(self._highest_first, entry)
            del self._pages[dropped]

    def __iter__(self) -> Iterator[PageEntry]:
        for _, url in sorted(self._highest_first, reverse=True):
            yield self._pages[url]

    def close(self) -> None:
        """Do nothing: the sample is in memory."""


class ShareSample:
    """The pages with numbers below a bound; on disk, since they may be all."""

    def __init__(self, share: float, seed: int) -> None:
        self._bound = math.ceil(share * _NUMBERS)
        self._is_all = share == 1.0
        self._seed = seed
        self._rows = SpooledRows(PageEntry)
        self._seen = UniqueUrls()
        self.listed = 0

    def wants(self, url: str) -> bool:
        """Count a page; tell whether its number is below the bound, and it is new."""
        self.listed += 1
        chosen = self._is_all or sample_number(self._seed, url) < self._bound
        return chosen and self._seen.add(url)

    def add(self, page: PageEntry) -> None:
        """Take a page."""
        self._rows.add(*page)

    def __iter__(self) -> Iterator[PageEntry]:
        return iter(self._rows)

    def close(self) -> None:
        """Remove the temporary file."""
        self._rows.close()


def wilson_interval(found: int, checked: int) -> tuple[float, float]:
    """Return between which shares that of all pages lies, with a probability of 95 %.

    Wilson's interval holds for small samples and for shares near 0 as well.
    """
    if not checked:
        return 0.0, 1.0
    share, z2 = found / checked, _Z**2
    centre = share + z2 / (2 * checked)
    margin = _Z * math.sqrt(share * (1 - share) / checked + z2 / (4 * checked**2))
    scale = 1 + z2 / checked
    low = max((centre - margin) / scale, 0.0) if found else 0.0
    high = min((centre + margin) / scale, 1.0) if found < checked else 1.0
    return low, high
