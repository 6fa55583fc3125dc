"""What ``Content-Encoding`` says of a body, and how much of that is to be believed.

Rules of this room: pure. Servers name packings that they don't use, so how a body begins decides.
gzip and zlib stay on it: the reader knows them by their first bytes, has a ceiling on what comes
out, and reads what there is of them when the connection breaks.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Final

__all__ = ["ACCEPTED", "Unlabelled", "foreign", "is_readable", "labels"]

ACCEPTED: Final = "gzip, deflate"
"""What our clients ask for."""
_DEFLATE: Final = "deflate"
_FOREIGN: Final = frozenset({"br", "compress", "dcb", "dcz", "x-compress", "zstd"})
"""Packings that nobody asked for and that can't be undone; a word that names none is no encodings."""
_READABLE: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[\t\n\r -~]{64}|[\t\n\r -~]+\Z)|\x1f\x8b")
"""How text begins, and gzip: what is labelled as packed otherwise, and isn't."""
_PIECE: Final = 256 * 1024


def labels(header: str | None) -> list[str]:
    """Return the packings that a header names, in the order in which they were put on."""
    return [name.strip().lower() for name in (header or "").split(",")]


def foreign(header: str | None) -> str | None:
    """Return the first encodings that a header names and that is not ours to undo."""
    return next((name for name in labels(header) if name in _FOREIGN), None)


def is_readable(head: bytes) -> bool:
    """Tell whether a body begins as text or gzip does."""
    return bool(_READABLE.match(head))


class Unlabelled:
    """Takes raw deflate off a body that is labelled so: it has no mark by which it can be known.

    RFC 9110 8.4.1.2 wants zlib, and some servers leave out its two bytes at the beginning.
    """

    def __init__(self, header: str | None) -> None:
        self._may_be_raw = labels(header) == [_DEFLATE]
        self._inflater: zlib._Decompress | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what a piece of the body is, without ever holding much of what comes out.

        :raises zlib.error: where raw deflate is damaged.
        """
        if self._may_be_raw and chunk:
            self._may_be_raw = False
            self._inflater = _raw_inflater(chunk)
        if self._inflater is None:
            yield chunk
            return
        out = chunk
        while out and not self._inflater.eof:  # some may be left inside when all has gone in
            out = self._inflater.decompress(chunk, _PIECE)
            chunk = self._inflater.unconsumed_tail
            yield out


def _raw_inflater(head: bytes) -> "zlib._Decompress | None":
    """Return what inflates a body, if it begins as raw deflate does."""
    if is_readable(head) or _is_zlib(head):
        return None
    try:
        zlib.decompressobj(-zlib.MAX_WBITS).decompress(head, _PIECE)
    except zlib.error:
        return None
    return zlib.decompressobj(-zlib.MAX_WBITS)


def _is_zlib(head: bytes) -> bool:
    """Tell whether a body begins with the header of zlib (RFC 1950 2.2): method and check sum."""
    sums_up = len(head) == 1 or int.from_bytes(head[:2]) % 31 == 0
    return head[0] & 0x0F == zlib.DEFLATED and sums_up
