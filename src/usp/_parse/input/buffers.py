"""Documents that are held whole in memory, once, and handed out a piece at a time.

A text stays the caller's own, and becomes bytes only as it is read. A document that was pickled
stays packed: a tree that comes back from a pickle takes no more room than the pickle.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

_PIECE: Final = 256 * 1024


class EncodedText:
    """A document that was given as text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._text), _PIECE):
            # What no encoding can hold is left to be replaced, and reported, like any damage.
            yield self._text[at : at + _PIECE].encode("utf-8", "surrogatepass")


class CompressedBuffer:
    """A document as it came, packed once more."""

    __slots__ = ("packed",)

    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    @classmethod
    def of(cls, chunks: Iterable[bytes]) -> "CompressedBuffer":
        """Pack a document, unless it is."""
        if isinstance(chunks, cls):
            return chunks
        packer = zlib.compressobj(6)
        return cls(b"".join([*map(packer.compress, chunks), packer.flush()]))

    def __iter__(self) -> Iterator[bytes]:
        inflater = zlib.decompressobj()
        for at in range(0, len(self.packed), _PIECE):
            data = self.packed[at : at + _PIECE]
            while data:
                yield inflater.decompress(data, _PIECE)
                data = inflater.unconsumed_tail
