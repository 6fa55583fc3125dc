"""Chunks of bytes: look at the first ones, split large ones, join small ones."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

CHUNK_SIZE: Final = 256 * 1024


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
