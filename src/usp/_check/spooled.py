"""Rows of plain values on disk, compressed, to be read in order or looked up by number.

What a rule about the whole site must show is read from here: to read the documents once more would
take longer, and the crawl would have to keep them.
"""

import marshal
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar

from usp._check.check_time import GoOn, always
from usp._store import Spool

_ROWS_IN_A_BLOCK: Final = 512
_FASTEST: Final = 1
_BLOCKS_IN_MEMORY: Final = 4
_Row = TypeVar("_Row", bound=tuple[Any, ...])


class SpooledRows(Generic[_Row]):
    """Rows, added one by one and numbered from 0."""

    def __init__(self, make: Callable[..., _Row], go_on: GoOn = always) -> None:
        """Have no rows yet.

        :param make: makes a row of its values: texts, numbers, None, tuples of them.
        :param go_on: called with each block that is read; it may raise.
        """
        self._go_on = go_on
        self._make = make
        self._spool: Spool | None = None
        self._blocks: list[tuple[int, int]] = []
        self._pending: list[tuple[Any, ...]] = []
        self._recent: dict[int, list[_Row]] = {}

    def __len__(self) -> int:
        return len(self._blocks) * _ROWS_IN_A_BLOCK + len(self._pending)

    def add(self, *values: object) -> None:
        """Add the next row."""
        self._pending.append(values)
        if len(self._pending) == _ROWS_IN_A_BLOCK:
            if self._spool is None:
                self._spool = Spool()
            packed = zlib.compress(marshal.dumps(self._pending), _FASTEST)
            self._blocks.append(self._spool.append(packed))
            self._pending = []

    def at(self, number: int) -> _Row:
        """Return the row with a number."""
        number, at = divmod(number, _ROWS_IN_A_BLOCK)
        block = self._recent.get(number)
        if block is None:
            block = self._recent[number] = [self._make(*row) for row in self._block(number)]
            if len(self._recent) > _BLOCKS_IN_MEMORY:
                del self._recent[next(iter(self._recent))]
        return block[at]

    def __iter__(self) -> Iterator[_Row]:
        for number in range(len(self._blocks) + 1):
            for row in self._block(number):
                yield self._make(*row)

    def close(self) -> None:
        """Free the disk space."""
        if self._spool is not None:
            self._spool.close()

    def _block(self, number: int) -> list[tuple[Any, ...]]:
        if number == len(self._blocks) or self._spool is None:
            return self._pending
        self._go_on()
        packed = self._spool.read(*self._blocks[number])
        found: list[tuple[Any, ...]] = marshal.loads(zlib.decompress(packed))  # noqa: S302 -- what we wrote into a file without a name
        return found
