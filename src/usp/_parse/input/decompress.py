"""Unpacking: gzip and zlib known by their first bytes, with a ceiling on what comes out.

NamespaceScope and types are not believed: a ``.gz`` that isn't gzip is read as it is, and gzip is unpacked
whatever it is called, also when it was packed twice. Raw deflate has no mark of its own: it is
known by what comes out. What came out before a fault is kept.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from usp._parse.diagnostics import Diagnostics
from usp.objects.problem import Problem

MAX_DOCUMENT_BYTES: Final = 100 * 1024 * 1024
"""The ceiling on an unpacked document; the protocol allows 50 MiB (sitemaps.org)."""

_MAX_WRAPS: Final = 3
_PIECE: Final = 256 * 1024
_LEAD: Final = 4096
"""So many bytes before packed data are passed over: scripts print blanks, marks and warnings."""
_BLANKS: Final = re.compile(rb"(?:[\t\n\r ]|\xef\xbb\xbf)*+")
_NOT_TEXT: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\xff]")
_DOCUMENT: Final = re.compile(
    rb"\s*(?:<(?:\?xml|!|[A-Za-z][\w.:-]{2,}[\s>])|https?://|(?:user-agent|sitemap)\s*:)",
    re.IGNORECASE,
)
_ENOUGH: Final = 64
"""So many bytes show what a document is; what is damaged behind them is another matter."""
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_RAW: Final = -zlib.MAX_WBITS
_GZIP: Final = b"\x1f\x8b"
_GZIP_BEGINS: Final = _GZIP + b"\x08"
_DAMAGED: Final = "the packed data ends early, or is damaged"
_MAGIC: Final = {
    _GZIP: 16 + zlib.MAX_WBITS,
    # "Content-Encoding: deflate" is zlib (RFC 9110 8.4.1.2); no sitemap begins so.
    b"\x78\x01": zlib.MAX_WBITS,
    b"\x78\x5e": zlib.MAX_WBITS,
    b"\x78\x9c": zlib.MAX_WBITS,
    b"\x78\xda": zlib.MAX_WBITS,
}


def decompress(
    chunks: Iterable[bytes],
    diagnostics: Diagnostics,
    limit: int = MAX_DOCUMENT_BYTES,
    *,
    wraps: int = _MAX_WRAPS,
) -> Iterator[bytes]:
    """Yield the document's bytes, unpacked as often as it was packed, at most ``limit`` in all."""
    left = limit
    for chunk in _unwrap(_in_pieces(chunks), diagnostics, wraps):
        if len(chunk) > left:
            yield chunk[:left]
            diagnostics.report("SM701", f"only the first {limit} bytes were read")
            return
        left -= len(chunk)
        yield chunk


def decompress_all(
    chunks: Iterable[bytes], limit: int = MAX_DOCUMENT_BYTES, *, wraps: int = _MAX_WRAPS
) -> tuple[bytes, tuple[Problem, ...]]:
    """Return a body decompressed, at most ``limit`` bytes of it, and the problems with it."""
    diagnostics = Diagnostics()
    data = b"".join(decompress(chunks, diagnostics, limit, wraps=wraps))
    return data, diagnostics.problems


def is_compressed(head: bytes) -> bool:
    """Tell by its first bytes whether a document may be packed, and so be larger than it looks."""
    return _packed(head[:_LEAD])[1] is not None


def _in_pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut large chunks up, so that no later step ever holds, or copies, a document whole."""
    for chunk in chunks:
        for at in range(0, len(chunk), _PIECE):
            yield chunk[at : at + _PIECE]


def in_blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Put small chunks together, and cut all alike: so nothing depends on how they came."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= _PIECE:
            yield bytes(held[:_PIECE])
            del held[:_PIECE]
    yield bytes(held)


def peek(chunks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes, at least ``size`` if there are so many, and all the chunks again."""
    rest = iter(chunks)
    first = next(rest, b"")
    if len(first) < size:  # mostly the first chunk is enough, and needn't be copied
        head = bytearray(first)
        for chunk in rest:
            head += chunk
            if len(head) >= size:
                break
        first = bytes(head)
    return first, chain([first] if first else [], rest)


def _unwrap(chunks: Iterable[bytes], diagnostics: Diagnostics, wraps: int) -> Iterator[bytes]:
    head, chunks = peek(chunks, _LEAD)
    lead, window = _packed(head[:_LEAD]) if wraps else (0, None)
    if window is None:
        return chunks
    if lead:
        diagnostics.report("SM205", "something stands before the packed data", position=(1, 0))
        next(chunks)
        chunks = chain([head[lead:]], chunks)
    return _unwrap(_inflate(chunks, window, diagnostics), diagnostics, wraps - 1)


def _packed(head: bytes) -> tuple[int, int | None]:
    """Return where packed data begins, and how zlib is to read it; None if there is none.

    What has no mark where it should be is believed only if a document comes out.
    """
    blanks = _BLANKS.match(head)
    at = blanks.end() if blanks else 0
    if window := _MAGIC.get(head[at : at + 2]):
        return at, window
    at = head.find(_GZIP_BEGINS)
    window = _MAGIC[_GZIP]
    if at < 0:
        at, window = 0, _RAW
    return (at, window) if _unpacks(head, at, window) else (0, None)


def _unpacks(head: bytes, at: int, window: int) -> bool:
    """Tell whether this is no text, and unpacks from there to the beginning of a document."""
    if not _NOT_TEXT.search(head, 0, at + 256) or head.startswith(_MARKS):
        return False
    try:
        found = zlib.decompressobj(window).decompress(head[at:], _ENOUGH)
    except zlib.error:
        return False
    without_zeros = found.replace(b"\0", b"")  # of UTF-16
    return found.startswith(_MARKS) or bool(_DOCUMENT.match(without_zeros))


def _inflate(chunks: Iterable[bytes], window: int, diagnostics: Diagnostics) -> Iterator[bytes]:
    inflater = zlib.decompressobj(window)
    held = b""
    for chunk in chunks:
        data = held + chunk
        held = b""
        while data:
            if inflater.eof:
                data = data.lstrip(b"\0")  # padding between members, as tape and block writers do
                if data and _GZIP.startswith(data[:1]) and len(data) == 1:
                    held = data
                    break
                if not data.startswith(_GZIP):
                    if data:
                        diagnostics.report("SM215", "something follows the gzip data")
                        return
                    break
                inflater = zlib.decompressobj(_MAGIC[_GZIP])
            before = inflater.copy()
            try:
                out = inflater.decompress(data, _PIECE)
            except zlib.error:
                diagnostics.report_once("SM214", _DAMAGED)
                yield from _before_the_fault(before, data)
                return
            if out:
                yield out
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if not inflater.eof:
        diagnostics.report_once("SM214", _DAMAGED)


def _before_the_fault(inflater: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Yield what comes out of the data before the byte at which zlib gives up."""
    for at in range(len(data)):
        try:
            out = inflater.decompress(data[at : at + 1])
        except zlib.error:
            return
        if out:
            yield out
