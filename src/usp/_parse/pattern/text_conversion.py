"""Text conversion: from a text as it is written to the text that expat would give."""

from typing import Final

from usp._parse.pattern.unsafe import BAD_REFERENCE
from usp._parse.values.plain import SEPARATOR

SECTION: Final = "\x02"
"""Stands around the number of a CDATA section, in the place of that section."""
COMMENT: Final = "\x03"
"""Stands in the place of a comment."""
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def decode_references(text: str) -> str | None:
    """Decode the five entities of XML and references to characters; None if one may be invalid."""
    first, *others = text.split("&")
    if not others:
        return text
    # Of all references, nearly all are this one.
    pieces = [f"&{after[4:]}" if after.startswith("amp;") else _decode(after) for after in others]
    return None if None in pieces else first + "".join(pieces)  # type: ignore[arg-type]


def _decode(after: str) -> str | None:
    """Return what follows an ``&``, with the reference decoded; None if it may be invalid."""
    if BAD_REFERENCE.match(f"&{after}"):
        return None
    name, _, rest = after.partition(";")
    if not name.startswith("#"):
        return _NAMED[name] + rest
    number = name[1:]
    return chr(int(f"0{number}", 0) if number.startswith("x") else int(number)) + rest


def convert_texts(texts: list[str], sections: list[str]) -> list[str] | None:
    """Return texts as expat gives them, given the CDATA sections that they refer to.

    None if there may be an invalid reference in one.
    """
    together = SEPARATOR.join(texts)
    has_sections = SECTION in together or COMMENT in together
    if not has_sections and "&" not in together and "\r" not in together:
        return texts
    converted = _convert(together, sections)
    return None if converted is None else converted.split(SEPARATOR)


def _convert(text: str, sections: list[str]) -> str | None:
    if SECTION in text:
        pieces: list[str | None] = [*text.split(SECTION)]
        pieces[::2] = [decode_references(piece or "") for piece in pieces[::2]]
        pieces[1::2] = [sections[int(number or 0)] for number in pieces[1::2]]
        if None in pieces:
            return None
        text = "".join(pieces)  # type: ignore[arg-type]
    else:
        decoded = decode_references(text)
        if decoded is None:
            return None
        text = decoded
    if COMMENT in text:
        text = text.replace(COMMENT, "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
