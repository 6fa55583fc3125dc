"""Opening a document: what kind it is, and its text as UTF-8."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final

from usp._parse.diagnostics import START, Diagnostics, ReadPosition
from usp._parse.formats.field_readers import FIELD_READERS
from usp._parse.input.chunks import take_head
from usp._parse.input.decode import Utf8Document
from usp._parse.input.decompress import decompress
from usp._parse.input.plain_document import plain_document
from usp._parse.input.sniff import NO_ROOT, Kind, SniffResult, sniff
from usp._parse.source import Source

_HEAD: Final = 64 * 1024
_LONG_HEAD: Final = 1024 * 1024
_TOO_MUCH_BEFORE: Final = "It is not a sitemap: more than 1 MiB precedes any root element"


@dataclass(slots=True)
class Opened:
    """A document that is being read: its kind, and its text as UTF-8."""

    sniffed: SniffResult
    head: bytes
    """Its first bytes, so many that they contain what ``sniffed`` names."""
    rest: Iterator[bytes]
    start: ReadPosition
    """The position of the head in the document as received."""
    codec: str = "utf-8"
    """The encoding of the document as received."""
    is_plain: bool = False
    """Whether it is a small document in which nothing had to be changed, whole in the head."""

    @property
    def data(self) -> Iterator[bytes]:
        """All of the text; to be read once, unless it is whole in the head."""
        return chain([self.head] if self.head else [], self.rest)

    def is_whole(self) -> bool:
        """Tell whether the head is the whole document: whether anything follows is tried.

        The length of the head says nothing: that of an escaped document is short.
        """
        if self.is_plain:
            return True
        following = next(filter(None, self.rest), b"")
        if following:
            self.rest = chain([following], self.rest)
        return not following

    def take_whole(self, limit: int) -> bool:
        """Tell whether the document is shorter than that; then, all of it is in the head."""
        if self.is_plain:
            return len(self.head) < limit
        held, size = [self.head], len(self.head)
        while size < limit:
            chunk = next(self.rest, None)
            if chunk is None:
                self.head = b"".join(held)
                return True
            held.append(chunk)
            size += len(chunk)
        self.rest = chain(held[1:], self.rest)
        return False


def open_document(source: Source, diagnostics: Diagnostics, kind: Kind | None = None) -> Opened:
    """Return a document with its kind, which is detected unless it is given, and its text."""
    if source.truncated:
        diagnostics.report("SM102", f"the body is truncated: {source.truncated}")
    plain = plain_document(source.chunks, source.charset, source.limit, source.urls)
    if plain and kind in {None, plain[1].kind}:
        data, sniffed = plain
        diagnostics.document_bytes += len(data)
        return Opened(sniffed, data, iter(()), START, is_plain=True)
    return _open_any(source, diagnostics, kind)


def decoded_text(source: Source, diagnostics: Diagnostics) -> Utf8Document:
    """Return the text of a document, decompressed, as UTF-8."""

    def unpacked(diagnostics: Diagnostics) -> Iterator[bytes]:
        return decompress(source.chunks, diagnostics, source.limit)

    again = partial(unpacked, diagnostics.unused())
    return Utf8Document(unpacked(diagnostics), diagnostics, source.charset, again)


def _open_any(source: Source, diagnostics: Diagnostics, kind: Kind | None) -> Opened:
    decoded = decoded_text(source, diagnostics)
    data = iter(decoded)
    start = ReadPosition(offset=decoded.bom_length, length=decoded.original_length)
    for chunk in data:  # any amount of whitespace may come first
        if chunk.strip():
            data = chain([chunk], data)
            break
        start = start.past(chunk)
    head, data = take_head(data, _HEAD)
    sniffed = sniff(head[:_HEAD], *source.urls)
    if sniffed.kind is Kind.INVALID and len(head) >= _HEAD:
        head, data = take_head(chain([head], data), _LONG_HEAD)
        sniffed = sniff(head[:_LONG_HEAD], *source.urls)
        if sniffed.reason == NO_ROOT and len(head) >= _LONG_HEAD:  # there may be one further on
            sniffed = sniffed._replace(reason=_TOO_MUCH_BEFORE)
    if kind is not None:
        # A kind that the caller gives is used, but an HTML page is never a sitemap.
        if sniffed.code == "SM202":
            diagnostics.report("SM202", "it is an HTML page")
            head, data = b"", iter(())
        sniffed = SniffResult(kind)
    opened = Opened(sniffed, head, data, start, decoded.codec)
    unclear = sniffed.kind is Kind.TEXT or sniffed.code == "SM201"
    return _unescape(opened, diagnostics) if unclear and kind is None else opened


def _unescape(opened: Opened, diagnostics: Diagnostics) -> Opened:
    """Open the document that this one contains in escaped form, if there is one."""
    from usp._parse.input.unescape import find_escaped, unescape  # few documents are

    head = opened.head
    found = find_escaped(head)
    if found is None:
        return opened
    escape, at = found
    sniffed = sniff(b"".join(unescape(escape, [head[at:]])))
    if sniffed.kind not in FIELD_READERS:
        return opened
    start = opened.start.past(head[:at])
    diagnostics.report("SM222", "the document is escaped as a whole", position=start.position)
    head, rest = take_head(unescape(escape, chain([head[at:]], opened.rest)), sniffed.start + 1)
    escaped = start._replace(length=lambda data: start.length(escape.encode(data)))
    return Opened(sniffed, head, rest, escaped, opened.codec)
