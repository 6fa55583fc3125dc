"""From a shape to a pattern, and from a match of that pattern to a record.

A layout is the pattern of a shape and what each of its groups means. A match gives a record that
is little more than the texts of the groups: what they say is made of them when it is asked for. A
run of elements is one group, which is taken apart when it is asked for.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Final

from usp._parse.builder import Entry
from usp._parse.shape import Element, Slot

Groups = tuple[str | None, ...]
Row = Groups
"""What an element or a group says, in the order in which it was asked; None for nothing."""
Convert = Callable[[str], str]
"""From characters that stand for the document's bytes to the text that expat makes of them."""

_MAX_GROUPS: Final = 90
_MAX_PATTERN: Final = 20_000
_NOTHING: Final = (None,)
_AMPERSAND: Final = "&amp;"
_SURE: Final = -1
"""Stands for the group of what is in every match."""
_TEXT: Final = "[^<]*+"
_BLANKS: Final = "[ \t\r\n]*+"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a match may say."""

    key: str
    group: int
    mark: bool = False
    """It says that an element is there, which has no text."""
    run: "Layout | None" = None
    """The group is a run of such elements."""

    @property
    def keys(self) -> set[str]:
        """All the keys that may come of it."""
        return {self.key} if self.run is None else self.run.keys


@dataclass(frozen=True, slots=True)
class Part:
    """Where in a match an element or a group stands, and how to pick what it says."""

    pick: Callable[[Groups], Groups] | None
    """Picks what was asked for from the groups, with nothing behind them; None to take them all."""
    mark: int = _SURE
    """It is there if this group is."""
    others: tuple[int, ...] = ()
    """The groups of all else that belongs to it: such a one may stand alone, without the mark."""
    run: int = _SURE
    """The group of a run of such elements, where there is one: the rest holds for each of them."""
    pattern: re.Pattern[str] | None = None
    """What takes such a run apart."""
    plain: re.Pattern[str] | None = None
    """What takes those apart of which all that is asked for is plain."""
    begins: str = ""
    """How each element of a run begins."""

    def rows(self, groups: Groups, convert: Convert | None) -> list[Row] | None:
        """Return what each of the elements or groups says; None if it isn't clear."""
        if self.pattern:
            run = groups[self.run] or ""
            rows = _taken_apart(self.pattern, run)
            if convert and convert(run) is run:
                convert = None
        elif self.mark != _SURE and groups[self.mark] is None:
            alone = any(at == _SURE or groups[at] is not None for at in self.others)
            return None if alone else []
        else:
            rows = [groups]
        if self.pick:
            rows = [self.pick(row + _NOTHING) for row in rows]
        if convert:
            rows = [tuple([text and convert(text) for text in row]) for row in rows]
        return rows

    def plain_rows(self, groups: Groups) -> list[Row]:
        """Return the same of a run in which all is plain; nothing for another one."""
        run = groups[self.run]
        if not run or not self.plain:
            return []
        if "&" in run:
            if run.count("&") != run.count(_AMPERSAND):
                return []
            run = run.replace(_AMPERSAND, "&")
        rows = _taken_apart(self.plain, run)
        if len(rows) != run.count(self.begins):
            return []
        return [self.pick(row + _NOTHING) for row in rows] if self.pick else rows


def _taken_apart(pattern: re.Pattern[str], run: str) -> list[Row]:
    """Return the groups of each match; where there is no text, "" and None mean the same."""
    if pattern.groups > 1:  # then findall gives tuples
        return pattern.findall(run)
    return [match.groups() for match in pattern.finditer(run)]


