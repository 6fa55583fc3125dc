"""Heads: what stands before the first entry of a document, read without expat if it is known.

Of the head, only the open elements and their namespaces matter for the entries. They are the same
for every head with the same tags and namespaces, so they are kept for other documents, in a limited
number.
"""

from typing import Final

from usp._parse.pattern.shape import (
    MARKED,
    SECTION,
    keep_namespaces,
    replace_sections,
    split_attributes,
)
from usp._parse.pattern.unsafe import BAD_REFERENCE, UNSAFE, UnsafeSearch
from usp._parse.xml.entry_builder import BuilderState, EntryBuilder
from usp._parse.xml.grammar import Grammar

_MAX_KEPT: Final = 512
_MAX_LENGTH: Final = 8192
"""How many heads are kept, and how long they are."""
_BASE: Final = "xml:base"
_states: dict[tuple[int, str], BuilderState] = {}
"""By the identity of a format's table of entries, which is never freed, and by the shape."""


def find_head(head: bytes, grammar: Grammar) -> tuple[BuilderState | None, str]:
    """Return the state of the builder after a head that is known, and the shape of the head.

    The shape is empty for a head that expat must read.
    """
    if len(head) > _MAX_LENGTH:
        return None, ""
    shape = _shape(head, grammar)
    return (_states.get((id(grammar.entries), shape)) if shape else None), shape


def keep_head(shape: str, grammar: Grammar, builder: EntryBuilder) -> None:
    """Keep the state of the builder after a head that expat has read."""
    state = builder.state()
    if state is None:
        return
    if len(_states) >= _MAX_KEPT:
        _states.clear()
    _states[id(grammar.entries), shape] = state


def forget_heads() -> None:
    """Forget everything: what is read next starts as in a new process."""
    _states.clear()


def _shape(head: bytes, grammar: Grammar) -> str:
    """Return the tags and the namespaces of a head; empty if there is something odd in it."""
    try:
        written = head.decode()
    except UnicodeDecodeError:
        return ""
    if UnsafeSearch(head, written, UNSAFE).next(0) < len(written):
        return ""
    if "<!" in written:
        replaced = replace_sections(written, [])
        if replaced is None:
            return ""
        written = replaced
    if "&" in written and BAD_REFERENCE.search(written):
        return ""
    marked = written.replace("<", MARKED)
    parts = marked.split(">")
    if len(parts) != 2 * (len(marked) - len(written)) + 1:
        return ""
    split = split_attributes("".join(parts[1::2]))
    if split is None:
        return ""
    shape, _ = keep_namespaces(*split)
    # In a sitemap, a text before the entries is a problem.
    texts = "".join(parts[::2]) if grammar.plain_texts else ""
    return "" if texts.strip() or _BASE in shape or SECTION in shape else shape
