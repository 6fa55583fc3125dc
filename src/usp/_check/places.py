"""Places: the entries of all sitemaps, numbered in the order of reading; and notes about them.

Rules about the whole site find places, not texts: the texts of all pages would not fit in memory.
``entry_texts`` has those.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from usp._check.partitions import COUNT, Partitions

Note = tuple[int, ...]


class Places:
    """Gives every entry its place, and knows the sitemap of a place."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self.count = 0

    def begin_sitemap(self) -> None:
        """The next entries belong to the next sitemap."""
        self._starts.append(self.count)

    def next(self) -> int:
        """Return the place of the next entry."""
        place = self.count
        self.count = place + 1
        return place

    def sitemap_of(self, place: int) -> int:
        """Return the number of the sitemap that has a place."""
        return bisect_right(self._starts, place) - 1


class PlaceNotes:
    """Notes about places: each is a few words. All places must be known before."""

    def __init__(self, words: int, places: int) -> None:
        self._notes = Partitions(words + 1)
        self._places = max(places, 1)

    def add(self, place: int, *note: int) -> None:
        """Note something about a place."""
        self._notes.add(place * COUNT // self._places, place, *note)

    def in_order(self) -> Iterator[tuple[int, list[Note]]]:
        """Yield the places that have notes in document order, each with its different notes."""
        for partition in range(COUNT):
            found = sorted(set(self._notes.records(partition)))
            for place, notes in groupby(found, itemgetter(0)):
                yield place, [note[1:] for note in notes]

    def close(self) -> None:
        """Free the disk space."""
        self._notes.close()
