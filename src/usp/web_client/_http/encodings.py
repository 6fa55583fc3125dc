"""Content encodings: what the header declares and what the body really is.

Pure functions. Servers name encodings that they don't use, so the first bytes of a body decide.
gzip and zlib stay on the body: the parser recognises them by their first bytes, has a limit on
decompressed bytes, and reads the start of a truncated one.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Final, Protocol

from usp.exceptions import FetchError

__all__ = ["ACCEPTED", "DECODED_BY_PARSER", "RawDeflate", "is_readable", "labels", "undecodable"]

ACCEPTED: Final = "gzip, deflate"
"""What our clients request."""
DECODED_BY_PARSER: Final = frozenset({"gzip", "x-gzip", "deflate"})
_DEFLATE: Final = "deflate"
_UNDECODABLE: Final = frozenset({"br", "compress", "dcb", "dcz", "x-compress", "zstd"})
"""Encodings that were not requested and can't be decoded; any other label means no encoding."""
_READABLE: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[\t\n\r -~]{64}|[\t\n\r -~]+\Z)|\x1f\x8b")
"""How text and gzip begin: bodies that are wrongly labelled with another encoding."""
_CHUNK: Final = 256 * 1024


class _Decompressor(Protocol):
    """What ``zlib.decompressobj()`` returns."""

    @property
    def eof(self) -> bool: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def labels(header: str | None) -> list[str]:
    """Return the encodings that a header names, in the order in which they were applied."""
    return [name.strip().lower() for name in (header or "").split(",")]


def undecodable(header: str | None) -> str | None:
    """Return the first encoding in a header that can't be decoded."""
    return next((name for name in labels(header) if name in _UNDECODABLE), None)


def is_readable(head: bytes) -> bool:
    """Tell whether a body begins as text or gzip does."""
    return bool(_READABLE.match(head))


class RawDeflate:
    """Decompresses raw deflate in a body labelled ``deflate``: its first bytes don't show it.

    RFC 9110 8.4.1.2 requires zlib; some servers omit its two header bytes.
    """

    def __init__(self, header: str | None) -> None:
        self._may_be_raw = labels(header) == [_DEFLATE]
        self._decompressor: _Decompressor | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what a chunk of the body contains, a bounded number of bytes at a time.

        :raises FetchError: if raw deflate is damaged.
        """
        if self._may_be_raw and chunk:
            self._may_be_raw = False
            self._decompressor = _raw_decompressor(chunk)
        if self._decompressor is None:
            yield chunk
            return
        out = chunk
        while out and not self._decompressor.eof:  # output may remain when all input is consumed
            try:
                out = self._decompressor.decompress(chunk, _CHUNK)
            except zlib.error as error:
                raise FetchError(f"the deflate stream is damaged: {error}") from error
            chunk = self._decompressor.unconsumed_tail
            yield out

    def end(self) -> None:
        """Check that nothing is missing, at the end of the body.

        Nothing but its last block shows where raw deflate ends.

        :raises FetchError: if raw deflate is truncated.
        """
        if self._decompressor is not None and not self._decompressor.eof:
            raise FetchError("the body ends inside of its deflate stream")


def _raw_decompressor(head: bytes) -> _Decompressor | None:
    """Return a decompressor if a body begins as raw deflate does."""
    if is_readable(head) or _is_zlib(head):
        return None
    try:
        zlib.decompressobj(-zlib.MAX_WBITS).decompress(head, _CHUNK)
    except zlib.error:
        return None
    return zlib.decompressobj(-zlib.MAX_WBITS)


def _is_zlib(head: bytes) -> bool:
    """Tell whether a body begins with the header of zlib (RFC 1950 2.2): method and checksum."""
    is_checked = len(head) == 1 or int.from_bytes(head[:2]) % 31 == 0
    return head[0] & 0x0F == zlib.DEFLATED and is_checked
