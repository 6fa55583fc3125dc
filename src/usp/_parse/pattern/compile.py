"""Compiles a shape to the regular expression that matches entries of that shape.

There are two ways to match, each with its expression. In the *plain* way every value means what is
written: a URL without anything odd, a text of visible characters with valid references or in CDATA,
without surrounding whitespace; and the whitespace before a tag is that of the entries that were
learned from. Nothing in such an entry can be malformed. In the *general* way a value is anything
without a ``<``, except as CDATA, and whitespace may vary. A run of elements of one name is one
group, which a pattern of its own splits.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from usp._parse.pattern.groups import SURE, EntryPattern, GroupLayout, Item, Way
from usp._parse.pattern.shape import BLANKS, CHECKED, MAX_WAYS, UNCHECKED, Element, Slot
from usp._parse.values.plain import (
    ANY_TEXT,
    ANY_TEXT_OR_CDATA,
    PLAIN_ATTRIBUTE,
    PLAIN_TEXT,
    SAFE_TEXT,
    or_in_cdata,
)

_MAX_GROUPS: Final = 90
_MAX_PATTERN: Final = 20_000
_NEVER: Final = "|(?!)()"
"""The last group of the pattern, which never matches."""
_PENDING: Final = -2
"""Instead of a group index that isn't known yet."""


def compile_pattern(shape: Element, plain: Mapping[str, str]) -> EntryPattern | None:
    """Return the pattern of entries of a shape; None if it would be too large.

    ``plain`` has the patterns of those keys whose plain values aren't just words; without any,
    there is no plain way. A match includes the whitespace behind the entry, so it ends where the
    next one begins.
    """
    if shape.ways > MAX_WAYS:
        return None
    general = _PatternWriter()
    general.content(shape, "", sure=True)
    if not general.is_small:
        return None
    plainly = _PatternWriter(plain=plain) if plain else None
    if plainly:
        plainly.content(shape, "", sure=True)
    small = plainly is not None and plainly.is_small
    return EntryPattern(
        shape, shape.names, general.way(), plainly.way() if plainly and small else None
    )


class _PatternWriter:
    """Writes one of the two ways, and records what its groups mean."""

    def __init__(
        self,
        *,
        plain: Mapping[str, str] | None = None,
        silent: bool = False,
        unchecked: bool = False,
    ) -> None:
        self.items: list[Item] = []
        self.groups = 0
        self._pattern: list[str] = []
        self._plain = plain
        self._silent = silent  # write no groups
        self._unchecked = unchecked  # the text is known to match

    @property
    def text(self) -> str:
        return "".join(self._pattern)

    def way(self) -> Way:
        """Compile what was written."""
        layout = GroupLayout(tuple(self.items), plain=self._plain is not None)
        return Way(re.compile(f"{self.text}{BLANKS}{_NEVER}"), layout)

    @property
    def is_small(self) -> bool:
        return self.groups <= _MAX_GROUPS and sum(map(len, self._pattern)) <= _MAX_PATTERN

    def element(self, element: Element, owner: str, *, sure: bool) -> int | None:
        """Write an element; ``sure`` tells that every match has it.

        Return a group that is present if the element is; None if there is none.
        """
        tag = element.tag
        begin = len(self.items)
        owner = owner or (tag.key if tag else "")
        if tag and tag.children is not None:
            self.items.append(Item(tag.key, _PENDING, owner, text=""))
        group = self.content(element, owner, sure=sure)
        if tag and tag.children is None and not element.end:
            self.items.append(Item(tag.key, _PENDING, owner, text=""))
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
        """Write the tags of an element, and its content."""
        inside: list[int | None] = []
        for at, piece in enumerate(element.start):
            if at % 2:
                inside.append(self._value(element.keys[at // 2], piece, owner, sure=sure))
            else:
                self._pattern.append(self._unwanted(piece))
        if element.slots is not None:
            inside += [self._slot(slot, owner, sure=sure) for slot in element.slots]
        elif element.end and element.tag:
            text = ANY_TEXT_OR_CDATA if element.cdata else ANY_TEXT
            inside.append(self._value(element.tag.key, text, owner, sure=sure))
        elif element.end:
            self._pattern.append(ANY_TEXT if self._plain is None else SAFE_TEXT)
        if element.slots is not None:
            self._pattern.append(self._gap(element.end_gap))
        self._pattern.append(element.end)
        return next((group for group in inside if group is not None), None)

    def _slot(self, slot: Slot, owner: str, *, sure: bool) -> int | None:
        element = slot.elements[0]
        repeats = bool(self._plain and element.tag and element.tag.repeats)
        if slot.is_run or repeats:
            self._run(slot)
        elif slot.optional:
            self._pattern += ["(?:", self._gap(element.gap)]
            self.element(element, owner, sure=False)
            self._pattern.append(")?+")
        else:
            self._pattern.append(self._gap(element.gap))
            return self.element(element, owner, sure=sure)
        return None

    def _unwanted(self, piece: str) -> str:
        """Return a part of a start tag, with safe text for the values that aren't captured."""
        for value in CHECKED if self._plain is not None else ():
            piece = piece.replace(value, SAFE_TEXT)
        return piece

    def _gap(self, blanks: str) -> str:
        return BLANKS if self._plain is None else blanks

    def _run(self, slot: Slot) -> None:
        groups = self._alternatives(slot, unchecked=True)
        pattern = f"(?:{self._alternatives(slot, silent=True).text})*+"
        if groups.items:
            layout = GroupLayout(tuple(groups.items), pattern=re.compile(groups.text))
            self._group(pattern, Item("", self.groups, run=layout))
        else:
            self._pattern.append(pattern)

    def _alternatives(
        self, slot: Slot, *, silent: bool = False, unchecked: bool = False
    ) -> "_PatternWriter":
        writer = _PatternWriter(plain=self._plain, silent=silent, unchecked=unchecked)
        for at, element in enumerate(slot.elements):
            writer._pattern.append("|" if at else "")
            if not unchecked:
                writer._pattern.append(self._gap(element.gap))
            writer.element(element, "", sure=len(slot.elements) == 1)
        return writer

    def _value(self, key: str, pattern: str, owner: str, *, sure: bool) -> int | None:
        """Write a value that is captured; return its group, if it has one."""
        plain = pattern if self._plain is None else _plain_pattern(self._plain.get(key), pattern)
        if plain.isalpha():  # a constant
            self._pattern.append(plain)
            self.items.append(Item(key, _PENDING, owner, text=plain, sure=sure))
            return None
        written = UNCHECKED.get(pattern, pattern) if self._unchecked else plain
        return self._group(written, Item(key, self.groups, owner, sure=sure))

    def _group(self, pattern: str, item: Item | None) -> int | None:
        if self._silent:
            self._pattern.append(pattern)
            return None
        self._pattern.append(f"({pattern})")
        if item:
            self.items.append(item)
        self.groups += 1
        return self.groups - 1


def _plain_pattern(known: str | None, pattern: str) -> str:
    """Return the pattern of a plain value, given the one of its key, if it has any."""
    if pattern not in {ANY_TEXT, ANY_TEXT_OR_CDATA}:
        return known or PLAIN_ATTRIBUTE
    plain = known or PLAIN_TEXT
    return or_in_cdata(plain) if pattern == ANY_TEXT_OR_CDATA else plain
