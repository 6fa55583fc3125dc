"""The entries of pages that the inspection of a document has read, kept for a walk over them.

A document that may list sitemaps is read when it is inspected, and again for its pages. To repair a
malformed entry takes long, so what was repaired is kept, compressed and bounded. Where there are
many entries that the pattern reader splits, the document is read again: that takes little time.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from usp._json import parse_json
from usp._parse.pages import CHILD
from usp._parse.pattern.layout import EntryRun, iter_entries
from usp._parse.xml.entry_builder import Entry

_TOGETHER: Final = 512
"""How many entries are compressed at once."""
_MAX_WAITING: Final = 256 * 1024
"""How many characters wait to be compressed: an entry may be long."""
_MAX_BYTES: Final = 64 * 1024
"""How much is kept of a document, compressed: more of it is read again. A crawl may hold thousands
of documents, and small ones are in memory as they are."""
_MAX_SPLIT: Final = 256
"""Beyond so many entries that the pattern reader splits, the document is read again."""
_FASTEST: Final = 1


class KeptEntries:
    """The entries of one document, in its order, without those that name a sitemap."""

    __slots__ = ("_characters", "_compressed", "_split", "_waiting", "is_whole")

    def __init__(self) -> None:
        self._compressed: list[bytes] = []
        self._waiting: list[Entry] = []
        self._characters = 0  # of those that wait
        self._split = 0  # how many entries the pattern reader has split
        self.is_whole = True
        """Whether all entries are kept, as far as the document was read."""

    def collected(self, entries: Iterable[Entry | EntryRun]) -> Iterator[Entry | EntryRun]:
        """Yield entries, and keep them."""
        for piece in entries:
            if self.is_whole:
                self._add(piece)
            yield piece
        if self._waiting:
            self._compress()

    def __iter__(self) -> Iterator[Entry]:
        for compressed in self._compressed:
            for name, record, offset in parse_json(zlib.decompress(compressed)):
                yield name, list(map(tuple, record)), offset

    def _add(self, piece: Entry | EntryRun) -> None:
        entry_name = piece.name if isinstance(piece, EntryRun) else piece[0]
        if entry_name == CHILD:
            return
        self._split += len(piece) if isinstance(piece, EntryRun) else 0
        if self._split > _MAX_SPLIT:
            self._drop()
            return
        for name, record, offset in iter_entries([piece]):
            fields = list(record)
            self._waiting.append((name, fields, offset))
            self._characters += sum(len(text) for _, text in fields)
        if len(self._waiting) >= _TOGETHER or self._characters >= _MAX_WAITING:
            self._compress()

    def _compress(self) -> None:
        self._compressed.append(zlib.compress(json.dumps(self._waiting).encode(), _FASTEST))
        self._waiting, self._characters = [], 0
        if sum(map(len, self._compressed)) > _MAX_BYTES:
            self._drop()

    def _drop(self) -> None:
        self.is_whole = False
        self._compressed, self._waiting = [], []
