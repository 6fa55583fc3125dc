"""Disjoint sets of hashes (union-find), in flat arrays: 13 bytes a hash."""

from array import array
from bisect import bisect_left


class DisjointSets:
    """Sets of hashes; at first each hash is alone. A set can have a mark."""

    def __init__(self, hashes: "array[int]") -> None:
        """Take the hashes, sorted and without repetition."""
        self._hashes = hashes
        self._parents = array("I", range(len(hashes)))
        self._marks = bytearray(len(hashes))

    def join(self, one: int, other: int) -> None:
        """Make one set of the sets of two hashes."""
        first, second = self.set_of(one), self.set_of(other)
        self._parents[second] = first
        self._marks[first] |= self._marks[second]

    def set_of(self, member: int) -> int:
        """Return the number of the set of a hash: the same for all of its members."""
        parents = self._parents
        at = bisect_left(self._hashes, member)
        while parents[at] != at:
            parents[at] = parents[parents[at]]
            at = parents[at]
        return at

    def mark(self, member: int) -> None:
        """Mark the set of a hash."""
        self._marks[self.set_of(member)] = True

    def is_marked(self, number: int) -> bool:
        """Tell whether the set with this number has a mark."""
        return bool(self._marks[number])