@dataclass(slots=True, eq=False)
class Layout:
    """The pattern of a shape, and what its groups mean, in the document's order."""

    pattern: re.Pattern[str]
    items: tuple[Item, ...]
    begins: str = ""
    """How the elements begin, where it is the layout of a run of them."""
    plain: Callable[[Mapping[str, str]], re.Pattern[str]] | None = None
    """Makes the pattern of a run in which these keys have texts of these patterns."""
    where: dict[str, tuple[int, ...]] = field(init=False, default_factory=dict)
    """The groups of each key."""
    scattered: set[str] = field(init=False, default_factory=set)
    """The keys that have to be looked for."""

    def __post_init__(self) -> None:
        for item in self.items:
            if item.run or item.mark:
                self.scattered |= item.keys
            else:
                self.where[item.key] = (*self.where.get(item.key, ()), item.group)
        for key in self.scattered:
            self.where.pop(key, None)

    @property
    def keys(self) -> set[str]:
        """All that may be said."""
        return {*self.where, *self.scattered}

    def pairs(self, groups: Groups, convert: Convert | None) -> Iterator[tuple[str, str]]:
        """Yield what a match says."""
        for item in self.items:
            text = "" if item.group == _SURE else groups[item.group]
            if text is None:
                continue
            if item.run:
                for match in item.run.pattern.finditer(text):
                    yield from item.run.pairs(match.groups(), convert)
            elif item.mark:
                yield item.key, ""
            else:
                yield item.key, convert(text) if convert else text

    def may_say(self, prefix: str) -> bool:
        """Tell whether a key may come of it that begins so."""
        return any(key.startswith(prefix) for key in self.keys)

    def only(self, key: str) -> int | None:
        """Return the one group that may say this; None if there isn't just one."""
        groups = self.where.get(key, ())
        return groups[0] if len(groups) == 1 else None

    def part(
        self, mark: str, prefix: str, keys: tuple[str, ...], plain: Mapping[str, str]
    ) -> Part | None:
        """Find the one element or group of all that begins so; None if it isn't clear.

        ``plain`` has the patterns of what is plain under those keys, if that is of interest.
        """
        mine = [item for item in self.items if any(key.startswith(prefix) for key in item.keys)]
        if not mine:
            return NOWHERE
        if len(mine) == 1 and (run := mine[0].run):
            part = run.part(mark, prefix, keys, {})
            if part is None or part.pattern or part.mark != _SURE:
                return None
            plainly = run.plain(plain) if plain and run.plain else None
            at = mine[0].group
            return replace(part, run=at, pattern=run.pattern, plain=plainly, begins=run.begins)
        groups = {item.key: item.group for item in mine}
        if len(groups) < len(mine) or any(item.run for item in mine):
            return None
        if mark not in (mine[0].key, mine[-1].key):
            return None
        picked = [groups.get(key, self.pattern.groups) for key in keys]
        everything = picked == list(range(self.pattern.groups))
        others = tuple(group for key, group in groups.items() if key != mark)
        return Part(None if everything else itemgetter(*picked), groups[mark], others)


NOWHERE: Final = Part(None)
"""What was asked for is in no match."""


class Said:
    """The record of a match: what ``list`` makes of it is what the careful lane gives."""

    __slots__ = ("_convert", "_groups", "_layout")

    def __init__(self, layout: Layout, groups: Groups, convert: Convert | None) -> None:
        self._layout = layout
        self._groups = groups
        self._convert = convert

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._layout.pairs(self._groups, self._convert)

    def first(self, key: str) -> str:
        """Return what is said first under this key, if anything is."""
        groups = self._layout.where.get(key)
        if groups is None:
            return next(iter(self.texts(key)), "")
        for group in groups:
            text = self._groups[group]
            if text is not None:
                return self._convert(text) if self._convert else text
        return ""

    def texts(self, key: str) -> list[str]:
        """Return all that is said under this key."""
        groups = self._layout.where.get(key)
        if groups is None:
            scattered = key in self._layout.scattered
            return [text for known, text in self if known == key] if scattered else []
        found = []
        for group in groups:
            text = self._groups[group]
            if text is not None:
                found.append(self._convert(text) if self._convert else text)
        return found

    def may_say(self, prefix: str) -> bool:
        """Tell whether anything can be said under a key that begins so."""
        return self._layout.may_say(prefix)


@dataclass(frozen=True, slots=True)
class Run:
    """Entries that look alike, matched one behind the other."""

    name: str
    zero: int
    """The place in the document that the matches count from."""
    layout: Layout
    convert: Convert | None
    matches: list[re.Match[str]]

    def rows(self) -> list[Groups]:
        """Return the groups of each entry."""
        return [match.groups() for match in self.matches]

    def column(self, rows: list[Groups], key: str) -> list[str] | None:
        """Return what each row says under this key; None if it isn't just one text in each."""
        place = self.layout.only(key)
        texts = [] if place is None else [text for row in rows if (text := row[place])]
        if len(texts) < len(rows):
            return None
        return list(map(self.convert, texts)) if self.convert else texts

    def __iter__(self) -> Iterator[Entry]:
        return map(self.entry, self.matches)

    def entry(self, match: re.Match[str]) -> Entry:
        """Return a match as an entry."""
        said = Said(self.layout, match.groups(), self.convert)
        return self.name, said, self.zero + match.start()


