"""The ids of entries: their numbers over all sitemaps, in the order of reading; notes about them.

Rules about the whole site find ids, not texts: the texts of all pages would not fit in memory.
``spooled`` has those.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from usp._check.check_time import GoOn, always
from usp._check.partitions import COUNT, Partitions

Note = tuple[int, ...]


class EntryIds:
    """Gives every entry its id, and knows the sitemap of each."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self.count = 0

    def begin_sitemap(self) -> None:
        """The next entries belong to the next sitemap."""
        self._starts.append(self.count)

    def next(self) -> int:
        """Return the id of the next entry."""
        entry_id = self.count
        self.count = entry_id + 1
        return entry_id

    def sitemap_of(self, entry_id: int) -> int:
        """Return the number of the sitemap that has an entry."""
        return bisect_right(self._starts, entry_id) - 1


class EntryNotes:
    """Notes about entries: each is a few words. The number of entries must be known before."""

    def __init__(self, words: int, entries: int, go_on: GoOn = always) -> None:
        self._notes = Partitions(words + 1, go_on)
        self._entries = max(entries, 1)

    def add(self, entry_id: int, *note: int) -> None:
        """Note something about an entry."""
        self._notes.add(entry_id * COUNT // self._entries, entry_id, *note)

    def in_order(self) -> Iterator[tuple[int, list[Note]]]:
        """Yield the entries that have notes in document order, each with its different notes."""
        for partition in range(COUNT):
            found = sorted(set(self._notes.records(partition)))
            for entry_id, notes in groupby(found, itemgetter(0)):
                yield entry_id, [note[1:] for note in notes]

    def close(self) -> None:
        """Free the disk space."""
        self._notes.close()
