"""Places: the entries of all sitemaps, numbered in the order of reading; and notes about them.

Rules about the whole site find places, not texts: the texts of all pages would not fit in memory.
The sitemaps with notes are read once more, and each entry meets its notes.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from usp._check.partitions import COUNT, Partitions

_Entry = TypeVar("_Entry")
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

    def position_of(self, place: int) -> int:
        """Return the number of the entry of a place within its sitemap, from 0."""
        return place - self._starts[self.sitemap_of(place)]


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


def read_again(
    noted: Iterable[tuple[int, list[Note]]],
    places: Places,
    entries_of: Callable[[int], Iterable[_Entry]],
) -> Iterator[tuple[int, _Entry, list[Note]]]:
    """Yield the entries at noted places, by reading each sitemap that has some once.

    :param entries_of: reads the entries of a sitemap anew, by its number.
    """
    for sitemap, group in groupby(noted, lambda each: places.sitemap_of(each[0])):
        entries = iter(entries_of(sitemap))
        at = 0
        for place, notes in group:
            position = places.position_of(place)
            for entry in entries:
                at += 1
                if at > position:
                    yield place, entry, notes
                    break
