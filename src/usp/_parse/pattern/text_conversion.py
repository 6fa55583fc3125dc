"""Text conversion: from characters that stand for bytes to the text that expat would give.

The pattern reader works on a str with one character for each byte. Plain ASCII needs no conversion;
everything else is converted on access.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

_REFERENCE: Final = re.compile(r"&(#?)(x?)([0-9A-Za-z]+);")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class TextConversion(NamedTuple):
    """How the texts of a block are converted."""

    mark: str
    """Texts that contain this are converted; the empty string is in every text."""
    convert: Callable[[str], str]

    def text(self, characters: str) -> str:
        """Return the converted text."""
        return self.convert(characters) if self.mark in characters else characters


def _references(text: str) -> str:
    return _REFERENCE.sub(_referred, text)


def _referred(match: re.Match[str]) -> str:
    number, hexadecimal, said = match.groups()
    return chr(int(said, 16 if hexadecimal else 10)) if number else _NAMED[said]


def _anything(characters: str) -> str:
    if not characters.isascii():
        characters = characters.encode("latin-1").decode()
    if "\r" in characters:
        characters = characters.replace("\r\n", "\n").replace("\r", "\n")
    return _references(characters) if "&" in characters else characters


AS_IT_IS: Final = TextConversion("<", str)
"""No conversion: no text contains a ``<``."""
REFERENCES: Final = TextConversion("&", _references)
ANYTHING: Final = TextConversion("", _anything)


def conversion_for(block: bytes) -> TextConversion:
    """Return the conversion that the texts of a block need."""
    if not block.isascii() or b"\r" in block:
        return ANYTHING
    return REFERENCES if b"&" in block else AS_IT_IS
