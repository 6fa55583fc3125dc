"""Charsets: every document is converted to UTF-8, which is all that later steps see.

In order of precedence: a byte order mark, the bytes themselves where they are obviously UTF-16 or
UTF-32, the HTTP charset, the XML declaration, UTF-8. An unknown name is skipped; bytes that are
invalid in the encoding become U+FFFD. Neither is fatal, both are reported. A text that ends inside
of a character was cut off there. A second document in another encoding, which was appended to the
first, can't be read: it is reported as lost.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.input.chunks import peek

_HEAD: Final = 1024
_BYTE_ORDER_MARKS: Final = (
    # UTF-32 comes first: its little-endian mark starts with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BY_NONZERO_BYTES: Final[dict[tuple[bool, ...], str]] = {
    # Which of the first four bytes are not zero: an ASCII character has zero bytes beside it in
    # these encodings, and in no other.
    (True, False, True, False): "utf-16-le",
    (False, True, False, True): "utf-16-be",
    (True, False, False, False): "utf-32-le",
    (False, False, False, True): "utf-32-be",
}
_SUPERSETS: Final = {
    # Sites name the smaller charset and use the larger one (WHATWG Encoding, 4.2).
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "ascii": "utf-8",
}
_ALIASES: Final = {
    # Names that the web uses and Python doesn't know (WHATWG Encoding, 4.2).
    "sjis": "cp932",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-936": "gb18030",
    "windows-949": "cp949",
    "dos-874": "cp874",
    "mac-roman": "mac_roman",
    "mac-cyrillic": "mac_cyrillic",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
}
_NOT_FOR_DOCUMENTS: Final = frozenset(
    # Python's codecs of text that are no charsets of documents.
    {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7", "mbcs"}
)
_XML_DECLARATION: Final = re.compile(
    rb"""<\?xml[^<>]*?\sencoding\s*+=\s*+["']\s*+([\w.:-]++)""", re.IGNORECASE
)
_ASCII: Final = "<?xml version='1.0'?> http://"
_READABLE: Final = re.compile(rb"<\?xml|https?://")
"""What shows that a document has the bytes of ASCII."""
_CHARSET: Final = re.compile(r"charset\s*+=\s*+[\"']?([\w.:-]++)", re.IGNORECASE)
_UTF_8: Final = "utf-8"
_REPLACEMENT: Final = "\ufffd"
_FOUR_BYTES: Final = "utf-32"
_WIDE: Final = ("utf-16", _FOUR_BYTES)
_WIDE_URL: Final = re.compile(rb"[Hh]\0(?:\0\0)?+[Tt]\0(?:\0\0)?+[Tt]\0(?:\0\0)?+[Pp]")
_NARROW_URL: Final = re.compile(rb"https?://")
"""The start of a URL in UTF-16 or UTF-32, and in any other encoding: no text in the encodings of
the other kind contains it. All sitemaps contain URLs, if only the name of a namespace."""
_LONGEST_URL_START: Final = 13
_GZIP: Final = b"\x1f\x8b\x08"
"""How a gzip file begins: in no encoding of text but UTF-16 and UTF-32."""


class Utf8Document:
    """A document as UTF-8, without its byte order mark, to be iterated over once."""

    def __init__(
        self,
        chunks: Iterable[bytes],
        diagnostics: Diagnostics,
        http_charset: str | None = None,
        again: Callable[[], Iterable[bytes]] = tuple,
    ) -> None:
        """Decode chunks, in the encoding that the header, a mark or the document names.

        :param again: returns the chunks again: only if some bytes are invalid, their line counts.
        """
        head, self._chunks = peek(chunks, _HEAD)
        self._again = again
        self._diagnostics = diagnostics
        self.codec, self.bom_length = choose_codec(head[:_HEAD], http_charset, diagnostics)
        self._first_error: Position | None = None
        self._offset = self.bom_length
        self._tail = b""  # the last bytes of the last chunk
        self._has_other = False  # whether another encoding was found

    def __iter__(self) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.codec)("strict")
        start = self.bom_length
        for chunk in self._chunks:
            data = chunk[start:]
            start = 0
            self._find_other_document(data)
            if self.codec == _UTF_8 and data.isascii() and not decoder.getstate()[0]:
                yield data  # most sitemaps: nothing to do
            else:
                yield self._decode(decoder, data).encode()
            self._offset += len(data)
        # After other invalid bytes, it is no text in this encoding, and its end proves nothing.
        held, _ = decoder.getstate()
        self._diagnostics.cut_character = bool(held) and self._first_error is None
        yield self._decode(decoder, b"", final=True).encode()
        if self._first_error:
            message = f"some bytes are invalid in {self.codec} and were replaced by U+FFFD"
            self._diagnostics.report("SM212", message, position=self._first_error)
            if self.codec.startswith(_FOUR_BYTES) and not self._diagnostics.cut_character:
                # A byte is missing or too many: all characters after it are others.
                message = "what follows an invalid character of UTF-32 may be lost"
                self._diagnostics.report("SM209", message, position=self._first_error)

    def _find_other_document(self, data: bytes) -> None:
        """Report a second document, in another encoding or compressed: programs append (``>>``)."""
        before, self._tail = self._tail, data[-_LONGEST_URL_START:]
        is_wide = self.codec.startswith(_WIDE)
        # A single byte is found at once, and nearly all documents have none of these.
        may_have_gzip = _GZIP[:1] in data or _GZIP[:1] in before
        if self._has_other or not (is_wide or b"\0" in data or may_have_gzip):
            return
        whole = before + data
        url = (_NARROW_URL if is_wide else _WIDE_URL).search(whole)
        found = url.start() if url else -1 if is_wide else whole.find(_GZIP)
        if found < 0:
            return
        self._has_other = True
        at = self._offset - len(before) + found
        what = "in another encoding" if url else "compressed"
        message, position = f"a second document, {what}, was skipped", (self._line_at(at), at)
        self._diagnostics.report_once("SM223", message, position=position)

    def _decode(
        self, decoder: codecs.IncrementalDecoder, data: bytes, *, final: bool = False
    ) -> str:
        before = decoder.getstate()
        try:
            return decoder.decode(data, final)
        except UnicodeDecodeError as error:
            # Relative to the data; negative where the decoder still held bytes of the last chunk.
            at = error.start - len(error.object) + len(data)
            self._first_error = (self._line_at(self._offset + at), self._offset + at)
            decoder.errors = "replace"
            decoder.setstate(before)
            return decoder.decode(data, final)

    def _line_at(self, offset: int) -> int | None:
        """Return the line of an offset; None if nobody asks for positions."""
        if not self._diagnostics.locating:
            return None
        line, left = 1, offset
        decoder = codecs.getincrementaldecoder(self.codec)("replace")
        for chunk in self._again():
            if left <= 0:
                break
            # In UTF-16 and UTF-32, the byte of a line feed may be a part of another character.
            line += decoder.decode(chunk[:left]).count("\n")
            left -= len(chunk)
        return line

    def original_length(self, utf8: bytes) -> int:
        """Return how many bytes of the original document these were."""
        if self.codec != _UTF_8:
            return len(utf8.decode("utf-8", "replace").encode(self.codec, "replace"))
        # An invalid byte has become three bytes.
        return len(utf8) - (2 * utf8.count(_REPLACEMENT.encode()) if self._first_error else 0)


