"""What the texts of a shape mean: found out by having expat read a sample of it.

In the sample, each text and each value of an attribute is replaced by its own number. The record
that the expat reader gives for it then tells which text is under which key. So the expat reader
alone decides what an entry means.

What a child of an entry gives does not depend on the other children. So it is kept for each child,
and an entry whose children are known needs no sample.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from xml.parsers import expat

from usp._parse.pattern.layout import Element
from usp._parse.pattern.shape import TAG, VALUE, declares_namespaces, name_of, tags_of
from usp._parse.xml.audit_builder import builder_for
from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.grammar import UNKNOWN, Grammar
from usp._parse.xml.namespaces import NamespaceScope, StructureProblems

_NUMBER: Final = re.compile("-([0-9]+)-")
EMPTY: Final = -1
"""Instead of the index of a text: there is none, as in an element that only contains others."""
_MAX_TAGS: Final = 400
"""Entries with more of them are left to expat."""


NameProblem = tuple[str, str]
"""The code and the message of a problem with a name, which is that of the whole document."""


class ChildPattern(NamedTuple):
    """What a child of an entry gives, or the start tag of the entry itself.

    Texts and values are counted from the first of the child.
    """

    keys: Element
    texts: tuple[int, ...]
    """For each key the index of its text; those of attributes follow the other texts."""
    gaps: tuple[int, ...]
    """Which of the texts must be blank."""
    tags: int
    values: int
    names: Mapping[str, str]
    """The keys of all elements by their names as written: where a name means something else, this
    is of no use."""
    problems: tuple[NameProblem, ...]
    """The problems with these names."""


def split_children(shape: str, boundaries: EntryBoundaries) -> list[str] | None:
    """Return the start tag of an entry and the shapes of its children.

    None if they aren't nested as they should be, are too many, or if one is named like an entry.
    """
    tags = tags_of(shape)
    if len(tags) > _MAX_TAGS or boundaries.occur_in("".join(f"<{tag}>" for tag in tags[1:])):
        return None
    children = tags[:1]
    depth = 0
    for tag in tags[1:]:
        if depth:
            children[-1] += TAG + tag
        else:
            children.append(tag)
        if tag.startswith("/"):
            depth -= 1
        elif not tag.endswith("/"):
            depth += 1
    return children if not depth else None


def learn(
    shapes: list[str], grammar: Grammar, scope: NamespaceScope
) -> tuple[list[ChildPattern], str | None]:
    """Return what the children of an entry give, up to one that has to be left to expat.

    Also return the key of the entry; None if there is one, or anything else for which the entry is
    left to expat.
    """
    problems = StructureProblems()
    scope = scope.reporting_to(problems)
    builder = builder_for(grammar, scope)
    sample = _Sample(builder, scope, problems)
    children: list[ChildPattern] = []
    try:
        for shape in shapes:
            children.append(sample.read(shape))  # noqa: PERF401 -- those before an error count
        sample.end(name_of(shapes[0]))
    except (expat.ExpatError, _UnclearError):
        return children, None
    if len(builder.completed) != 1 or builder.unclosed_entries or problems.found:
        return children, None
    key, record, _ = builder.completed[0]
    is_clear = len(list(record)) == sum(len(child.keys) for child in children)
    return children, key if is_clear else None


class _UnclearError(Exception):
    """A record doesn't tell which texts it is from."""


class _Sample:
    """An entry with numbers for texts, which expat reads child by child."""

    def __init__(
        self, builder: EntryBuilder, scope: NamespaceScope, problems: StructureProblems
    ) -> None:
        self._builder = builder
        self._scope = scope
        self._problems = problems
        self._read = 0  # how much of the record is that of earlier children
        self._free: set[int] = set()  # the texts that need not be blank
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
        parser.Parse("<_>", False)
        parser.StartElementHandler = builder.start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = self._text

    def _text(self, data: str) -> None:
        if self._builder.is_in_text:
            self._free.update(map(int, _NUMBER.findall(data)))
        self._builder.text(data)

    def read(self, shape: str) -> ChildPattern:
        """Read a child, or the start tag of the entry; return what it gives."""
        tags = tags_of(shape)
        self._free.clear()
        self._parser.Parse("".join(_numbered(tags)), False)
        record = self._builder.open_record
        pairs, self._read = record[self._read :], len(record)
        problems = self._problems.forget()
        if any(at is not None for _, _, at in problems):
            raise _UnclearError
        names = () if declares_namespaces(shape) else map(name_of, tags)
        keys = {name: self._scope.key(name) for name in names if name}
        self._problems.forget()
        return ChildPattern(
            tuple(key for key, _ in pairs),
            tuple(_index(key, text) for key, text in pairs),
            tuple(at for at in range(len(tags)) if at not in self._free),
            len(tags),
            shape.count(VALUE),
            keys,
            tuple((code, message) for code, message, _ in problems),
        )

    def end(self, name: str) -> None:
        """Read the end tag of the entry."""
        self._parser.Parse(f"</{name}></_>", True)


def _numbered(tags: list[str]) -> Iterator[str]:
    """Yield the tags of a child with numbers for the texts after them, and for values."""
    value = len(tags)
    for at, tag in enumerate(tags):
        pieces = tag.split(VALUE)
        yield f"<{pieces[0]}"
        for piece in pieces[1:]:
            yield f"-{value}-{piece}"
            value += 1
        yield ">"
        following = tags[at + 1] if at + 1 < len(tags) else ""
        if following.startswith("/") and not tag.startswith("/") and not tag.endswith("/"):
            yield f"-{at}-"


def _index(key: str, text: str) -> int:
    """Return which text or value stands under a key."""
    number = _NUMBER.fullmatch(text)
    # The text of what is unexpected is its name.
    if key.startswith(UNKNOWN) or (text and not number):
        raise _UnclearError
    return int(number[1]) if number else EMPTY
