"""Decompression: gzip, zlib and raw deflate, with a limit on the decompressed size.

The format is detected by the first bytes, never by a name or a content type: a ``.gz`` that isn't
gzip is read as it is, and gzip is decompressed whatever its name, also when it was compressed
twice. Raw deflate has no signature: it is accepted if a document comes out. What was decompressed
before an error is kept.

All layers count together against the limit: a layer costs time even if it contains next to nothing.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.input.chunks import CHUNK_SIZE, peek, split_chunks
from usp._parse.input.other_documents import report_other_document
from usp.objects.problem import Problem

MAX_DOCUMENT_BYTES: Final = 100 * 1024 * 1024
"""The limit on a decompressed document; the protocol allows 50 MiB (sitemaps.org)."""

_MAX_LAYERS: Final = 3
_MAX_GROWTH: Final = 4
_FREE_GROWTH: Final = 256 * 1024
"""Compressed data hardly shrinks when it is compressed again. An outer layer that expands to more
than so many times the bytes received, and so many more, was made to cost time."""
_PIECE: Final = 16 * 1024
"""zlib gets so many bytes at a time, since it copies what follows the end of each gzip member."""
_HEAD: Final = 4096
"""Compressed data is searched for in so many bytes: scripts print blank lines, byte order marks and
warnings before it."""
_BLANKS: Final = re.compile(rb"(?:[\t\n\r ]|\xef\xbb\xbf)*+")
_NOT_TEXT: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\xff]")
_DOCUMENT_START: Final = re.compile(
    rb"\s*(?:<(?:\?xml|!|[A-Za-z][\w.:-]{2,}[\s>])|\{\s*+\"|https?://|(?:user-agent|sitemap)\s*:)",
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
    budget = _Budget(limit)
    read = 0
    for chunk in _Layers(diagnostics, budget).remove(budget.receive(chunks), max_layers):
        diagnostics.check_time()
        if len(chunk) > budget.left:
            budget.exceeded = True
            chunk = chunk[: max(budget.left, 0)]  # noqa: PLW2901 -- the last one
        budget.left -= len(chunk)
        read += len(chunk)
        diagnostics.document_bytes += len(chunk)
        yield chunk
        if budget.exceeded:
            break
    if budget.exceeded:
        diagnostics.report("SM701", f"only the first {read} bytes were read")


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


@dataclass(slots=True)
class _Budget:
    """How many bytes all layers of a document may have in all."""

    left: int
    received: int = 0
    """The size of the document as received, so far."""
    exceeded: bool = False

    def receive(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Count the document as received."""
        for chunk in split_chunks(chunks):
            self.received += len(chunk)
            yield chunk

    def spend(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Count what came out of a layer that contains another one; stop when it is too much."""
        size = 0
        for chunk in chunks:
            size += len(chunk)
            self.left -= len(chunk)
            if self.left <= 0 or size > _MAX_GROWTH * self.received + _FREE_GROWTH:
                self.exceeded = True
                return
            yield chunk


@dataclass(frozen=True, slots=True)
class _Layers:
    """The layers of compression of one document."""

    diagnostics: Diagnostics
    budget: _Budget

    def remove(
        self, chunks: Iterable[bytes], max_layers: int, *, inner: bool = False
    ) -> Iterator[bytes]:
        """Yield the document; ``inner`` tells that the chunks came out of another layer."""
        head, chunks = peek(chunks, _HEAD)
        start, window_bits = _find_compressed(head[:_HEAD]) if max_layers else (0, None)
        if window_bits is None:
            return chunks
        if start:
            self.diagnostics.report(
                "SM205", "there is junk before the compressed data", position=(1, 0)
            )
            if _NOT_TEXT.search(head, 0, start) and not head.startswith(_BYTE_ORDER_MARKS):
                self.diagnostics.report_once("SM214", _DAMAGED)
            report_other_document(head[:start], self.diagnostics, position=(1, 0))
            next(chunks)
            chunks = chain([head[start:]], chunks)
        inflated = self._inflate(self.budget.spend(chunks) if inner else chunks, window_bits)
        return self.remove(_join_small(inflated), max_layers - 1, inner=True)

    def _inflate(self, chunks: Iterable[bytes], window_bits: int) -> Iterator[bytes]:
        inflater = zlib.decompressobj(window_bits)
        incomplete = b""
        for chunk in split_chunks(chunks, _PIECE):
            data = incomplete + chunk
            incomplete = b""
            while data:
                if inflater.eof:
                    data = data.lstrip(b"\0")  # padding between members, of tape and block writers
                    if data and _GZIP.startswith(data[:1]) and len(data) == 1:
                        incomplete = data
                        break
                    if not data.startswith(_GZIP):
                        if data:
                            self._report_junk(data)
                            return
                        break
                    inflater = zlib.decompressobj(_WINDOW_BITS[_GZIP])
                before = inflater.copy()
                try:
                    out = inflater.decompress(data, CHUNK_SIZE)
                except zlib.error:  # by the checksum, mostly: what came out before may be wrong
                    self.diagnostics.corrupt = True
                    self.diagnostics.report_once("SM214", _DAMAGED)
                    yield from _inflate_until_error(before, data)
                    return
                if out:
                    yield out
                data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
        if (incomplete or not inflater.eof) and not self.budget.exceeded:
            self.diagnostics.report_once("SM214", _DAMAGED)

    def _report_junk(self, data: bytes) -> None:
        """Report what follows gzip data: a text is junk, anything else was a part of it."""
        if _NOT_TEXT.search(data, 0, _PROBE):
            self.diagnostics.report_once("SM214", _DAMAGED)
        else:
            self.diagnostics.report("SM215", "there is junk after the gzip data")
            report_other_document(data, self.diagnostics)


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


def _join_small(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Join small chunks: each gzip member gives one of its own, and may contain a single byte."""
    small = bytearray()
    for chunk in chunks:
        if not small and len(chunk) >= _PIECE:
            yield chunk
            continue
        small += chunk
        if len(small) >= _PIECE:
            yield bytes(small)
            small.clear()
    if small:
        yield bytes(small)


def _inflate_until_error(inflater: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Yield what comes out of the data before the byte at which zlib fails."""
    for index in range(len(data)):
        try:
            out = inflater.decompress(data[index : index + 1])
        except zlib.error:
            return
        if out:
            yield out
