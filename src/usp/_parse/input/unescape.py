"""Documents that were escaped as a whole, as if to display them.

As HTML (``&lt;urlset&gt;``, also inside ``<pre>`` or the ``<string>`` of a web service), as a
string of JSON or Python, or in CDATA. The escaped document must come first: a page that contains
one somewhere is an HTML page.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.entities import html5
from typing import Final


@dataclass(frozen=True, slots=True)
class Escape:
    """One way to escape a document."""

    start: Callable[[bytes], re.Match[bytes] | None]
    """Matches the start of such a document; group 1 is everything before its first character."""
    replace: Callable[[Callable[[re.Match[bytes]], bytes], bytes], bytes]
    """Replaces each escaped character: its name or code is in the one group that matches."""
    decode: Callable[[re.Match[bytes]], str]
    """Returns the character of such a sequence."""
    encode: Callable[[bytes], bytes]
    """Escapes a text again, to compute positions in the original document."""


_ROOT: Final = rb"(?:\?xml|!DOCTYPE|!--|(?:[\w.-]++:)?(?:urlset|sitemapindex|rss|feed|rdf)\b)"
_TAGS: Final = rb"(\s*+(?:<[^<>]*+>\s*+)*+)"
_STRING: Final = rb"""(\s*+(?:[\[{]\s*+(?:"[^"<]{0,100}"\s*+:\s*+)?)*+b?["'](?:\s|\\[nrt])*+)"""
_MAX_SEQUENCE: Final = 12
_BACKSLASH_CODES: Final = {b"n": "\n", b"r": "\r", b"t": "\t", b"b": "", b"f": ""}
_NAMES: Final = {name.encode(): html5[f"{name};"] for name in ("lt", "gt", "amp", "quot", "apos")}
_LAST_CODE_POINT: Final = 0x10FFFF


def _decode_html(sequence: re.Match[bytes]) -> str:
    name, decimal, hexadecimal = sequence.groups()
    if name:
        return _NAMES[name.lower()]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= _LAST_CODE_POINT else ""


def _decode_string(sequence: re.Match[bytes]) -> str:
    code, letter = sequence.groups()
    if code:
        return chr(int(code, 16))
    return _BACKSLASH_CODES.get(letter, letter.decode("utf-8", "replace"))


def _encode_html(text: bytes) -> bytes:
    return text.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _encode_string(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")


ESCAPES: Final = (
    Escape(
        re.compile(_TAGS + rb"&(?:lt|#60|#x3c);" + _ROOT, re.IGNORECASE).match,
        re.compile(
            rb"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-f]{1,6}));", re.IGNORECASE
        ).sub,
        _decode_html,
        _encode_html,
    ),
    Escape(
        re.compile(_STRING + rb"(?:<|\\u003c)" + _ROOT, re.IGNORECASE).match,
        re.compile(rb"\\(?:[ux]((?<=u)[0-9a-fA-F]{4}|(?<=x)[0-9a-fA-F]{2})|([\x00-\x7f]))").sub,
        _decode_string,
        _encode_string,
    ),
    Escape(
        re.compile(rb"(" + _TAGS + rb"<!\[CDATA\[\s*+)<" + _ROOT, re.IGNORECASE).match,
        lambda _, text: text,
        _decode_html,
        bytes,
    ),
)


def find_escaped(head: bytes) -> tuple[Escape, int] | None:
    """Return how a document is escaped and where it starts, given its first bytes; None if not."""
    for escape in ESCAPES:
        if match := escape.start(head):
            return escape, match.end(1)
    return None


def unescape(escape: Escape, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the document unescaped; a sequence may be split over two chunks."""
    incomplete = b""
    for chunk in chunks:
        data = incomplete + chunk
        end = _end_of_complete_sequences(data)
        data, incomplete = data[:end], data[end:]
        yield _unescape(escape, data)
    yield _unescape(escape, incomplete)


def _end_of_complete_sequences(data: bytes) -> int:
    """Return where the last sequence starts, if it may continue in the next chunk, else the end."""
    last = max(data.rfind(b"&", -_MAX_SEQUENCE), data.rfind(b"\\", -_MAX_SEQUENCE))
    if last < 0:
        return len(data)
    backslashes = last + 1 - len(data[: last + 1].rstrip(b"\\"))
    return len(data) if backslashes and backslashes % 2 == 0 else last


def _unescape(escape: Escape, data: bytes) -> bytes:
    return escape.replace(lambda match: escape.decode(match).encode("utf-8", "replace"), data)
