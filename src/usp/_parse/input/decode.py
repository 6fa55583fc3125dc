"""Which characters the bytes are: everything after this step is UTF-8.

The order of belief: a byte order mark, the bytes themselves where they are plainly UTF-16, the
HTTP charset, the XML declaration, UTF-8. A name that doesn't exist is passed over; bytes that
don't fit become U+FFFD. Neither is fatal, both are reported.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.input.decompress import peek

_HEAD: Final = 1024
_MARKS: Final = (
    # The UTF-32 marks come first: the little one begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BY_ZEROS: Final[dict[tuple[bool, ...], str]] = {
    # Which of the first four bytes are not zero: an ASCII character has zeros beside it in these
    # encodings, and in no other.
    (True, False, True, False): "utf-16-le",
    (False, True, False, True): "utf-16-be",
    (True, False, False, False): "utf-32-le",
    (False, False, False, True): "utf-32-be",
}
_SUPERSETS: Final = {
    # Sites write the small name and use the large set (WHATWG Encoding, 4.2).
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
    # NamespaceScope that the web uses and Python doesn't know (WHATWG Encoding, 4.2).
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
    # Codecs of Python that encode text, but not web pages.
    {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7", "mbcs"}
)
_DECLARED: Final = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']\s*([\w.:-]+)""", re.IGNORECASE)
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_UTF_8: Final = "utf-8"
_REPLACED: Final = "\ufffd"


class Utf8Document:
    """A document as UTF-8, without its byte order mark: to be iterated over once."""

    def __init__(
        self, chunks: Iterable[bytes], diagnostics: Diagnostics, http_charset: str | None = None
    ) -> None:
        head, self._chunks = peek(chunks, _HEAD)
        self._diagnostics = diagnostics
        self.codec, self.mark = choose_codec(head[:_HEAD], http_charset, diagnostics)
        """The codec, and the length of the byte order mark."""
        self._damaged_at: Position | None = None
        self._lines = 1
        self._read = self.mark

    def __iter__(self) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.codec)("strict")
        left = self.mark
        for chunk in self._chunks:
            data = chunk[left:]
            left = 0
            if self.codec == _UTF_8 and data.isascii() and not decoder.getstate()[0]:
                yield data  # what most sitemaps are: nothing to do
            else:
                yield self._decode(decoder, data).encode()
            if self._diagnostics.collecting:
                self._lines += data.count(b"\n")
            self._read += len(data)
        yield self._decode(decoder, b"", final=True).encode()
        if self._damaged_at:
            message = f"some bytes are not {self.codec} and became U+FFFD"
            self._diagnostics.report("SM212", message, position=self._damaged_at)

    def _decode(
        self, decoder: codecs.IncrementalDecoder, data: bytes, *, final: bool = False
    ) -> str:
        before = decoder.getstate()
        try:
            return decoder.decode(data, final)
        except UnicodeDecodeError as error:
            # Counted from the data; before it, where bytes had been held back.
            at = error.start - len(error.object) + len(data)
            self._damaged_at = (self._lines + data.count(b"\n", 0, max(at, 0)), self._read + at)
            decoder.errors = "replace"
            decoder.setstate(before)
            return decoder.decode(data, final)

    def length(self, utf8: bytes) -> int:
        """Return how many bytes of the document as it came stand behind these."""
        if self.codec != _UTF_8:
            return len(utf8.decode("utf-8", "replace").encode(self.codec, "replace"))
        # What doesn't fit was one byte, mostly, and has become three.
        return len(utf8) - (2 * utf8.count(_REPLACED.encode()) if self._damaged_at else 0)


def decode_document(data: bytes, http_charset: str | None = None) -> str:
    """Return a document as text; bytes that do not fit its encoding become U+FFFD."""
    return b"".join(Utf8Document([data], Diagnostics(), http_charset)).decode("utf-8", "replace")


def http_charset(content_type: str | None) -> str | None:
    """Return the charset that a ``Content-Type`` header names."""
    match = _CHARSET.search(content_type or "")
    return match[1] if match else None


def choose_codec(
    head: bytes, http_charset: str | None, diagnostics: Diagnostics
) -> tuple[str, int]:
    """Return the codec to read with, and the length of the byte order mark to pass over."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return codec, len(mark)
    if plain := _BY_ZEROS.get(tuple(map(bool, head[:4]))):
        return plain, 0
    declared = _DECLARED.search(head)
    for name in (http_charset, declared and declared[1].decode("ascii", "replace")):
        if name and (found := _known_codec(name, head, diagnostics)):
            return found, 0
    return _UTF_8, 0


def _wide_codec(name: str, head: bytes) -> str | None:
    """Return the codec of two or four bytes a unit that is named, if the bytes decode with it.

    Bytes that are UTF-8 decode as well, mostly; but nothing that we read has no ASCII in it, and
    that has zero bytes only in such codecs.
    """
    if b"\0" not in head and _decodes(head, _UTF_8):
        return None
    ends = (name,) if name.endswith(("le", "be")) else (f"{name}-le", f"{name}-be")
    fitting = [codec for codec in ends if _decodes(head, codec)]
    return min(fitting, key=lambda codec: _strangers(head, codec), default=None)


def _decodes(head: bytes, codec: str) -> bool:
    try:
        codecs.getincrementaldecoder(codec)("strict").decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _strangers(head: bytes, codec: str) -> int:
    """Count the characters that are not ASCII: the wrong order of bytes makes them of it."""
    text = head.decode(codec, "replace")
    return len(text) - len(text.encode("ascii", "ignore"))


def _known_codec(name: str, head: bytes, diagnostics: Diagnostics) -> str | None:
    plain = name.strip().strip("\"'").lower().removeprefix("x-")
    try:
        info = codecs.lookup(_ALIASES.get(plain, plain))
    except (LookupError, ValueError):
        diagnostics.report("SM213", f"there is no encoding {name[:60]!r}")
        return None
    if not info._is_text_encoding or info.name in _NOT_FOR_DOCUMENTS:
        diagnostics.report("SM213", f"{name[:60]!r} is no encoding of documents")
        return None
    if info.name == "utf-8-sig":
        return _UTF_8
    if info.name.startswith(("utf-16", "utf-32")):
        wide = _wide_codec(info.name, head)
        if wide is None:
            diagnostics.report("SM213", f"the document is not in {name[:60]!r}")  # it could be read
        return wide
    return _SUPERSETS.get(info.name, info.name)
