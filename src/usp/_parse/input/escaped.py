"""Documents that were escaped whole: shown, or put into a string, instead of being sent.

As HTML (``&lt;urlset&gt;``, also inside ``<pre>`` or the ``<string>`` of a web service), as a
string of JSON or Python, or in CDATA. Only where such a document is the first thing there is: a
page that has one somewhere in it is a page.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.entities import html5
from typing import Final


@dataclass(frozen=True, slots=True)
class Escape:
    """One way to escape a document."""

    begins: re.Pattern[bytes]
    """What such a document begins with; group 1 is all that comes before it."""
    mark: re.Pattern[bytes]
    """One escaped character: its name or code, in the one group that matches."""
    character: Callable[[re.Match[bytes]], str]
    written: Callable[[bytes], bytes]
    """Turns text back into what it was, for telling places."""


_ROOT: Final = rb"(?:\?xml|!DOCTYPE|!--|(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|feed|rdf)\b)"
_TAGS: Final = rb"(\s*+(?:<[^<>]*>\s*+)*+)"
_STRING: Final = rb"""(\s*+(?:[\[{]\s*+(?:"[^"<]{0,100}"\s*+:\s*+)?)*+b?["'](?:\s|\\[nrt])*+)"""
_LONGEST_MARK: Final = 12
_BACKSLASHED: Final = {b"n": "\n", b"r": "\r", b"t": "\t", b"b": "", b"f": ""}
_NAMES: Final = {name.encode(): html5[f"{name};"] for name in ("lt", "gt", "amp", "quot", "apos")}
_LAST_CODE_POINT: Final = 0x10FFFF


def _of_html(mark: re.Match[bytes]) -> str:
    name, decimal, hexadecimal = mark.groups()
    if name:
        return _NAMES[name.lower()]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= _LAST_CODE_POINT else ""


def _of_string(mark: re.Match[bytes]) -> str:
    code, letter = mark.groups()
    if code:
        return chr(int(code, 16))
    return _BACKSLASHED.get(letter, letter.decode("utf-8", "replace"))


def _as_html(text: bytes) -> bytes:
    return text.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _as_string(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")


ESCAPES: Final = (
    Escape(
        re.compile(_TAGS + rb"&(?:lt|#60|#x3c);" + _ROOT, re.IGNORECASE),
        re.compile(rb"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-f]{1,6}));", re.IGNORECASE),
        _of_html,
        _as_html,
    ),
    Escape(
        re.compile(_STRING + rb"(?:<|\\u003c)" + _ROOT, re.IGNORECASE),
        re.compile(rb"\\(?:[ux]((?<=u)[0-9a-fA-F]{4}|(?<=x)[0-9a-fA-F]{2})|([\x00-\x7f]))"),
        _of_string,
        _as_string,
    ),
    Escape(
        re.compile(rb"(" + _TAGS + rb"<!\[CDATA\[\s*+)<" + _ROOT, re.IGNORECASE),
        re.compile(rb"(?!)"),
        _of_html,
        bytes,
    ),
)


def find_escaped(head: bytes) -> tuple[Escape, int] | None:
    """Return how the document that begins so is escaped, and where it begins; None if it isn't."""
    for escape in ESCAPES:
        if found := escape.begins.match(head):
            return escape, found.end(1)
    return None


def unescaped(escape: Escape, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the document that was escaped, however the chunks fall."""
    held = b""
    for chunk in chunks:
        data = held + chunk
        end = _end_of_marks(data)
        data, held = data[:end], data[end:]
        yield _decode(escape, data)
    yield _decode(escape, held)


def _end_of_marks(data: bytes) -> int:
    """Return where a mark begins at the end of the data that may not be all here."""
    last = max(data.rfind(b"&", -_LONGEST_MARK), data.rfind(b"\\", -_LONGEST_MARK))
    if last < 0:
        return len(data)
    backslashes = last + 1 - len(data[: last + 1].rstrip(b"\\"))
    return len(data) if backslashes and backslashes % 2 == 0 else last


def _decode(escape: Escape, data: bytes) -> bytes:
    return escape.mark.sub(lambda mark: escape.character(mark).encode("utf-8", "replace"), data)
