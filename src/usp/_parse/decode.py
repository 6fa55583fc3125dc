"""Which characters the bytes are: everything after this step is UTF-8.

The order of belief: a byte order mark, the bytes themselves where they are plainly UTF-16, the
HTTP charset, the XML declaration, UTF-8. A name that doesn't exist is passed over; bytes that
don't fit become U+FFFD. Neither is fatal, both are reported.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse.findings import Findings
from usp._parse.unpack import peek

_HEAD: Final = 1024
_MARKS: Final = (
    # The UTF-32 marks come first: the little one begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SUPERSETS: Final = {
    # Sites write the small name and use the large set (WHATWG Encoding, 4.2).
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_DECLARED: Final = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']\s*([\w.:-]+)""", re.IGNORECASE)
_UTF_8: Final = "utf-8"
_REPLACEMENT: Final = "\ufffd"


def to_utf8(
    chunks: Iterable[bytes], findings: Findings, http_charset: str | None = None
) -> Iterator[bytes]:
    """Yield the document as UTF-8, without its byte order mark."""
    head, chunks = peek(chunks, _HEAD)
    codec, mark = choose_codec(head, http_charset, findings)
    decoder = codecs.getincrementaldecoder(codec)("replace")
    damaged = False
    for chunk in chunks:
        data = chunk[mark:]
        mark = 0
        if codec == _UTF_8 and data.isascii() and not decoder.getstate()[0]:
            yield data  # what most sitemaps are: nothing to do
            continue
        text = decoder.decode(data)
        damaged = damaged or _was_replaced(text, data)
        yield text.encode()
    tail = decoder.decode(b"", final=True)
    if tail:
        damaged = True
        yield tail.encode()
    if damaged:
        findings.report("SM212", f"some bytes are not {codec} and became U+FFFD")


def _was_replaced(text: str, data: bytes) -> bool:
    return _REPLACEMENT in text and _REPLACEMENT.encode() not in data


def choose_codec(head: bytes, http_charset: str | None, findings: Findings) -> tuple[str, int]:
    """Return the codec to read with, and the length of the byte order mark to pass over."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return codec, len(mark)
    # An ASCII character in UTF-16 has a zero byte beside it; nothing else has two such pairs.
    if head[1:2] == head[3:4] == b"\0" and head[:1] != b"\0":
        return "utf-16-le", 0
    if head[:1] == head[2:3] == b"\0" and head[1:2] != b"\0":
        return "utf-16-be", 0
    declared = _DECLARED.search(head)
    for name in (http_charset, declared and declared[1].decode("ascii", "replace")):
        if name and (found := _known_codec(name, findings)):
            return found, 0
    return _UTF_8, 0


def _known_codec(name: str, findings: Findings) -> str | None:
    try:
        info = codecs.lookup(name.strip().strip("\"'"))
    except (LookupError, ValueError):
        findings.report("SM213", f"there is no encoding {name[:60]!r}")
        return None
    if not info._is_text_encoding:  # hex, rot13 and the like are codecs too
        findings.report("SM213", f"{name[:60]!r} is no encoding of text")
        return None
    if info.name.startswith(("utf-16", "utf-32")):
        return None  # the name could be read, so the bytes are not in it
    return _SUPERSETS.get(info.name, info.name)
