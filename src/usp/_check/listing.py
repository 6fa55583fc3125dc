"""All listed URLs: which are listed in two sitemaps, and which are spellings of one another.

A record is the hash of the key of a URL, the hash of the URL, and the id of its entry. Records with
the same key are in one partition. Two different URLs are taken for the same with a probability of
n² / 2⁶⁵.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from usp._check.check_time import GoOn, always
from usp._check.partitions import COUNT, TOP_BYTE, Partitions, hash64
from usp._check.url_key import url_key

_WORDS: Final = 3
_STEP: Final = 4096
"""After so many records of one page the time is asked for."""


class Repeated(NamedTuple):
    """An entry whose URL, or another spelling of it, is in an earlier entry, too."""

    entry_id: int
    first: int
    """The id of the first entry with the same URL, or with the first spelling."""
    is_twin: bool
    """Whether the two are different spellings."""


class UrlListing:
    """The URLs of all entries, as hashes."""

    def __init__(self, go_on: GoOn = always) -> None:
        self._go_on = go_on
        self._records = Partitions(_WORDS, go_on)

    def add(self, url: str, entry_id: int) -> None:
        """Add the URL of an entry."""
        key = hash64(url_key(url))
        self._records.add(key >> TOP_BYTE, key, hash64(url), entry_id)

    def repeated(self, sitemap_of: Callable[[int], int]) -> Iterator[Repeated]:
        """Yield URLs of several sitemaps, and spellings of one page.

        Of a URL, each sitemap after its first is named once. Each other spelling of the first URL
        of a page is named once, where it is listed first.
        """
        for partition in range(COUNT):
            words = self._records.read(partition)
            keys = words[0::_WORDS]
            if len(set(keys)) < len(keys):
                yield from self._repeated(keys, words, sitemap_of)

    def first_entries(self, partition: int) -> dict[int, int]:
        """Return the first entry of each URL whose key belongs to a partition, by its hash."""
        found: dict[int, int] = {}
        for _, url, entry_id in self._records.records(partition):
            found.setdefault(url, entry_id)
        return found

    def close(self) -> None:
        """Free the disk space."""
        self._records.close()

    def _repeated(
        self, keys: "array[int]", words: "array[int]", sitemap_of: Callable[[int], int]
    ) -> Iterator[Repeated]:
        counted = Counter(keys)
        several = {key for key, count in counted.items() if count > 1}
        del counted
        first_of_key: dict[int, tuple[int, int]] = {}
        first_of_url: dict[int, int] = {}
        last_sitemap: dict[int, int] = {}
        # Records are in document order, so the first of each comes first.
        for at, key in enumerate(keys):
            if not at % _STEP:
                self._go_on()
            if key not in several:
                continue
            url, entry_id = words[at * _WORDS + 1], words[at * _WORDS + 2]
            sitemap = sitemap_of(entry_id)
            first = first_of_url.setdefault(url, entry_id)
            if first == entry_id:
                known, known_id = first_of_key.setdefault(key, (url, entry_id))
                if known != url:
                    yield Repeated(entry_id, known_id, is_twin=True)
            elif last_sitemap[url] != sitemap:
                yield Repeated(entry_id, first, is_twin=False)
            last_sitemap[url] = sitemap


def partition_of(url: str) -> int:
    """Return the partition of a URL."""
    return hash64(url_key(url)) >> TOP_BYTE
