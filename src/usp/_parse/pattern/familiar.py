"""Which documents begin like an earlier one: for those, a pattern is worth its cost.

A few entries don't save what it costs to learn their pattern, but a generator writes many documents
with few entries. So the first one of its kind is read as a tree, and those that follow by patterns.
"""

import re
from typing import Final

from usp._parse.pattern.stretch import split_stretch
from usp._parse.values.bounded_cache import keep
from usp._parse.xml.boundaries import boundaries_for
from usp._parse.xml.grammar import Grammar

_FIRST_ENTRY: Final = re.compile(rb"<(url|sitemap)(?=[\s>])")
_MAX_KEPT: Final = 1024
_MAX_LENGTH: Final = 4096
"""How many shapes are kept, and how long their entries are."""

_met: dict[tuple[int, str], None] = {}
"""The shapes of first entries, with the identity of a format's table, which is never freed."""


def begins_like_another(document: bytes, grammar: Grammar) -> bool:
    """Tell whether an earlier document began with an entry of the same shape; remember this one."""
    start = _FIRST_ENTRY.search(document)
    if start is None:
        return False
    end_tag = b"</%s>" % start[1]
    end = document.find(end_tag, start.end(), start.end() + _MAX_LENGTH)
    if end < 0:
        return False
    written = document[start.start() : end + len(end_tag)].decode("utf-8", "replace")
    has_sections = "<!" in written
    stretch = split_stretch(
        written,
        end_tag.decode(),
        boundaries_for(grammar),
        has_sections=has_sections,
        has_references=False,
    )
    if stretch is None:
        return False
    key = id(grammar.entries), stretch.shapes[0]
    if key in _met:
        return True
    keep(_met, key, None, _MAX_KEPT)
    return False


def forget_familiar() -> None:
    """Forget all of them."""
    _met.clear()
