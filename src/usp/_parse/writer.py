"""From a shape to the pattern that matches entries of that shape.

The pattern has two ways to match. In the *plain* way every value is of a kind that means what is
written: a URL without anything odd, a text without references, blanks around it or letters outside
of ASCII. Elements that stand in a row have groups of their own there, as many as were seen and a
few more. In the *general* way a value is anything without a ``<``, and a row is one group.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from usp._parse.layout import SURE, Item, Layout, Looks
from usp._parse.plain import ANY_TEXT, PLAIN_TEXT
from usp._parse.shape import Element, Slot

_MAX_GROUPS: Final = 180
_MAX_PATTERN: Final = 40_000
_MOST_UNROLLED: Final = 12
"""Longer rows than this are one group in either way."""
_SPARE: Final = 3
"""So many elements more than were seen may stand in a row."""
_BLANKS: Final = "[ \t\r\n]*+"
_NEVER: Final = "|(?!)()"
"""The last group of each pattern, which is never there."""
_PENDING: Final = -2
"""Stands for a group that isn't known yet."""


def looks_of(shape: Element, plain: Mapping[str, str], *, blanks: bool) -> Looks | None:
    """Return what entries of a shape look like; None if the pattern would be too large.

    ``plain`` has the patterns of those keys whose plain values aren't just words; without any,
    there is no plain way. ``blanks`` tells whether there are any between the tags. Behind the entry
    there may always be some: so a match ends where the next one begins.
    """
    gap = _BLANKS if blanks else ""
    plainly = _Writer(gap, plain=plain) if plain else None
    mark = plainly.content(shape, "", sure=True) if plainly else None
    if plainly and (mark is None or not plainly.is_small):
        plainly = None
    general = _Writer(gap, first_group=plainly.groups if plainly else 0)
    general.content(shape, "", sure=True)
    if not general.is_small:
        return None
    ways = [f"{writer.text}{_BLANKS}" for writer in (plainly, general) if writer]
    pattern = re.compile("|".join(ways) + _NEVER)
    nothing = pattern.groups - 1
    layout = Layout(tuple(general.items), nothing)
    if plainly is None or mark is None:
        return Looks(pattern, layout)
    return Looks(pattern, layout, Layout(tuple(plainly.items), nothing, plain=True), mark)


class _Writer:
    """Writes one of the ways, and takes note of what its groups mean."""

    def __init__(
        self,
        gap: str,
        *,
        first_group: int = 0,
        plain: Mapping[str, str] | None = None,
        silent: bool = False,
    ) -> None:
        self.items: list[Item] = []
        self.groups = first_group
        self._pattern: list[str] = []
        self._gap = gap
        self._plain = plain
        self._silent = silent  # write no groups

    @property
    def text(self) -> str:
        return "".join(self._pattern)

    @property
    def is_small(self) -> bool:
        return self.groups <= _MAX_GROUPS and sum(map(len, self._pattern)) <= _MAX_PATTERN

    def element(self, element: Element, owner: str, *, sure: bool) -> int | None:
        """Write an element that is in every match, or isn't.

        Return a group that is there if the element is, if there is one.
        """
        tag = element.tag
        begin = len(self.items)
        owner = owner or (tag.key if tag else "")
        if tag and tag.children is not None:
            self.items.append(Item(tag.key, _PENDING, owner, text=""))
        group = self.content(element, owner, sure=sure)
        if tag and tag.children is None and not element.end:
            self.items.append(Item(tag.key, _PENDING, owner, text=""))
        self._pattern.append(self._gap)
        pending = [
            at for at, item in enumerate(self.items[begin:], begin) if item.group == _PENDING
        ]
        if pending and group is None and not sure:
            group = self._group("", None)
        for at in pending:
            known = SURE if sure or group is None else group
            self.items[at] = replace(self.items[at], group=known)
        return group

    def content(self, element: Element, owner: str, *, sure: bool) -> int | None:
        """Write the tags of an element, and what stands between them."""
        inside: list[int | None] = []
        for at, piece in enumerate(element.start):
            if at % 2:
                inside.append(self._value(element.keys[at // 2], piece, owner))
            else:
                self._pattern.append(piece)
        if element.slots is not None:
            self._pattern.append(self._gap)
            inside += [self._slot(slot, owner, sure=sure) for slot in element.slots]
        elif element.end and element.tag:
            inside.append(self._value(element.tag.key, ANY_TEXT, owner))
        elif element.end:
            self._pattern.append(ANY_TEXT)
        self._pattern.append(element.end)
        return next((group for group in inside if group is not None), None)

    def _slot(self, slot: Slot, owner: str, *, sure: bool) -> int | None:
        unrolled = self._plain is not None and len(slot.elements) == 1
        if not slot.is_run or (unrolled and slot.most <= _MOST_UNROLLED):
            for at in range(slot.most + _SPARE if slot.is_run else 1):
                if at or slot.optional:
                    self._pattern.append("(?:")
                    self.element(slot.elements[0], owner, sure=False)
                    self._pattern.append(")?+")
                else:
                    group = self.element(slot.elements[0], owner, sure=sure)
            return None if slot.optional else group
        self._run(slot)
        return None

    def _run(self, slot: Slot) -> None:
        groups = self._alternatives(slot)
        pattern = f"(?:{self._alternatives(slot, silent=True).text})*+"
        if groups.items:
            apart = re.compile(groups.text + _NEVER)
            layout = Layout(tuple(groups.items), apart.groups - 1, pattern=apart)
            self._group(pattern, Item("", self.groups, run=layout))
        else:
            self._pattern.append(pattern)

    def _alternatives(self, slot: Slot, *, silent: bool = False) -> "_Writer":
        writer = _Writer(self._gap, silent=silent)
        for at, element in enumerate(slot.elements):
            writer._pattern.append("|" if at else "")
            writer.element(element, "", sure=len(slot.elements) == 1)
        return writer

    def _value(self, key: str, pattern: str, owner: str) -> int | None:
        """Write a value that is wanted; return its group, if it has one."""
        plain = pattern if self._plain is None else self._plain.get(key, PLAIN_TEXT)
        if plain.isalpha():  # it is always the same
            self._pattern.append(plain)
            self.items.append(Item(key, _PENDING, owner, text=plain))
            return None
        return self._group(plain, Item(key, self.groups, owner))

    def _group(self, pattern: str, item: Item | None) -> int | None:
        if self._silent:
            self._pattern.append(pattern)
            return None
        self._pattern.append(f"({pattern})")
        if item:
            self.items.append(item)
        self.groups += 1
        return self.groups - 1
