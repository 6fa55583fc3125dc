"""Text conversion: from a text as it is written to the text that expat would give.

Most texts need none; the others are converted on access.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from usp._parse.values.text import clean_text, split_commas, split_plain_commas

_REFERENCE: Final = re.compile(r"&(#?)(x?)([0-9A-Za-z]+);")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_CDATA: Final = re.compile(r"<!\[CDATA\[((?:[^\]]++|\](?!\]>))*+)(?:\]\]>|\Z)")


class TextConversion(NamedTuple):
    """How the texts of a block are converted."""

    mark: str
    """Texts that contain this are converted; the empty string is in every text."""
    convert: Callable[[str], str]

    def text(self, written: str) -> str:
        """Return the converted text."""
        return self.convert(written) if self.mark in written else written


def _decode_references(text: str) -> str:
    if "&#" in text:
        return _REFERENCE.sub(_decode_reference, text)
    for name in ("lt", "gt", "quot", "apos", "amp"):  # the last one may create others
        text = text.replace(f"&{name};", _NAMED[name])
    return text


def _decode_reference(match: re.Match[str]) -> str:
    number, hexadecimal, digits = match.groups()
    return chr(int(digits, 16 if hexadecimal else 10)) if number else _NAMED[digits]


def _convert_anything(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "<" not in text:
        return _decode_references(text) if "&" in text else text
    # Every second part is the content of CDATA, in which nothing is a reference.
    parts = _CDATA.split(text)
    parts[::2] = map(_decode_references, parts[::2])
    return "".join(parts)


AS_IT_IS: Final = TextConversion("<", str)
"""No conversion: no text contains a ``<``."""
REFERENCES: Final = TextConversion("&", _decode_references)
ANYTHING: Final = TextConversion("", _convert_anything)


def conversion_for(block: bytes) -> TextConversion:
    """Return the conversion that the texts of a block need."""
    if b"\r" in block or b"<![CDATA[" in block:
        return ANYTHING
    return REFERENCES if b"&" in block else AS_IT_IS


def plain_text(written: str | None) -> str | None:
    """Return the value of a plain text, given as it is written; None if there is none."""
    if written and ("&" in written or written.startswith("<")):
        return clean_text(_convert_anything(written)) or None
    return written or None


def plain_list(written: str | None) -> list[str] | None:
    """Return the parts of a plain text that are separated by commas; None if there is none."""
    if written and ("&" in written or written.startswith("<")):
        return split_commas(_convert_anything(written))
    return split_plain_commas(written) if written else None
