"""Chunks of bytes: look at the first ones, split large ones, join small ones, look ahead."""

import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

CHUNK_SIZE: Final = 256 * 1024
_MAX_AHEAD: Final = 16 * 1024 * 1024
"""How many bytes are kept, compressed, of what was searched ahead: a hundred megabytes of XML."""
_FASTEST: Final = 1


def split_chunks(chunks: Iterable[bytes], size: int = CHUNK_SIZE) -> Iterator[bytes]:
    """Split large chunks, so that no later step ever holds, or copies, a whole document."""
    for chunk in chunks:
        for start in range(0, len(chunk), size):
            yield chunk[start : start + size]


def rechunk(chunks: Iterable[bytes], before: int = 0) -> Iterator[tuple[bytes, bool]]:
    """Yield chunks of one size, so that nothing depends on the sizes in which they arrived.

    With each comes whether it is the last one, which has the rest, and may be empty.

    :param before: how many bytes of the document come before the first one. Sizes are counted from
        its start, as those of stored pieces are: these need not be copied then.
    """
    held: list[bytes] = []
    size, wanted = 0, CHUNK_SIZE - before % CHUNK_SIZE
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size < wanted:
            continue
        data, start = b"".join(held), 0  # no copy if it is one that has this size already
        while size >= wanted:
            yield data[start : start + wanted], False
            start, size, wanted = start + wanted, size - wanted, CHUNK_SIZE
        held = [data[start:]] if size else []
    yield b"".join(held), True


class _Compressed(NamedTuple):
    """A chunk that was searched, and not taken yet."""

    data: bytes
    length: int
    is_last: bool


class ChunksAhead:
    """Chunks of one size, in pieces; what was not taken yet can be searched.

    What was searched is kept compressed until it is taken.
    """

    def __init__(self, chunks: Iterable[bytes], before: int = 0) -> None:
        """Take the chunks of a document, and how many of its bytes come before them."""
        self._chunks = rechunk(chunks, before)
        self._rest = b"", False  # of the chunk that was taken in part
        self._ahead: deque[_Compressed] = deque()
        self._size = 0  # of what is kept
        self._taken = 0  # how many bytes were taken
        self._absent: dict[re.Pattern[bytes], tuple[int, bytes]] = {}
        """Up to which offset a pattern was not found, and the last bytes before that."""

    def take(self, size: int) -> tuple[bytes, bool]:
        """Return the next bytes, at most so many, and whether these are the last ones."""
        chunk, is_last = self._rest
        if not chunk and self._ahead:
            compressed, _, is_last = self._ahead.popleft()
            self._size -= len(compressed)
            chunk = zlib.decompress(compressed)
        elif not chunk:
            chunk, is_last = next(self._chunks)
        piece = chunk[:size]
        self._rest = chunk[size:], is_last
        self._taken += len(piece)
        return piece, is_last and len(chunk) <= size

    def find(self, pattern: re.Pattern[bytes], before: bytes, longest: int) -> bytes | None:
        """Return what a pattern matches first in the bytes that were not taken yet.

        None if it matches nowhere, or only beyond what can be kept. Nothing is searched twice.

        :param before: the last bytes that were taken: a match may begin in them.
        :param longest: how long a match is at most.
        """
        searched, last = self._absent.get(pattern, (0, b""))
        offset = self._taken
        for length, read in self._not_taken():
            offset += length
            if offset <= searched:
                before = last
                continue
            data = before[1 - longest :] + read()
            if found := pattern.search(data):
                return found[0]
            before = data[-longest:]
        self._absent[pattern] = offset, before
        return None

    def _not_taken(self) -> Iterator[tuple[int, Callable[[], bytes]]]:
        """Yield the length of each piece that was not taken yet, and what returns it."""
        rest, _ = self._rest
        yield len(rest), lambda: rest
        for kept in self._ahead:
            yield kept.length, partial(zlib.decompress, kept.data)
        while self._size < _MAX_AHEAD and (following := next(self._chunks, None)):
            chunk, is_last = following
            compressed = zlib.compress(chunk, _FASTEST)
            self._ahead.append(_Compressed(compressed, len(chunk), is_last))
            self._size += len(compressed)
            yield len(chunk), partial(bytes, chunk)


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