def decode_document(data: bytes, http_charset: str | None = None) -> str:
    """Return a document as text; bytes that are invalid in its encoding become U+FFFD."""
    return b"".join(Utf8Document([data], Diagnostics(), http_charset)).decode("utf-8", "replace")


def http_charset(content_type: str | None) -> str | None:
    """Return the charset that a ``Content-Type`` header names."""
    match = _CHARSET.search(content_type or "")
    return match[1] if match else None


def declared_charset(document: bytes) -> str | None:
    """Return the charset that an XML declaration names, wherever in the head it is."""
    declared = _XML_DECLARATION.search(document, 0, _HEAD)
    return declared[1].decode("ascii", "replace") if declared else None


def choose_codec(
    head: bytes, http_charset: str | None, diagnostics: Diagnostics
) -> tuple[str, int]:
    """Return the codec of a document, and the length of its byte order mark."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return codec, len(mark)
    codec = _BY_NONZERO_BYTES.get(tuple(map(bool, head[:4])), "")
    if codec and any(head[4:8] or head[:4]):  # else a piece of the document is missing
        return codec, 0
    for name in (http_charset, declared_charset(head)):
        if name and (known := _known_codec(name, head, diagnostics)):
            return known, 0
    return _UTF_8, 0


def _wide_codec(name: str, head: bytes) -> str | None:
    """Return the named codec of UTF-16 or UTF-32, with its byte order, if the bytes decode with it.

    UTF-8 mostly decodes as UTF-16 too. But every document contains ASCII characters, and those have
    zero bytes in UTF-16 and UTF-32 only.
    """
    if b"\0" not in head and _decodes(head, _UTF_8):
        return None
    candidates = (name,) if name.endswith(("le", "be")) else (f"{name}-le", f"{name}-be")
    valid = [codec for codec in candidates if _decodes(head, codec)]
    return min(valid, key=lambda codec: _count_non_ascii(head, codec), default=None)


def _decodes(head: bytes, codec: str) -> bool:
    try:
        codecs.getincrementaldecoder(codec)("strict").decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _count_non_ascii(head: bytes, codec: str) -> int:
    """Count the characters that aren't ASCII: the wrong byte order has more of them."""
    text = head.decode(codec, "replace")
    return len(text) - len(text.encode("ascii", "ignore"))


def _has_ascii(codec: str) -> bool:
    """Tell whether a codec has the bytes of ASCII, as all have but those of mainframes (EBCDIC)."""
    try:
        return _ASCII.encode(codec) == _ASCII.encode()
    except UnicodeError:
        return False


def _known_codec(name: str, head: bytes, diagnostics: Diagnostics) -> str | None:
    normalized = name.strip().strip("\"'").lower().removeprefix("x-")
    try:
        info = codecs.lookup(_ALIASES.get(normalized, normalized))
    except (LookupError, ValueError):
        diagnostics.report("SM213", f"unknown encoding {name[:60]!r}")
        return None
    if not info._is_text_encoding or info.name in _NOT_FOR_DOCUMENTS:
        diagnostics.report("SM213", f"{name[:60]!r} is not an encoding of documents")
        return None
    if info.name == "utf-8-sig":
        return _UTF_8
    if info.name.startswith(("utf-16", "utf-32")):
        wide = _wide_codec(info.name, head)
        if wide is None:
            # Otherwise the declaration itself could not be read.
            diagnostics.report("SM213", f"the document is not encoded in {name[:60]!r}")
        return wide
    if not _has_ascii(info.name) and _READABLE.search(head):
        diagnostics.report("SM213", f"the document is not encoded in {name[:60]!r}")
        return None
    return _SUPERSETS.get(info.name, info.name)
