"""The texts of all entries on disk, compressed, to be looked up by the id of the entry.

Rules about the whole site find ids. The entries are read from here: to read the documents once
more would take longer, and the crawl would have to keep them.
"""

import marshal
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

from usp._store import Spool

_ENTRIES_IN_A_BLOCK: Final = 512
_FASTEST: Final = 1
_BLOCKS_IN_MEMORY: Final = 4


class EntryText(NamedTuple):
    """What is kept of an entry."""

    url: str
    line: int | None
    offset: int | None
    alternates: tuple[tuple[str, str], ...]


_Packed = tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]


class EntryTexts:
    """The entries of a check, added in the order of their ids, from 0."""

    def __init__(self) -> None:
        self._spool: Spool | None = None
        self._blocks: list[tuple[int, int]] = []
        self._pending: list[_Packed] = []
        self._recent: dict[int, list[EntryText]] = {}

    def add(
        self, url: str, line: int | None, offset: int | None, alternates: Iterable[tuple[str, str]]
    ) -> None:
        """Add the next entry."""
        self._pending.append((url, line, offset, tuple(alternates)))
        if len(self._pending) == _ENTRIES_IN_A_BLOCK:
            if self._spool is None:
                self._spool = Spool()
            packed = zlib.compress(marshal.dumps(self._pending), _FASTEST)
            self._blocks.append(self._spool.append(packed))
            self._pending = []

    def at(self, entry_id: int) -> EntryText:
        """Return the entry with an id."""
        number, at = divmod(entry_id, _ENTRIES_IN_A_BLOCK)
        block = self._recent.get(number)
        if block is None:
            block = self._recent[number] = [EntryText(*entry) for entry in self._block(number)]
            if len(self._recent) > _BLOCKS_IN_MEMORY:
                del self._recent[next(iter(self._recent))]
        return block[at]

    def close(self) -> None:
        """Free the disk space."""
        if self._spool is not None:
            self._spool.close()

    def _block(self, number: int) -> list[_Packed]:
        if number == len(self._blocks) or self._spool is None:
            return self._pending
        packed = self._spool.read(*self._blocks[number])
        found: list[_Packed] = marshal.loads(zlib.decompress(packed))  # noqa: S302 -- what we wrote into a file without a name
        return found
