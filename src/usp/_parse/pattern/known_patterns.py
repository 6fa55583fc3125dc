"""Patterns that are kept across documents, so that the second file of a generator starts fast.

A pattern never changes a result, so neither does one that was learned from another document. The
number of those that are kept, and their length, are limited: what is full is emptied, for the
documents that follow.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from usp._parse.pattern.layout import Element
from usp._parse.pattern.learning import EMPTY, ChildPattern, learn, split_children
from usp._parse.pattern.shape import TAG, declares_namespaces, has_attribute_by_namespace, name_of
from usp._parse.values.bounded_cache import keep
from usp._parse.xml.boundaries import boundaries_for
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.namespaces import NamespaceScope

_MAX_KEPT: Final = 1024
_MAX_LENGTH: Final = 4096
"""How many shapes are kept, and how long they are."""

_Format = tuple[int, bool, bool]
"""The identity of a grammar."""


@dataclass(frozen=True, slots=True)
class EntryPattern:
    """What entries of one shape give."""

    name: str
    """The key of the entry."""
    children: tuple[ChildPattern, ...]
    tags: int

    @property
    def elements(self) -> tuple[Element, ...]:
        """The children that give anything."""
        return tuple(child.keys for child in self.children if child.keys)

    @property
    def length(self) -> int:
        """The number of texts of such an entry: one before each tag, and before the end tag."""
        return self.tags + 1

    @property
    def values(self) -> int:
        """The number of values of attributes, which follow the texts."""
        return sum(child.values for child in self.children)

    @property
    def gaps(self) -> list[int]:
        """Which texts of an entry must be blank."""
        gaps, tag = [0], 0
        for child in self.children:
            gaps += [tag + at + 1 for at in child.gaps]
            tag += child.tags
        return gaps

    @property
    def texts(self) -> list[list[int]]:
        """Which texts or values each element of an entry has; ``EMPTY`` for none."""
        found, tag, value = [], 0, self.length
        for child in self.children:
            if child.keys:
                found.append(
                    [
                        at
                        if at == EMPTY
                        else tag + at + 1
                        if at < child.tags
                        else value + at - child.tags
                        for at in child.texts
                    ]
                )
            tag += child.tags
            value += child.values
        return found


_patterns: dict[tuple[_Format, str], tuple[dict[str, str], EntryPattern]] = {}
"""By the shape of an entry: the names that must have their meaning, and the pattern."""
_children: dict[tuple[_Format, str, str], ChildPattern] = {}
"""By the start tag of an entry and the shape of a child."""


def find_pattern(shape: str, grammar: Grammar, scope: NamespaceScope) -> EntryPattern | None:
    """Return a pattern that is known, if its names mean the same here."""
    found = _patterns.get((grammar.identity, shape))
    return found[1] if found and scope.means(found[0]) else None


class Learned(NamedTuple):
    """What was found out about a new shape."""

    pattern: EntryPattern | None
    """None if such entries have to be left to expat."""
    is_sampled: bool = False
    """Whether expat has read a sample."""
    refused: str = ""
    """The shape of the entries that are left to expat: this one, or all with a certain child."""


def learn_pattern(
    shape: str, grammar: Grammar, scope: NamespaceScope, refused: Container[str]
) -> Learned:
    """Return the pattern of a new shape, given those that are left to expat."""
    shapes = split_children(shape, boundaries_for(grammar))
    if shapes is None or any(with_child(shapes[0], child) in refused for child in shapes):
        return Learned(None, refused=shape)
    form, start = grammar.identity, shapes[0]
    found = {child: _children.get((form, start, child)) for child in shapes}
    known = {child: one for child, one in found.items() if one and scope.means(one.names)}
    # A child needs no sample again, but the start tag is part of each.
    unknown = [start, *(child for child in found if child not in known and child != start)]
    is_new = len(known) < len(found)
    if is_new:
        learned, key = learn(unknown, grammar, scope)
        known.update(zip(unknown, learned, strict=False))
        if key is None:
            unclear = unknown[len(learned)] if len(learned) < len(unknown) else start
            return Learned(None, True, with_child(start, unclear) if unclear != start else shape)
        name = key
    else:
        # Not before: a start tag that is new may itself declare what its name means.
        name = scope.key(name_of(start))
    children = [known[child] for child in shapes]
    pattern = EntryPattern(name, tuple(children), sum(child.tags for child in children))
    if len(shape) <= _MAX_LENGTH and all(map(_is_lasting, known, known.values())):
        names = {name: key for child in children for name, key in child.names.items()}
        keep(_patterns, (form, shape), (names, pattern), _MAX_KEPT)
    _keep_children(form, start, known)
    return Learned(pattern, is_new)


def with_child(start: str, child: str) -> str:
    """Return the shape of entries with this start tag and one child."""
    return f"{start}{TAG}{child}"


def _is_lasting(shape: str, child: ChildPattern) -> bool:
    """Tell whether a child means the same in all documents in which its names do.

    Whether a name is a problem depends on more than its meaning.
    """
    is_bound = declares_namespaces(shape) or has_attribute_by_namespace(shape)
    return not (child.problems or is_bound)


def _keep_children(form: _Format, start: str, children: Mapping[str, ChildPattern]) -> None:
    if declares_namespaces(start):
        return
    for shape, child in children.items():
        if len(shape) <= _MAX_LENGTH and _is_lasting(shape, child):
            keep(_children, (form, start, shape), child, _MAX_KEPT)


def forget_known() -> None:
    """Forget all patterns."""
    _patterns.clear()
    _children.clear()
