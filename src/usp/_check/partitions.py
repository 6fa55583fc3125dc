"""Records of a few 64-bit words, spread over 256 partitions, each of which fits in memory.

What is equal in two records leads them to the same partition, so that a rule about all pages of a
site looks at one partition after the other. Records beyond a few MiB are in one temporary file
without a name, which the system removes however the process ends.
"""

from array import array
from collections.abc import Iterator
from struct import Struct
from typing import Final

from usp._check.check_time import GoOn, always
from usp._crawl.unique_urls import string_hash
from usp._store import Spool

COUNT: Final = 256
MASK: Final = (1 << 64) - 1
TOP_BYTE: Final = 56
BLOCK: Final = 32 * 1024
"""How many bytes of a partition stay in memory before they are written."""


def hash64(text: str) -> int:
    """Return the hash of a text, from 0 to 2⁶⁴ - 1; it is another one in each process."""
    return string_hash(text) & MASK


class Partitions:
    """Records of equal width: written in any order, read partition by partition."""

    def __init__(self, words: int, go_on: GoOn = always, block: int = BLOCK) -> None:
        """Make empty partitions.

        :param words: the width of a record.
        :param go_on: called with each block that is written or read; it may raise.
        :param block: how many bytes of a partition stay in memory before they are written.
        """
        self._go_on = go_on
        self._block = block
        record = Struct(f"={words}Q")
        self._pack, self._unpack = record.pack, record.iter_unpack
        self._blocks: list[list[tuple[int, int]]] = [[] for _ in range(COUNT)]
        self._buffers = [bytearray() for _ in range(COUNT)]
        self._spool: Spool | None = None

    def add(self, partition: int, *record: int) -> None:
        """Add a record to a partition.

        :raises StorageError: if there is no room for it.
        """
        buffer = self._buffers[partition]
        buffer += self._pack(*record)
        if len(buffer) >= self._block:
            self._go_on()
            if self._spool is None:
                self._spool = Spool()
            self._blocks[partition].append(self._spool.append(buffer))
            self._buffers[partition] = bytearray()

    def read(self, partition: int) -> "array[int]":
        """Return the words of all records of a partition, in the order in which they were added."""
        words: array[int] = array("Q")
        for data in self._data(partition):
            words.frombytes(data)
        return words

    def records(self, partition: int) -> Iterator[tuple[int, ...]]:
        """Yield the records of a partition, in the order in which they were added."""
        for data in self._data(partition):
            yield from self._unpack(data)

    def is_empty(self, partition: int) -> bool:
        """Tell whether a partition has no record."""
        return not self._buffers[partition] and not self._blocks[partition]

    def close(self) -> None:
        """Forget everything, and free the disk space."""
        self._blocks = [[] for _ in range(COUNT)]
        self._buffers = [bytearray() for _ in range(COUNT)]
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    def _data(self, partition: int) -> Iterator[bytes | bytearray]:
        if self._spool is not None:
            for at, size in self._blocks[partition]:
                self._go_on()
                yield self._spool.read(at, size)
        self._go_on()
        yield self._buffers[partition]