def singly(pieces: Iterable[Entry | Run]) -> Iterator[Entry]:
    """Yield entries one by one."""
    for piece in pieces:
        if isinstance(piece, Run):
            yield from piece
        else:
            yield piece


def layout_of(shape: Element, *, blanks: bool) -> Layout | None:
    """Return the layout of an entry's shape; None if it would be too large.

    ``blanks`` tells whether there are any between its tags. Behind it there may always be some: so
    a match ends where the next one begins.
    """
    writer = _Writer(_BLANKS if blanks else "")
    writer.content(shape, sure=True)
    writer.pattern.append(_BLANKS)
    return writer.layout() if writer.is_small else None


class _Writer:
    """Writes the pattern of a shape, and takes note of what its groups mean."""

    def __init__(
        self, gap: str, *, silent: bool = False, plain: Mapping[str, str] | None = None
    ) -> None:
        self.pattern: list[str] = []
        self._items: list[Item] = []
        self._groups = 0
        self._gap = gap
        self._silent = silent  # write no groups
        self._plain = plain or {}  # the patterns of texts that aren't just any

    @property
    def is_small(self) -> bool:
        return self._groups <= _MAX_GROUPS and sum(map(len, self.pattern)) <= _MAX_PATTERN

    def layout(self) -> Layout:
        return Layout(self.compiled(), tuple(self._items))

    def compiled(self) -> re.Pattern[str]:
        return re.compile("".join(self.pattern))

    def element(self, element: Element, *, sure: bool) -> None:
        """Write an element that is in every match, or isn't."""
        tag = element.tag
        if tag and tag.children is not None:
            self._mark(tag.key, sure=sure)
        self.content(element, sure=sure)
        if tag and tag.children is None and not element.end:
            self._mark(tag.key, sure=sure)
        self.pattern.append(self._gap)

    def content(self, element: Element, *, sure: bool) -> None:
        """Write the tags of an element, and what stands between them."""
        for at, piece in enumerate(element.start):
            if at % 2:
                self._group(piece, Item(element.keys[at // 2], self._groups))
            else:
                self.pattern.append(piece)
        if element.slots is not None:
            self.pattern.append(self._gap)
            for slot in element.slots:
                self._slot(slot, sure=sure)
        elif element.end and element.tag:
            self._group(_TEXT, Item(element.tag.key, self._groups))
        elif element.end:
            self.pattern.append(_TEXT)
        self.pattern.append(element.end)

    def _slot(self, slot: Slot, *, sure: bool) -> None:
        if slot.repeated or len(slot.elements) > 1:
            self._run(slot)
        elif slot.optional:
            self.pattern.append("(?:")
            self.element(slot.elements[0], sure=False)
            self.pattern.append(")?+")
        else:
            self.element(slot.elements[0], sure=sure)

    def _run(self, slot: Slot) -> None:
        layout = self._alternatives(slot).layout()
        layout.begins = f"<{slot.name}"
        layout.plain = lambda plain: self._alternatives(slot, plain=plain).compiled()
        pattern = f"(?:{''.join(self._alternatives(slot, silent=True).pattern)})*+"
        if layout.items:
            self._group(pattern, Item("", self._groups, run=layout))
        else:
            self.pattern.append(pattern)

    def _alternatives(
        self, slot: Slot, *, silent: bool = False, plain: Mapping[str, str] | None = None
    ) -> "_Writer":
        writer = _Writer(self._gap, silent=silent, plain=plain)
        for at, element in enumerate(slot.elements):
            writer.pattern.append("|" if at else "")
            writer.element(element, sure=len(slot.elements) == 1)
        return writer

    def _mark(self, key: str, *, sure: bool) -> None:
        if sure:
            self._items.append(Item(key, _SURE, mark=True))
        else:
            self._group("", Item(key, self._groups, mark=True))

    def _group(self, pattern: str, item: Item) -> None:
        if self._silent:
            self.pattern.append(pattern)
            return
        self.pattern.append(f"({self._plain.get(item.key, pattern)})")
        self._items.append(item)
        self._groups += 1
