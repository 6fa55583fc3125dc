"""Documents that are held in memory once, and read a chunk at a time.

A text stays the caller's own object and is encoded while it is read. A pickled document stays
compressed: a tree that was unpickled takes no more memory than its pickle.
"""

import zlib
from collections.abc import Iterable, Iterator

from usp._parse.input.chunks import CHUNK_SIZE


class EncodedText:
    """The chunks of a document that was given as text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self._text), CHUNK_SIZE):
            yield encode_text(self._text[start : start + CHUNK_SIZE])


def encode_text(text: str) -> bytes:
    """Return a text as UTF-8; what that can't hold is replaced and reported when it is decoded."""
    return text.encode("utf-8", "surrogatepass")


class CompressedBuffer:
    """The chunks of a document as it was fetched, kept compressed."""

    __slots__ = ("compressed",)

    def __init__(self, compressed: bytes) -> None:
        self.compressed = compressed

    @classmethod
    def of(cls, chunks: Iterable[bytes]) -> "CompressedBuffer":
        """Compress a document, unless it is a ``CompressedBuffer`` already."""
        if isinstance(chunks, cls):
            return chunks
        deflater = zlib.compressobj(6)
        return cls(b"".join([*map(deflater.compress, chunks), deflater.flush()]))

    def __iter__(self) -> Iterator[bytes]:
        inflater = zlib.decompressobj()
        for start in range(0, len(self.compressed), CHUNK_SIZE):
            data = self.compressed[start : start + CHUNK_SIZE]
            while data:
                yield inflater.decompress(data, CHUNK_SIZE)
                data = inflater.unconsumed_tail
