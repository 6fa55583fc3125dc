"""Text cleaning: whitespace, control characters, entities, HTML to text, lists in a text.

What a cleaned text means as a value is decided elsewhere: ``urls``, ``numbers``, ``dates``,
``enumerations``.
"""

import re
from html import unescape
from html.entities import html5
from typing import Final

from usp._parse.values.bounded_cache import bounded_cache

# Zero-width spaces and the byte order mark, which str.strip() ignores, and what it removes.
WHITESPACE: Final = "\u200b\u200c\u200d\u2060\ufeff" + "".join(
    filter(str.isspace, map(chr, range(0x3001)))
)
CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""The characters that XML can't contain, and DEL."""
CONTROL_BYTES: Final = bytes([*range(9), *range(14, 32), 127])
"""Those of them that are one byte, without the two that separate words in a tag (VT, FF)."""
NULL_BLOCK: Final = bytes(16)
"""As many null bytes in a row are no stray characters: a disk or a cache has lost a piece of the
document, and what stands before and after them doesn't belong together."""
_ENTITY: Final = re.compile(
    r"&(?:#([0-9]{1,9})|#[xX]([0-9A-Fa-f]{1,8})|([A-Za-z][A-Za-z0-9]{0,31}));"
)
_HTML_TAG: Final = re.compile(r"</?[A-Za-z!][^<>]*+>")
_LEADING_ZEROS: Final = re.compile(r"(?<=&#)0++(?=[0-9])")
_HUGE_REFERENCE: Final = re.compile(r"&#[0-9]{8,}+;?")
_LAST_CODE_POINT: Final = 0x10FFFF


def remove_control_characters(text: str) -> str:
    """Return the text without the characters that XML can't contain."""
    return CONTROL_CHARACTERS.sub("", text) if CONTROL_CHARACTERS.search(text) else text


def decode_entities(text: str) -> str:
    """Decode the entities that end in ``;`` and are known; leave everything else as written."""
    return _ENTITY.sub(_decode_entity, text) if "&" in text and ";" in text else text


def _decode_entity(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return html5.get(f"{name};", match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return remove_control_characters(chr(code)) if code <= _LAST_CODE_POINT else ""


def clean_text(text: str) -> str:
    """Return the text trimmed, without control characters, with entities decoded once more."""
    if "&" in text:
        text = decode_entities(text)
    if text.isprintable():  # most texts, in any script: there are no blanks but spaces in them
        return text.strip(" ")
    return remove_control_characters(text).strip(WHITESPACE)


def text_or_none(text: str | None) -> str | None:
    """Return the cleaned text, or None if it is empty."""
    return (text and clean_text(text)) or None


def cached_text_or_none(text: str | None) -> str | None:
    """Return the same as ``text_or_none``, for a text that many entries share."""
    return _cached_text_or_none(text) if text else None


@bounded_cache(1024)
def _cached_text_or_none(text: str) -> str | None:
    return clean_text(text) or None


def decode_html(html: str) -> str:
    """Decode all references as HTML does, also those without ``;``."""
    if "&#" in html:
        # html.unescape() raises ValueError for a number of thousands of digits.
        html = _HUGE_REFERENCE.sub("\ufffd", _LEADING_ZEROS.sub("", html))
    return unescape(html)


def html_to_text(html: str) -> str:
    """Return the text of an HTML fragment, in one line."""
    return " ".join(decode_html(_HTML_TAG.sub("", html)).split())


def split_words(text: str) -> tuple[str, ...]:
    """Return the parts of a list separated by spaces or commas, such as ``video:restriction``."""
    return tuple(clean_text(text).replace(",", " ").split())


def split_commas(text: str | None) -> list[str]:
    """Return the parts of a list separated by commas, such as ``news:keywords``."""
    if not text:
        return []
    cleaned = clean_text(text)
    if cleaned.isascii():
        return split_plain_commas(cleaned)
    return [part for piece in cleaned.split(",") if (part := piece.strip(WHITESPACE))]


def split_plain_commas(text: str) -> list[str]:
    """Return the same for a text that needs no cleaning."""
    return list(filter(None, map(str.strip, text.split(","))))


def decode_line(line: bytes) -> str:
    """Return a line of a text document, trimmed."""
    return line.decode("utf-8", "replace").strip(WHITESPACE)


def clean_line(line: str) -> str:
    """Return such a line without control characters, trimmed again."""
    return line if line.isprintable() else remove_control_characters(line).strip(WHITESPACE)
