"""Counting in bounded memory: names, the first of an order, different URLs."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any, Final, Generic, TypeVar

from usp._check.partitions import COUNT, TOP_BYTE, Partitions, hash64
from usp._report.figures import Ranking

_MAX_NAMES: Final = 10_000
_MAX_NAME_LENGTH: Final = 200
SHOWN_NAMES: Final = 20
"""How many names a ranking has, unless it says otherwise."""

Item = TypeVar("Item")


class NameCounts:
    """Counts names that a site chooses, such as languages.

    The first 10,000 different names are counted exactly; what comes after them is counted
    together. A longer name counts as its first 200 characters.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._others = 0
        self._others_count = 0

    def add(self, names: Iterable[str | None]) -> None:
        """Count names; None is none."""
        for name, times in Counter(names).items():
            if name:
                self.add_one(name, times)

    def add_one(self, name: str, times: int = 1) -> None:
        """Count one name."""
        short = name[:_MAX_NAME_LENGTH]
        if short in self._counts or len(self._counts) < _MAX_NAMES:
            self._counts[short] += times
        else:
            self._others += 1
            self._others_count += times

    def __getitem__(self, name: str) -> int:
        return self._counts[name]

    def ranking(self, shown: int = SHOWN_NAMES) -> Ranking:
        """Return the most frequent names, and the others together."""
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return Ranking(tuple(ordered), self._others, self._others_count).first(shown)


class First(Generic[Item]):
    """Keeps the first items of an order, whatever the order in which they come."""

    def __init__(self, limit: int, key: Callable[[Item], Any]) -> None:
        self._limit = limit
        self._key = key
        self._items: list[Item] = []

    def add(self, item: Item) -> None:
        """Take an item."""
        self._items.append(item)
        if len(self._items) >= 2 * self._limit:
            self._items = self.items()

    def items(self) -> list[Item]:
        """Return the items in their order."""
        return sorted(self._items, key=self._key)[: self._limit]


class DifferentUrls:
    """Counts different URLs by their hashes, which are in a temporary file.

    Two different URLs are taken for the same with a probability of n² / 2⁶⁵.
    """

    def __init__(self) -> None:
        self._hashes = Partitions(1)

    def add(self, urls: Iterable[str]) -> None:
        """Take some URLs."""
        add = self._hashes.add
        for number in map(hash64, urls):
            add(number >> TOP_BYTE, number)

    def count(self) -> int:
        """Return how many different ones there were, and forget them."""
        with closing(self._hashes):
            return sum(len(set(self._hashes.read(partition))) for partition in range(COUNT))

    def close(self) -> None:
        """Free the disk space."""
        self._hashes.close()
