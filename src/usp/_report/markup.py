"""HTML and SVG that are safe by construction: what isn't ``Html`` already is escaped.

Characters that change the direction of text, and controls, are percent-encoded: what a site says
must not reorder what the report says.
"""

import html as entities
from collections.abc import Iterable
from typing import Final

from usp._display import one_line

_VOID: Final = frozenset({"meta", "input", "br", "hr"})


class Html(str):
    """A text that is markup, and safe to put into a page."""

    __slots__ = ()


Part = str | int | None
Parts = Part | Iterable["Parts"]


def html(*parts: Parts) -> Html:
    """Return parts one after the other; texts are escaped, None is nothing."""
    return Html("".join(map(_markup, parts)))


def _markup(part: Parts) -> str:
    if part is None:
        return ""
    if isinstance(part, Html):
        return part
    if isinstance(part, str):
        return _escaped(part)
    return str(part) if isinstance(part, int) else html(*part)


def tag(element: str, /, *parts: Parts, **attributes: object) -> Html:
    """Return an element.

    :param attributes: by name; an underscore stands for a dash, and one at the end is dropped
        (``class_``). None and False leave it out, True is an attribute without a value.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{_escaped(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    end = "" if element in _VOID else f"{html(*parts)}</{element}>"
    return Html(f"<{element}{written}>{end}")


def _escaped(text: str) -> str:
    return entities.escape(one_line(text))
