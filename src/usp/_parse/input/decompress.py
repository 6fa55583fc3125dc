"""Decompression: gzip, zlib and raw deflate, with a limit on the decompressed size.

The format is detected by the first bytes, never by a name or a content type: a ``.gz`` that isn't
gzip is read as it is, and gzip is decompressed whatever its name, also when it was compressed
twice. Raw deflate has no signature: it is accepted if a document comes out. What was decompressed
before an error is kept.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.input.chunks import CHUNK_SIZE, peek, split_chunks
from usp.objects.problem import Problem

MAX_DOCUMENT_BYTES: Final = 100 * 1024 * 1024
"""The limit on a decompressed document; the protocol allows 50 MiB (sitemaps.org)."""

_MAX_LAYERS: Final = 3
_HEAD: Final = 4096
"""Compressed data is searched for in so many bytes: scripts print blank lines, byte order marks and
warnings before it."""
_BLANKS: Final = re.compile(rb"(?:[\t\n\r ]|\xef\xbb\xbf)*+")
_NOT_TEXT: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\xff]")
_DOCUMENT_START: Final = re.compile(
    rb"\s*(?:<(?:\?xml|!|[A-Za-z][\w.:-]{2,}[\s>])|https?://|(?:user-agent|sitemap)\s*:)",
    re.IGNORECASE,
)
_PROBE: Final = 64
"""So many decompressed bytes show whether it is a document; later errors don't matter here."""
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_RAW_DEFLATE: Final = -zlib.MAX_WBITS
_GZIP: Final = b"\x1f\x8b"
_GZIP_DEFLATE: Final = _GZIP + b"\x08"
_DAMAGED: Final = "the compressed data is truncated or corrupt"
_WINDOW_BITS: Final = {
    _GZIP: 16 + zlib.MAX_WBITS,
    # "Content-Encoding: deflate" is zlib (RFC 9110 8.4.1.2); no sitemap starts with these bytes.
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
    max_layers: int = _MAX_LAYERS,
) -> Iterator[bytes]:
    """Yield the document's bytes, at most ``limit``, decompressed up to ``max_layers`` times."""
    remaining = limit
    for chunk in _remove_layers(split_chunks(chunks), diagnostics, max_layers):
        diagnostics.check_time()
        if len(chunk) > remaining:
            diagnostics.document_bytes += remaining
            yield chunk[:remaining]
            diagnostics.report("SM701", f"only the first {limit} bytes were read")
            return
        remaining -= len(chunk)
        diagnostics.document_bytes += len(chunk)
        yield chunk


def decompress_all(
    chunks: Iterable[bytes], limit: int = MAX_DOCUMENT_BYTES, *, max_layers: int = _MAX_LAYERS
) -> tuple[bytes, tuple[Problem, ...]]:
    """Return a body decompressed, at most ``limit`` bytes of it, and the problems with it."""
    diagnostics = Diagnostics()
    data = b"".join(decompress(chunks, diagnostics, limit, max_layers=max_layers))
    return data, diagnostics.problems


def is_compressed(head: bytes) -> bool:
    """Tell by its first bytes whether a document is compressed, and so larger than it looks."""
    return _find_compressed(head[:_HEAD])[1] is not None


def _remove_layers(
    chunks: Iterable[bytes], diagnostics: Diagnostics, max_layers: int
) -> Iterator[bytes]:
    head, chunks = peek(chunks, _HEAD)
    start, window_bits = _find_compressed(head[:_HEAD]) if max_layers else (0, None)
    if window_bits is None:
        return chunks
    if start:
        diagnostics.report("SM205", "there is junk before the compressed data", position=(1, 0))
        next(chunks)
        chunks = chain([head[start:]], chunks)
    return _remove_layers(_inflate(chunks, window_bits, diagnostics), diagnostics, max_layers - 1)


def _find_compressed(head: bytes) -> tuple[int, int | None]:
    """Return where compressed data starts, and zlib's window bits for it; None if there is none.

    Without a signature at the start, it is accepted only if a document comes out.
    """
    blanks = _BLANKS.match(head)
    start = blanks.end() if blanks else 0
    if window_bits := _WINDOW_BITS.get(head[start : start + 2]):
        return start, window_bits
    start = head.find(_GZIP_DEFLATE)
    window_bits = _WINDOW_BITS[_GZIP]
    if start < 0:
        start, window_bits = 0, _RAW_DEFLATE
    return (start, window_bits) if _gives_document(head, start, window_bits) else (0, None)


def _gives_document(head: bytes, start: int, window_bits: int) -> bool:
    """Tell whether this isn't text, and decompresses from there to the start of a document."""
    if not _NOT_TEXT.search(head, 0, start + 256) or head.startswith(_BYTE_ORDER_MARKS):
        return False
    try:
        data = zlib.decompressobj(window_bits).decompress(head[start:], _PROBE)
    except zlib.error:
        return False
    without_zeros = data.replace(b"\0", b"")  # UTF-16
    return data.startswith(_BYTE_ORDER_MARKS) or bool(_DOCUMENT_START.match(without_zeros))


def _inflate(
    chunks: Iterable[bytes], window_bits: int, diagnostics: Diagnostics
) -> Iterator[bytes]:
    inflater = zlib.decompressobj(window_bits)
    incomplete = b""
    for chunk in chunks:
        data = incomplete + chunk
        incomplete = b""
        while data:
            if inflater.eof:
                data = data.lstrip(b"\0")  # padding between members, as tape and block writers do
                if data and _GZIP.startswith(data[:1]) and len(data) == 1:
                    incomplete = data
                    break
                if not data.startswith(_GZIP):
                    if data:
                        diagnostics.report("SM215", "there is junk after the gzip data")
                        return
                    break
                inflater = zlib.decompressobj(_WINDOW_BITS[_GZIP])
            before = inflater.copy()
            try:
                out = inflater.decompress(data, CHUNK_SIZE)
            except zlib.error:
                diagnostics.report_once("SM214", _DAMAGED)
                yield from _inflate_until_error(before, data)
                return
            if out:
                yield out
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if not inflater.eof:
        diagnostics.report_once("SM214", _DAMAGED)


def _inflate_until_error(inflater: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Yield what comes out of the data before the byte at which zlib fails."""
    for index in range(len(data)):
        try:
            out = inflater.decompress(data[index : index + 1])
        except zlib.error:
            return
        if out:
            yield out
