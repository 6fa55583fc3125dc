"""What the groups of a pattern mean, and how what they say is picked from them.

A match gives a record that is little more than the texts of its groups: what they say is made of
them when it is asked for. A run of elements is one group, which is taken apart when it is asked
for.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from usp._parse.pattern.text_conversion import TextConversion
from usp._parse.values.plain import unescape_plain_url
from usp._parse.xml.entry_builder import Entry

Groups = tuple[str | None, ...]
Row = Groups
"""What an element or a group says, in the order in which it was asked; None for nothing."""

GroupIndexes = tuple[int, ...]

SURE: Final = -1
"""Stands for the group of what is in every match."""
NOTHING: Final = -1
"""The last group of each pattern, which says nothing."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a match may say."""

    key: str
    group: int
    owner: str = ""
    """The key of that child of the entry to which it belongs."""
    text: str | None = None
    """What it says wherever it stands; None for the text of the group."""
    run: "GroupLayout | None" = None
    """The group is a run of such elements."""
    sure: bool = False
    """Whether every match has it."""

    @property
    def keys(self) -> set[str]:
        """All the keys that may come of it."""
        return {self.key} if self.run is None else self.run.keys


@dataclass(frozen=True, slots=True)
class Part:
    """Where in a match an element, a group or a run stands, and where in it what was asked for."""

    indexes: GroupIndexes = ()
    """The groups of what was asked for."""
    mark: int = SURE
    """It is there if this group is."""
    run: int = SURE
    """The group of a run of such elements, where there is one: the rest holds for each of them."""
    pattern: re.Pattern[str] | None = None
    """What takes such a run apart."""

    def rows(self, *, plain: bool) -> Callable[[Groups], list[Groups]]:
        """Return what finds the groups of each of the elements in those of a match.

        It is called for every page: so all that can be known before is known before.
        """
        mark, at = self.mark, self.run
        if self.pattern is None:
            if mark == SURE:
                return lambda groups: [groups]
            return lambda groups: [groups] if groups[mark] is not None else []
        findall = self.pattern.findall

        def rows_of_run(groups: Groups) -> list[Groups]:
            run = groups[at] or ""
            return findall(unescape_plain_url(run) if plain and "&" in run else run)

        return rows_of_run


NOWHERE: Final = Part()
"""What was asked for is in no match."""


@dataclass(slots=True, eq=False)
class GroupLayout:
    """What the groups of a pattern mean, in the document's order."""

    items: tuple[Item, ...]
    plain: bool = False
    """Whether all that it says means what is written, but for ``&amp;`` in URLs."""
    pattern: re.Pattern[str] | None = None
    """What takes a run of elements apart."""
    where: dict[str, tuple[int, ...]] = field(init=False, default_factory=dict)
    """The groups of each key."""
    scattered: set[str] = field(init=False, default_factory=set)
    """The keys that have to be looked for."""

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
        """All that may be said."""
        return {*self.where, *self.scattered}

    def pairs(self, groups: Groups, conversion: TextConversion) -> Iterator[tuple[str, str]]:
        """Yield what a match says."""
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

    def may_say(self, prefix: str) -> bool:
        """Tell whether a key may come of it that begins so."""
        return any(key.startswith(prefix) for key in self.keys)

    def only(self, key: str) -> int | None:
        """Return the one group that may say this; None if there isn't just one."""
        groups = self.where.get(key, ())
        return groups[0] if len(groups) == 1 else None

    def part(self, mark: str, prefix: str, keys: tuple[str, ...]) -> Part | None:
        """Find the one element, group or run of all whose key begins so; None if it isn't clear.

        What says the same wherever it stands has no place.
        """
        mine = [item for item in self.items if any(key.startswith(prefix) for key in item.keys)]
        if not mine:
            return NOWHERE
        if len(mine) == 1 and (run := mine[0].run):
            part = run.part(mark, prefix, keys)
            if part is None or part.pattern or part.mark != SURE:
                return None
            return replace(part, run=mine[0].group, pattern=run.apart(part.indexes))
        texts = {item.key: item.group for item in mine if item.text is None}
        there = [item.group for item in mine if item.key == mark]
        unclear = any(item.run or item.owner != mark for item in mine)
        if unclear or len({item.key for item in mine}) < len(mine):
            return None
        return Part(tuple(texts.get(key, NOTHING) for key in keys), there[0])

    def apart(self, indexes: GroupIndexes) -> re.Pattern[str] | None:
        """Return what takes a run apart, with groups behind the others that say nothing if needed.

        Then there are two of them: with one group in all, ``findall`` gives no tuples.
        """
        if self.pattern is None or (NOTHING not in indexes and self.pattern.groups > 1):
            return self.pattern
        return re.compile(f"(?:{self.pattern.pattern})()()")


class MatchRecord:
    """The record of a match: what ``list`` makes of it is what the expat_only pattern_reader gives."""

    __slots__ = ("_conversion", "_groups", "_layout")

    def __init__(self, layout: GroupLayout, groups: Groups, conversion: TextConversion) -> None:
        self._layout = layout
        self._groups = groups
        self._conversion = conversion

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._layout.pairs(self._groups, self._conversion)

    def first(self, key: str) -> str:
        """Return what is said first under this key, if anything is."""
        return next(iter(self.texts(key)), "")

    def texts(self, key: str) -> list[str]:
        """Return all that is said under this key."""
        groups = self._layout.where.get(key)
        if groups is None:
            scattered = key in self._layout.scattered
            return [text for known, text in self if known == key] if scattered else []
        found = [text for group in groups if (text := self._groups[group]) is not None]
        return list(map(self._conversion.text, found))

    def may_say(self, prefix: str) -> bool:
        """Tell whether anything can be said under a key that begins so."""
        return self._layout.may_say(prefix)


@dataclass(frozen=True, slots=True, eq=False)
class EntryPattern:
    """What the entries of a document look like: one pattern, which is matched in one of two ways.

    The plain way is tried first: nearly all entries say nothing that means more than is written.
    """

    pattern: re.Pattern[str]
    general: GroupLayout
    plain: GroupLayout | None = None
    mark: int = 0
    """The group that is there if the match is plain."""
    plain_pattern: re.Pattern[str] | None = None
    """The plain way alone."""

    def layout(self, groups: Groups) -> GroupLayout:
        """Tell in which way the groups were matched."""
        return self.plain if self.plain and groups[self.mark] is not None else self.general


@dataclass(frozen=True, slots=True)
class MatchRun:
    """Entries that look alike, matched one behind the other."""

    name: str
    zero: int
    """The place in the document that the matches count from."""
    looks: EntryPattern
    conversion: TextConversion
    matches: list[re.Match[str]]

    def __iter__(self) -> Iterator[Entry]:
        return map(self.entry, self.matches)

    def entry(self, match: re.Match[str]) -> Entry:
        """Return a match as an entry."""
        groups = match.groups()
        said = MatchRecord(self.looks.layout(groups), groups, self.conversion)
        return self.name, said, self.zero + match.start()


def iter_entries(pieces: Iterable[Entry | MatchRun]) -> Iterator[Entry]:
    """Yield entries one by one."""
    for piece in pieces:
        if isinstance(piece, MatchRun):
            yield from piece
        else:
            yield piece
