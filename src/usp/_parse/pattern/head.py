"""Heads: what stands before the first entry of a document, read without expat if it is known.

Of the head, only the open elements and their namespaces matter for the entries. They are the same
for every head with the same tags and namespaces, so they are kept for other documents, in a limited
number.
"""

from typing import Final

from usp._parse.pattern.shape import MARKED, TAG, replace_sections, split_attributes
from usp._parse.pattern.text_conversion import SECTION
from usp._parse.pattern.unsafe import UnsafeSearch, has_bad_reference
from usp._parse.values.bounded_cache import keep
from usp._parse.xml.boundaries import boundaries_for
from usp._parse.xml.builder_state import BuilderState
from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.grammar import Grammar

_MAX_KEPT: Final = 512
_MAX_LENGTH: Final = 8192
"""How many heads are kept, and how long they are."""
_MAX_SAME: Final = 1024
"""How long those are that are compared as they are."""
_BASE: Final = "xml:base"
_states: dict[tuple[int, str], BuilderState] = {}
"""By the identity of a format's table of entries, which is never freed, and by the shape."""
_same: dict[tuple[int, bytes], BuilderState] = {}
"""By the head itself: that of a sitemap is the same for all files of a generator."""


def find_head(head: bytes, grammar: Grammar) -> tuple[BuilderState | None, str]:
    """Return the state of the builder after a head that is known, and the shape of the head.

    The shape is empty for a head that expat must read.
    """
    form = id(grammar.entries)
    state = _same.get((form, head))
    if state or len(head) > _MAX_LENGTH:
        return state, ""
    shape = _shape(head, grammar)
    state = _states.get((form, shape)) if shape else None
    if state and len(head) <= _MAX_SAME:
        keep(_same, (form, head), state, _MAX_KEPT)
    return state, shape


def keep_head(shape: str, grammar: Grammar, builder: EntryBuilder) -> None:
    """Keep the state of the builder after a head that expat has read."""
    if state := builder.state():
        keep(_states, (id(grammar.entries), shape), state, _MAX_KEPT)


def forget_heads() -> None:
    """Forget everything: what is read next starts as in a new process."""
    _states.clear()
    _same.clear()


def _shape(head: bytes, grammar: Grammar) -> str:
    """Return the tags and the namespaces of a head; empty if there is something odd in it."""
    written: str | None = head.decode("utf-8", "replace")
    if written is None or UnsafeSearch(head, written).next(0) < len(written):
        return ""
    if "<!" in written:
        written = replace_sections(written, [], boundaries_for(grammar))
    if written is None or has_bad_reference(written):
        return ""
    marked = written.replace("<", MARKED)
    parts = marked.split(">")
    split = split_attributes("".join(parts[1::2]))
    tags = len(marked) - len(written)
    if split is None or len(parts) != 2 * tags + 1:
        return ""
    # A text before the entries is a problem, unless it is in an element of a feed.
    texts = "".join(parts[::2] if grammar.plain_texts else _loose_texts(parts))
    shape = split[0]
    if shape.count(TAG) != tags:  # a "<" is in a text or in a value
        return ""
    return "" if texts.strip() or _BASE in shape or SECTION in shape else shape


def _loose_texts(parts: list[str]) -> list[str]:
    """Return the texts that don't stand between a start tag and an end tag."""
    tags = [part.removeprefix(TAG) for part in parts[1::2]]
    return [
        text
        for text, before, after in zip(parts[2::2], tags, [*tags[1:], ""], strict=True)
        if before.startswith("/") or before.endswith("/") or not after.startswith("/")
    ]
