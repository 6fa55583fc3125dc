"""From characters that stand for a document's bytes to the text that expat makes of them.

The learned pattern_reader works on a text with one character for each byte. What is plain ASCII is what it
says; all else is converted when it is asked for.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

_REFERENCE: Final = re.compile(r"&(#?)(x?)([0-9A-Za-z]+);")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class TextConversion(NamedTuple):
    """What has to be done to the texts of a block."""

    mark: str
    """It is done to texts with this in them; the empty one is in every text."""
    convert: Callable[[str], str]

    def text(self, characters: str) -> str:
        """Return the text."""
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
"""No text has a ``<`` in it."""
REFERENCES: Final = TextConversion("&", _references)
ANYTHING: Final = TextConversion("", _anything)


def conversion_for(block: bytes) -> TextConversion:
    """Tell what has to be done to texts out of a block."""
    if not block.isascii() or b"\r" in block:
        return ANYTHING
    return REFERENCES if b"&" in block else AS_IT_IS
