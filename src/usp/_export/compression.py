"""Compressed files: ``.gz`` and ``.zst``. What is appended is a member, or frame, of its own."""

import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, Protocol

from usp._extras import load

_CHUNK: Final = 16 * 1024


class Sink(Protocol):
    """What bytes are written to: a file, standard output, or a compressor before one of them."""

    def write(self, data: bytes, /) -> object: ...


class Compressor(Protocol):
    """What zlib, zstandard and Python 3.14 have in common."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


class Decompressor(Protocol):
    """The same for reading: of one member of gzip, or one frame of zstd."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class Compression(NamedTuple):
    """One kind of compressed file; its library is imported when it is used.

    Each raises ``MissingExtraError`` if it is missing.
    """

    compressor: Callable[[], Compressor]
    decompressor: Callable[[], Decompressor]
    error: Callable[[], type[Exception]]
    """Returns what the decompressor raises."""


class CompressedSink:
    """Compresses what is written to it."""

    def __init__(self, sink: Sink, compression: Compression) -> None:
        self._sink = sink
        self._compressor = compression.compressor()

    def write(self, data: bytes, /) -> None:
        """Compress some bytes, and write what comes of them."""
        self._sink.write(self._compressor.compress(data))

    def finish(self) -> None:
        """Write the rest; the sink stays open."""
        self._sink.write(self._compressor.flush())


_GZIP: Final = 16 + zlib.MAX_WBITS
"""Tells zlib to write the header of gzip: without name and time, so the same rows make the same
file."""


def _zstd(part: str) -> Any:  # noqa: ANN401 -- of one module or the other
    """Return a class of Python's own module (from 3.14 on), or of zstandard."""
    module = "compression.zstd" if sys.version_info >= (3, 14) else "zstandard"
    return getattr(load(module, "A .zst file", "tables"), part)


def _zstd_compressor() -> Compressor:
    """Return a compressor that writes a checksum: without one, a flipped bit may go unseen."""
    if sys.version_info >= (3, 14):
        checksum = _zstd("CompressionParameter").checksum_flag
        made: Compressor = _zstd("ZstdCompressor")(options={checksum: 1})
        return made
    compressor: Compressor = _zstd("ZstdCompressor")(write_checksum=True).compressobj()
    return compressor


def _zstd_decompressor() -> Decompressor:
    made = _zstd("ZstdDecompressor")()
    decompressor: Decompressor = made.decompressobj() if hasattr(made, "decompressobj") else made
    return decompressor


COMPRESSIONS: Final = {
    ".gz": Compression(
        lambda: zlib.compressobj(wbits=_GZIP),
        lambda: zlib.decompressobj(wbits=_GZIP),
        lambda: zlib.error,
    ),
    ".zst": Compression(_zstd_compressor, _zstd_decompressor, lambda: _zstd("ZstdError")),
}
"""By suffix."""


def decompressed(file: BinaryIO, compression: Compression) -> Iterator[bytes]:
    """Yield the bytes of a compressed file, in chunks; those of all its members.

    :raises ValueError: if it isn't compressed like that, or ends too early.
    """
    broken = compression.error()
    member: Decompressor | None = None
    while data := file.read(_CHUNK):
        while data:
            member = member or compression.decompressor()
            try:
                yield member.decompress(data)
            except broken as error:
                raise ValueError("it is not compressed like that") from error
            data = member.unused_data.lstrip(b"\0") if member.eof else b""  # gzip may be padded
            member = None if member.eof else member
    if member is not None:
        raise ValueError("its end is missing")


def content(path: Path, compression: Compression | None) -> Generator[bytes]:
    """Yield the bytes of a file, in chunks; those of a compressed one as they were before.

    :raises ValueError: if the file isn't compressed as it should be, or ends too early.
    """
    with path.open("rb") as file:
        plain = iter(lambda: file.read(_CHUNK), b"")
        yield from decompressed(file, compression) if compression else plain


def first_line(path: Path, compression: Compression | None) -> Generator[bytes]:
    """Yield the first line of a file, without its end, in parts: it may be as long as the file.

    :raises ValueError: if the file isn't compressed as it should be.
    """
    with closing(content(path, compression)) as chunks:
        for chunk in chunks:
            part, is_end, _ = chunk.partition(b"\n")
            yield part
            if is_end:
                return


def beginning(parts: Iterable[bytes], limit: int = 65536) -> bytes:
    """Return what some parts begin with: about as much as the limit."""
    read = b""
    for part in parts:
        read += part
        if len(read) >= limit:
            break
    return read
