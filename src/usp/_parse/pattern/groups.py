"""What the groups of a pattern mean, and how texts are read from them.

The record of a match is little more than the texts of its groups; fields are made from them on
access. A run of elements, such as images, is one group, which is split on access.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from usp._parse.pattern.shape import Element
from usp._parse.pattern.text_conversion import TextConversion
from usp._parse.xml.entry_builder import Entry

Groups = tuple[str | None, ...]
Row = Groups
"""The texts of an element or a group, in the order of the requested keys; None if absent."""

GroupIndexes = tuple[int, ...]

SURE: Final = -1
"""Instead of a group index: the item is in every match."""
NOTHING: Final = -1
"""The index of the last group of each pattern, which is always empty."""


@dataclass(frozen=True, slots=True)
class Item:
    """One key that a match may have, and its group."""

    key: str
    group: int
    owner: str = ""
    """The key of the child of the entry that contains it."""
    text: str | None = None
    """Its constant text; None if the text is that of the group."""
    run: "GroupLayout | None" = None
    """The layout of the elements, if the group is a run of them."""
    sure: bool = False
    """Whether every match has it."""

    @property
    def keys(self) -> set[str]:
        """All keys that it can give."""
        return {self.key} if self.run is None else self.run.keys


@dataclass(frozen=True, slots=True)
class Part:
    """Where a match has an element, a group or a run, and the requested keys in it."""

    indexes: GroupIndexes = ()
    """The groups of the requested keys."""
    mark: int = SURE
    """The element is present if this group is."""
    run: int = SURE
    """The group of a run of such elements, if there is one; the indexes then refer to each."""
    pattern: re.Pattern[str] | None = None
    """The pattern that splits such a run."""
    attributes_only: bool = False
    """Whether such a run has no texts but those of attributes."""

    def rows(self, *, plain: bool) -> Callable[[Groups], list[Groups]]:
        """Return a function from the groups of a match to those of each of the elements.

        It is called for every page, so everything that can be is decided before.
        """
        mark, at = self.mark, self.run
        if self.pattern is None:
            if mark == SURE:
                return lambda groups: [groups]
            return lambda groups: [groups] if groups[mark] is not None else []
        findall = self.pattern.findall
        if not (plain and self.attributes_only):
            return lambda groups: findall(groups[at] or "")

        def rows_of_run(groups: Groups) -> list[Groups]:
            run = groups[at] or ""
            return findall(run.replace("&amp;", "&") if "&" in run else run)

        return rows_of_run


NOWHERE: Final = Part()
"""No match has the requested keys."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class GroupLayout:
    """What the groups of a pattern mean, in document order."""

    items: tuple[Item, ...]
    plain: bool = False
    """Whether all texts mean what is written, except for ``&amp;`` in URLs."""
    pattern: re.Pattern[str] | None = None
    """The pattern that splits a run of elements."""
    where: dict[str, tuple[int, ...]] = field(init=False, default_factory=dict)
    """The groups of each key."""
    scattered: set[str] = field(init=False, default_factory=set)
    """The keys that are in runs or constant, and must be searched for."""

    def __post_init__(self) -> None:
        for item in self.items:
            if item.run or item.text is not None:
                self.scattered |= item.keys
            else:
                self.where[item.key] = (*self.where.get(item.key, ()), item.group)
        for key in self.scattered:
            self.where.pop(key, None)

    @property
    def keys(self) -> set[str]:
        """All keys that a match can have."""
        return {*self.where, *self.scattered}

    def pairs(self, groups: Groups, conversion: TextConversion) -> Iterator[tuple[str, str]]:
        """Yield the keys and texts of a match."""
        for item in self.items:
            text = "" if item.group == SURE else groups[item.group]
            if text is None:
                continue
            if item.run and item.run.pattern:
                for match in item.run.pattern.finditer(text):
                    yield from item.run.pairs(match.groups(), conversion)
            elif item.text is not None:
                yield item.key, item.text
            else:
                yield item.key, conversion.text(text)

    def may_have(self, prefix: str) -> bool:
        """Tell whether a match can have a key with this prefix."""
        return any(key.startswith(prefix) for key in self.keys)

    def only(self, key: str) -> int | None:
        """Return the only group of a key; None if there is not exactly one."""
        groups = self.where.get(key, ())
        return groups[0] if len(groups) == 1 else None

    def part(self, mark: str, prefix: str, keys: tuple[str, ...]) -> Part | None:
        """Return the only element, group or run with this prefix; None if there isn't just one.

        Constant texts have no group.
        """
        mine = [item for item in self.items if any(key.startswith(prefix) for key in item.keys)]
        if not mine:
            return NOWHERE
        if len(mine) == 1 and (run := mine[0].run):
            part = run.part(mark, prefix, keys)
            if part is None or part.pattern or part.mark != SURE:
                return None
            return replace(
                part,
                run=mine[0].group,
                pattern=run.apart(part.indexes),
                attributes_only=all("@" in item.key for item in run.items if item.text is None),
            )
        texts = {item.key: item.group for item in mine if item.text is None}
        there = [item.group for item in mine if item.key == mark]
        unclear = any(item.run or item.owner != mark for item in mine)
        if unclear or len({item.key for item in mine}) < len(mine):
            return None
        return Part(tuple(texts.get(key, NOTHING) for key in keys), there[0])

    def apart(self, indexes: GroupIndexes) -> re.Pattern[str] | None:
        """Return the pattern that splits a run, with empty groups at its end if needed.

        Then there are two of them: with one group in all, ``findall`` gives no tuples.
        """
        if self.pattern is None or (NOTHING not in indexes and self.pattern.groups > 1):
            return self.pattern
        return re.compile(f"(?:{self.pattern.pattern})()()")


