"""Text conversion: from a text as it is written to the text that expat would give."""

import re
from typing import Final

from usp._parse.values.plain import SEPARATOR

SECTION: Final = "\x02"
"""Stands around the number of a CDATA section, in the place of that section."""
COMMENT: Final = "\x03"
"""Stands in the place of a comment."""
_REFERENCE: Final = re.compile(r"&(#?)(x?)([0-9A-Za-z]+);")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def decode_references(text: str) -> str:
    """Decode the five entities of XML and references to characters; all must be valid."""
    if "&" not in text:
        return text
    if text.count("&") == text.count("&amp;"):
        return text.replace("&amp;", "&")
    if "&#" in text:
        return _REFERENCE.sub(_decode_reference, text)
    for name in ("lt", "gt", "quot", "apos", "amp"):  # the last one may create others
        text = text.replace(f"&{name};", _NAMED[name])
    return text


def _decode_reference(match: re.Match[str]) -> str:
    number, hexadecimal, digits = match.groups()
    return chr(int(digits, 16 if hexadecimal else 10)) if number else _NAMED[digits]


def convert_texts(texts: list[str], sections: list[str]) -> list[str]:
    """Return texts as expat gives them, given the CDATA sections that they refer to."""
    return _convert(SEPARATOR.join(texts), sections).split(SEPARATOR) if texts else texts


def _convert(text: str, sections: list[str]) -> str:
    if SECTION in text:
        pieces = text.split(SECTION)
        pieces[::2] = map(decode_references, pieces[::2])
        pieces[1::2] = [sections[int(number)] for number in pieces[1::2]]
        text = "".join(pieces)
    else:
        text = decode_references(text)
    if COMMENT in text:
        text = text.replace(COMMENT, "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
