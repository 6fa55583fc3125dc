"""Text out of a file or standard input: decompressed, and decoded by its byte order mark.

What the text says belongs elsewhere: one URL a line, a table, a list of sites.
"""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from usp._export.compression import COMPRESSIONS, Compression, decompressed
from usp._source import standard_input
from usp.exceptions import MissingExtraError, UsageError

HEAD_BYTES: Final = 64 * 1024
"""How much of a file is looked at to say what it is."""
_CHUNK: Final = 64 * 1024
_COMPRESSED: Final = ((b"\x1f\x8b", ".gz"), (b"\x28\xb5\x2f\xfd", ".zst"))
"""How compressed files begin (RFC 1952, RFC 8878)."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),  # spreadsheets, and exports of search consoles
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, and the charset that each means; without one it is UTF-8."""


def compression_of(head: bytes) -> Compression | None:
    """Return how a file is compressed that begins with these bytes; None if it isn't."""
    found = next((suffix for mark, suffix in _COMPRESSED if head.startswith(mark)), None)
    return COMPRESSIONS[found] if found else None


def head_of(head: bytes, compression: Compression, name: str) -> bytes:
    """Return what a compressed file begins with.

    :param name: the file, for errors.
    :raises MissingExtraError: if the library that decompresses it is missing.
    :raises UsageError: if it isn't compressed as it seems.
    """
    chunks = decompressed(io.BytesIO(head), compression)
    found = b""
    try:
        while len(found) < HEAD_BYTES:
            found += next(chunks)
    except StopIteration:
        pass
    except MissingExtraError as error:
        raise MissingExtraError(f"{name} can't be read: {error}") from error
    except ValueError as error:  # the head ends in the middle of it
        if not found:
            raise UsageError(f"{name} can't be decompressed: {error}.") from error
    return found


def text_of_head(head: bytes) -> str:
    """Return the text that a file begins with; a character that is cut off is dropped."""
    return head.decode(_charset(head), "ignore").removeprefix("\ufeff")


@contextmanager
def opened_text(
    path: Path | None, compression: Compression | None, *, newline: str | None = None
) -> Iterator[TextIO]:
    """Open a file to read its text, inside of a ``with`` block; None for standard input.

    Bytes that its charset doesn't have are kept as lone surrogates, so that equal ones stay equal.

    :param newline: as in ``open()``: empty for CSV.
    :raises UsageError: if it can't be read.
    """
    name = "Standard input" if path is None else str(path)
    with (
        reading_errors(name),
        nullcontext(standard_input()) if path is None else path.open("rb") as file,
    ):
        yield decoded(file, compression, newline=newline)


def decoded(
    file: BinaryIO,
    compression: Compression | None,
    *,
    newline: str | None = None,
    errors: str = "surrogateescape",
) -> TextIO:
    """Return the text of a file, which stays open.

    :param newline: as in ``open()``.
    :param errors: as in ``open()``: what becomes of bytes that the charset doesn't have.
    """
    chunks = (
        decompressed(file, compression) if compression else iter(lambda: file.read(_CHUNK), b"")
    )
    first = next(filter(None, chunks), b"")  # a block of zstd may begin in one and end in another
    stream = io.BufferedReader(_Chunks(first, chunks), _CHUNK)
    return io.TextIOWrapper(stream, _charset(first), errors, newline)


@contextmanager
def reading_errors(name: str) -> Iterator[None]:
    """Raise what is wrong with a file as an error of ours, in one line."""
    try:
        yield
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror or error}.") from error
    except ValueError as error:  # compressed data that is broken, or text that is none
        raise UsageError(f"{name} can't be read: {error}.") from error


def _charset(head: bytes) -> str:
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


class _Chunks(io.RawIOBase):
    """Chunks of bytes, as a file that Python's own readers take."""

    def __init__(self, first: bytes, chunks: Iterator[bytes]) -> None:
        self._chunk = memoryview(first)
        self._chunks = chunks

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "memoryview[int]", /) -> int:  # type: ignore[override]  # any writable buffer
        """Fill a buffer, as far as the chunk goes; return how many bytes there are."""
        while not self._chunk:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._chunk = memoryview(chunk)
        count = min(len(buffer), len(self._chunk))
        buffer[:count] = self._chunk[:count]
        self._chunk = self._chunk[count:]
        return count