class MatchRecord:
    """The record of a match: as a list, it is the record that the expat reader gives."""

    __slots__ = ("_conversion", "_groups", "_layout")

    def __init__(self, layout: GroupLayout, groups: Groups, conversion: TextConversion) -> None:
        self._layout = layout
        self._groups = groups
        self._conversion = conversion

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._layout.pairs(self._groups, self._conversion)

    def first(self, key: str) -> str:
        """Return the first text under a key; empty if there is none."""
        return next(iter(self.texts(key)), "")

    def texts(self, key: str) -> list[str]:
        """Return all texts under a key."""
        groups = self._layout.where.get(key)
        if groups is None:
            scattered = key in self._layout.scattered
            return [text for known, text in self if known == key] if scattered else []
        found = [text for group in groups if (text := self._groups[group]) is not None]
        return list(map(self._conversion.text, found))

    def may_have(self, prefix: str) -> bool:
        """Tell whether there can be a key with this prefix."""
        return self._layout.may_have(prefix)


class Way(NamedTuple):
    """One way in which entries are matched: with this pattern, whose groups mean that."""

    pattern: re.Pattern[str]
    layout: GroupLayout


@dataclass(frozen=True, slots=True, eq=False)
class EntryPattern:
    """The pattern of entries of one shape; it matches in one of two ways."""

    shape: Element
    """The shape that it was compiled from."""
    names: Mapping[str, str]
    """The keys of the elements, by their names as written: where a name means something else, the
    pattern is of no use."""
    general: Way
    plain: Way | None = None
    """This is tried first: in nearly all entries every text means what is written."""


@dataclass(frozen=True, slots=True)
class MatchRun:
    """Consecutive entries that match one pattern in one way."""

    name: str
    """The key of the entries."""
    start: int
    """The offset of the first entry in the document, in bytes."""
    layout: GroupLayout
    conversion: TextConversion
    matches: list[re.Match[str]]

    def __iter__(self) -> Iterator[Entry]:
        return map(self.entry, self.matches)

    def entry(self, match: re.Match[str]) -> Entry:
        """Return a match as an entry."""
        groups = match.groups()
        record = MatchRecord(self.layout, groups, self.conversion)
        return self.name, record, self.start + self._bytes_before(match)

    def _bytes_before(self, match: re.Match[str]) -> int:
        """Return the number of bytes from the first entry of the run to this one."""
        begin, end, text = self.matches[0].start(), match.start(), match.string
        return end - begin if text.isascii() else len(text[begin:end].encode())


def iter_entries(pieces: Iterable[Entry | MatchRun]) -> Iterator[Entry]:
    """Yield entries one by one."""
    for piece in pieces:
        if isinstance(piece, MatchRun):
            yield from piece
        else:
            yield piece
