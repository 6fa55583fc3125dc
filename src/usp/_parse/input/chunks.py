"""Chunks of bytes: look at the first ones, split large ones, join small ones, look ahead."""

import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

CHUNK_SIZE: Final = 256 * 1024
_MAX_AHEAD: Final = 16 * 1024 * 1024
"""How many bytes are kept, compressed, while somebody looks ahead: a hundred megabytes of XML."""
_FASTEST: Final = 1


def split_chunks(chunks: Iterable[bytes], size: int = CHUNK_SIZE) -> Iterator[bytes]:
    """Split large chunks, so that no later step ever holds, or copies, a whole document."""
    for chunk in chunks:
        for start in range(0, len(chunk), size):
            yield chunk[start : start + size]


def rechunk(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield chunks of one size, so that nothing depends on the sizes in which they arrived.

    With each comes whether it is the last one, which has the rest, and may be empty.
    """
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= CHUNK_SIZE:
            data = b"".join(held)
            stop = size // CHUNK_SIZE * CHUNK_SIZE
            for start in range(0, stop, CHUNK_SIZE):
                yield data[start : start + CHUNK_SIZE], False
            held = [data[stop:]]
            size -= stop
    yield b"".join(held), True


class ChunksAhead:
    """Chunks of one size, in pieces; what was not taken yet can be searched.

    What was searched is kept compressed until it is taken.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = rechunk(chunks)
        self._rest = b"", False  # of the chunk that was taken in part
        self._ahead: deque[tuple[bytes, bool]] = deque()
        self._size = 0  # of what is kept
        self._absent: set[re.Pattern[bytes]] = set()

    def take(self, size: int) -> tuple[bytes, bool]:
        """Return the next bytes, at most so many, and whether these are the last ones."""
        chunk, is_last = self._rest
        if not chunk and self._ahead:
            compressed, is_last = self._ahead.popleft()
            self._size -= len(compressed)
            chunk = zlib.decompress(compressed)
        elif not chunk:
            chunk, is_last = next(self._chunks)
        self._rest = chunk[size:], is_last
        return chunk[:size], is_last and len(chunk) <= size

    def find(self, pattern: re.Pattern[bytes], before: bytes, longest: int) -> bytes | None:
        """Return what a pattern matches first in the bytes that were not taken yet.

        None if it matches nowhere, or only so far away that nobody can look there. To look again
        for what was not found takes no time.

        :param before: the last bytes that were taken: a match may begin in them.
        :param longest: how long a match is at most.
        """
        if pattern in self._absent:
            return None
        for chunk in chain([self._rest[0]], self._each_ahead()):
            data = before[1 - longest :] + chunk
            if found := pattern.search(data):
                return found[0]
            before = data
        self._absent.add(pattern)
        return None

    def _each_ahead(self) -> Iterator[bytes]:
        """Yield the chunks that were not taken yet, and keep them."""
        for compressed, _ in self._ahead:
            yield zlib.decompress(compressed)
        for chunk, is_last in self._chunks:
            compressed = zlib.compress(chunk, _FASTEST)
            self._ahead.append((compressed, is_last))
            self._size += len(compressed)
            yield chunk
            if self._size >= _MAX_AHEAD:
                return


def take_head(chunks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes, at least ``size`` if there are as many, and the other chunks."""
    rest = iter(chunks)
    first = next(rest, b"")
    if len(first) < size:  # mostly the first chunk is enough, and needn't be copied
        head = bytearray(first)
        for chunk in rest:
            head += chunk
            if len(head) >= size:
                break
        first = bytes(head)
    return first, rest


def peek(chunks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes, at least ``size`` if there are as many, and all chunks again."""
    first, rest = take_head(chunks, size)
    return first, chain([first] if first else [], rest)
