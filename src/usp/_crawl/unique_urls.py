"""A set of URLs that takes little memory: 64-bit hashes in one flat table.

A set of strings would take 150 bytes a URL and more; this takes 12 to 24. Two different URLs have
the same hash, and the second one is lost, with a probability of n² / 2⁶⁵ among n URLs: one in
370,000 for ten million. The hash of Python's strings is keyed anew in each process (SipHash), so
that no site can choose URLs that collide.
"""

import sys
from array import array
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final

_SMALLEST: Final = 1 << 12
_MASK: Final = (1 << 64) - 1
_BITS: Final = 64


def _long_hash(url: str) -> int:
    """Return a hash of 64 bits, where those of Python are shorter."""
    return int.from_bytes(blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest())


string_hash: Final[Callable[[str], int]] = hash if sys.hash_info.width >= _BITS else _long_hash
"""A hash of 64 bits, signed or not; of use within this process alone."""


class UniqueUrls:
    """The URLs that there were so far."""

    def __init__(self) -> None:
        # Open addressing with linear probing; 0 is an empty slot.
        self._slots = array("Q", bytes(8 * _SMALLEST))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def new_rows(
        self, urls: Sequence[str], rows: Sequence[int], limit: int | None = None
    ) -> list[int]:
        """Remember the URLs of some rows; return those rows whose URLs are new.

        :param limit: return at most this many; the URLs after them are not remembered.
        """
        return list(islice((row for row in rows if self.add(urls[row])), limit))

    def __contains__(self, url: str) -> bool:
        return self.has_hash(string_hash(url))

    def has_hash(self, hashed: int) -> bool:
        """Tell whether a URL with this hash is known."""
        slots = self._slots
        mask = len(slots) - 1
        wanted = (hashed & _MASK) or 1
        at = wanted & mask
        while (known := slots[at]) and known != wanted:
            at = (at + 1) & mask
        return bool(known)

    def add(self, url: str) -> bool:
        """Remember a URL; tell whether it is new."""
        slots = self._slots
        mask = len(slots) - 1
        wanted = (string_hash(url) & _MASK) or 1
        at = wanted & mask
        while known := slots[at]:
            if known == wanted:
                return False
            at = (at + 1) & mask
        slots[at] = wanted
        self._count += 1
        if self._count * 3 > len(slots) * 2:
            self._grow()
        return True

    def _grow(self) -> None:
        old = self._slots
        self._slots = slots = array("Q", bytes(16 * len(old)))
        mask = len(slots) - 1
        for known in old:
            if known:
                at = known & mask
                while slots[at]:
                    at = (at + 1) & mask
                slots[at] = known
