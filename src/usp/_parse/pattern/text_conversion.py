"""Text conversion: from a text as it is written to the text that expat would give."""

import re
from typing import Final

from usp._parse.values.bounded_cache import BoundedLookup
from usp._parse.values.plain import SEPARATOR

SECTION: Final = "\x02"
"""Stands around the number of a CDATA section, in the place of that section."""
COMMENT: Final = "\x03"
"""Stands in the place of a comment."""
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_REFERENCE: Final = re.compile("&([^;&]*+);")
_MAX_NAMES: Final = 4096
_LONGEST_NAME: Final = 12
"""How many references are remembered, and how long their names are."""


def decode_references(text: str) -> str:
    """Decode the five entities of XML and references to characters; all must be valid."""
    if "&" not in text:
        return text
    pieces = _REFERENCE.split(text)
    pieces[1::2] = map(_characters.__getitem__, pieces[1::2])
    return "".join(pieces)


def _character(name: str) -> str:
    """Return the character that a reference stands for."""
    if not name.startswith("#"):
        return _NAMED[name]
    number = name[1:]
    return chr(int(f"0{number}", 0) if number.startswith("x") else int(number))


_characters: Final = BoundedLookup(_character, _MAX_NAMES, _LONGEST_NAME)
"""By the name of a reference: texts in other scripts have hundreds of the same ones."""


def convert_texts(texts: list[str], sections: list[str]) -> list[str]:
    """Return texts as expat gives them, given the CDATA sections that they refer to."""
    together = SEPARATOR.join(texts)
    has_sections = SECTION in together or COMMENT in together
    if not has_sections and "&" not in together and "\r" not in together:
        return texts
    return _convert(together, sections).split(SEPARATOR)


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
