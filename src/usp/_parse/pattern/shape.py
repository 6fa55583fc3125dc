"""The shape of an entry: its elements and attributes, without their texts.

The shape of one entry is read from its bytes. Shapes of several entries are merged: elements that
some entries lack become optional, and elements of one name in a row become a run. An entry with
comments, text beside elements or entries inside it has no shape, and is left to expat.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from usp._parse.values.plain import ANY_TEXT_OR_CDATA
from usp._parse.xml.grammar import Grammar, Tag
from usp._parse.xml.namespaces import NamespaceScope

_MAX_TOKENS: Final = 2000
_MAX_DEPTH: Final = 12
_MAX_ELEMENTS: Final = 100
"""How many elements a shape has at most, where those of one name in a row count once: its pattern
would be too large."""
MAX_WAYS: Final = 8
"""In how many ways an element is written at most: trying more of them is slower than expat."""
_CDATA: Final = "<![CDATA["
_VALUE: Final = {quote: rf"[^{quote}<\x00-\x1f]*+" for quote in "\"'"}
"""An attribute's value as written; expat would change line breaks and tabs in it."""
CHECKED: Final = frozenset(_VALUE.values())
UNCHECKED: Final = {_VALUE[quote]: f"[^{quote}]*+" for quote in _VALUE}
"""The same for text that is known to match: twice as fast."""
_S: Final = "[ \t\r\n]"
BLANKS: Final = f"{_S}*+"
_NAME: Final = r"""[^ \t\r\n<>/!?"'=&;]+"""
_TOKEN: Final = re.compile(
    rf"<(?:(?P<end>/{_NAME}{_S}*)>"
    rf"|(?P<name>{_NAME})(?P<attributes>(?:{_S}+{_NAME}{_S}*={_S}*(?:\"[^\"<]*\"|'[^'<]*'))*+)"
    rf"(?P<rest>{_S}*(?P<empty>/?)>))(?P<text>{ANY_TEXT_OR_CDATA})"
)
_ATTRIBUTE: Final = re.compile(
    rf"(?<!{_S})(?P<before>{_S}++)(?P<name>{_NAME})(?P<equals>{_S}*+={_S}*+)"
    rf"(?P<quote>[\"'])(?P<value>.*?)(?P=quote)",
    re.DOTALL,
)
_NOT_PLAIN: Final = re.compile(r"[&\x00-\x1f]")
_OTHER_MARKUP: Final = re.compile(r"<\?|<!(?!\[CDATA\[)")


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its tags as patterns, and its tag in the grammar."""

    name: str
    start: tuple[str, ...]
    """The start tag in parts: every second one is the value of an attribute of the grammar."""
    end: str
    """The end tag; empty for an element that has none."""
    keys: tuple[str, ...]
    """The keys of those attributes."""
    tag: Tag | None
    slots: tuple["Slot", ...] | None
    """Its children; None for text."""
    cdata: bool = False
    """Whether some or all of its text may be in CDATA."""
    gap: str = ""
    """The whitespace before it; ``BLANKS`` if it varies."""
    end_gap: str = ""
    """The same before its end tag, if it has children."""
    key: str = ""
    """What its name means where it was read."""

    @property
    def names(self) -> dict[str, str]:
        """The keys of all elements, by their names as written."""
        inner = (element for slot in self.slots or () for element in slot.elements)
        return {self.name: self.key} | {
            name: key for element in inner for name, key in element.names.items()
        }

    @property
    def declares_namespaces(self) -> bool:
        """Whether a start tag in it declares a namespace."""
        inner = (element for slot in self.slots or () for element in slot.elements)
        own = any("xmlns" in piece for piece in self.start[::2])
        return own or any(element.declares_namespaces for element in inner)

    @property
    def size(self) -> int:
        """The number of elements in it, with itself."""
        slots = self.slots or ()
        return 1 + sum(element.size for slot in slots for element in slot.elements)

    @property
    def ways(self) -> int:
        """How often the same part of an entry may be tried before the match fails."""
        tried: Counter[str] = Counter()
        for slot in self.slots or ():
            tried[slot.name] += sum(element.ways for element in slot.elements)
        return max(tried.values(), default=1)

    def merged(self, other: "Element") -> "Element | None":
        """Return an element that covers both; None if their tags differ."""
        same = (self.start, self.end) == (other.start, other.end)
        cdata = self.cdata or other.cdata
        if not same or (self.slots is None) != (other.slots is None):
            return None
        return replace(
            self,
            slots=None if self.slots is None else _merged(self.slots, other.slots or ()),
            cdata=cdata,
            gap=_same_gap(self.gap, other.gap),
            end_gap=_same_gap(self.end_gap, other.end_gap),
        )


@dataclass(frozen=True, slots=True)
class Slot:
    """A position for an element, or for a run of elements of one name."""

    elements: tuple[Element, ...]
    """The alternatives."""
    optional: bool = False
    repeated: bool = False

    @property
    def name(self) -> str:
        """The name of the elements, as written."""
        return self.elements[0].name

    @property
    def is_run(self) -> bool:
        """Whether there is more than one element, or more than one alternative."""
        return self.repeated or len(self.elements) > 1

    def with_element(self, element: Element) -> "Slot":
        """Return a slot that covers this element as well; raise if there are too many ways."""
        for at, known in enumerate(self.elements):
            if both := known.merged(element):
                others = self.elements[:at], self.elements[at + 1 :]
                return replace(self, elements=(*others[0], both, *others[1]))
        if len(self.elements) > MAX_WAYS:  # one more is enough to leave all of them to expat
            raise _NoShapeError
        return replace(self, elements=(*self.elements, element))

    def merged(self, other: "Slot") -> "Slot":
        """Return a slot that covers both."""
        slot = replace(
            self,
            optional=self.optional or other.optional,
            repeated=self.repeated or other.repeated,
        )
        for element in other.elements:
            slot = slot.with_element(element)
        return slot


def _same_gap(one: str, other: str) -> str:
    return one if one == other else BLANKS


def _merged(ours: tuple[Slot, ...], theirs: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """Return slots that cover both sequences, each in its own order."""
    merged: list[Slot] = []
    last = {slot.name: at for at, slot in enumerate(ours)}
    at = 0
    for slot in theirs:
        if last.get(slot.name, -1) < at:
            merged.append(replace(slot, optional=True))
            continue
        while ours[at].name != slot.name:
            merged.append(replace(ours[at], optional=True))
            at += 1
        merged.append(ours[at].merged(slot))
        at += 1
    return (*merged, *(replace(known, optional=True) for known in ours[at:]))


def merge_shapes(one: Element, other: Element) -> Element | None:
    """Return the shape that covers both; None if there is none, or it would be too large."""
    try:
        merged = one.merged(other)
    except _NoShapeError:
        return None
    return merged if merged and merged.size <= _MAX_ELEMENTS else None


def shape_of(entry: str, grammar: Grammar, scope: NamespaceScope) -> Element | None:
    """Return the shape of an entry that expat has read; None if it has none."""
    if scope.base or _OTHER_MARKUP.search(entry):
        return None
    tokens = list(islice(_TOKEN.finditer(entry), _MAX_TOKENS + 1))
    try:
        shape = _ShapeReader(grammar, tokens).read(None, scope, 0)
    except _NoShapeError:
        return None
    return shape if shape.slots and shape.size <= _MAX_ELEMENTS else None


class _NoShapeError(Exception):
    """The entry isn't plain, or too large."""


class _ShapeReader:
    """Reads elements as the builder does, from tags that are known to be well-formed."""

    def __init__(self, grammar: Grammar, tokens: list[re.Match[str]]) -> None:
        if len(tokens) > _MAX_TOKENS:
            raise _NoShapeError
        self._grammar = grammar
        self._tokens = tokens
        self._at = 0

    def read(self, around: Tag | None, names: NamespaceScope, depth: int) -> Element:
        """Read the element that begins here."""
        gap = self._gap()
        token = self._next()
        if token["name"] is None or depth > _MAX_DEPTH:
            raise _NoShapeError
        attributes = list(_ATTRIBUTE.finditer(token["attributes"]))
        name = token["name"]
        names = names.inside(name, {found["name"]: found["value"] for found in attributes})
        key = names.key(name)
        if depth == 0:
            tag = self._grammar.entries.get(key)
            if tag is None or any(found["name"] == "xml:base" for found in attributes):
                raise _NoShapeError
        else:
            tag = around.children.get(key) if around and around.children else None
            if key in self._grammar.entries or (tag is None and self._grammar.extensions):
                raise _NoShapeError
        start, keys = _start_pattern(token, attributes, tag)
        if token["empty"]:
            self._no_text(token["text"])
            no_slots = () if tag and tag.children is not None else None
            return Element(name, start, "", keys, tag, no_slots, gap=gap, key=key)
        children, end, end_gap = self._children(tag, names, depth)
        if children or (tag and tag.children is not None):
            if tag and tag.children is None:
                raise _NoShapeError  # markup inside a text
            self._no_text(token["text"])
            slots = _slots(children)
            return Element(name, start, end, keys, tag, slots, False, gap, end_gap, key)
        return Element(name, start, end, keys, tag, None, _CDATA in token["text"], gap, key=key)

    def _gap(self) -> str:
        return self._tokens[self._at - 1]["text"] if self._at else ""

    def _children(
        self, tag: Tag | None, names: NamespaceScope, depth: int
    ) -> tuple[list[Element], str, str]:
        children: list[Element] = []
        while self._at < len(self._tokens):
            if self._tokens[self._at]["end"] is None:
                children.append(self.read(tag, names, depth + 1))
                continue
            end_gap = self._gap()
            end = self._next()
            if depth:
                self._no_text(end["text"])
            return children, re.escape(f"<{end['end']}>"), end_gap
        raise _NoShapeError

    def _next(self) -> re.Match[str]:
        if self._at >= len(self._tokens):
            raise _NoShapeError
        self._at += 1
        return self._tokens[self._at - 1]

    def _no_text(self, text: str) -> None:
        if text.strip(" \t\r\n"):
            raise _NoShapeError


def _start_pattern(
    token: re.Match[str], attributes: list[re.Match[str]], tag: Tag | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pattern of a start tag, in pieces, and the keys of its attributes."""
    pieces = [re.escape(f"<{token['name']}")]
    keys = []
    for found in attributes:
        name, quote = found["name"], found["quote"]
        value = _VALUE[quote]
        pieces[-1] += re.escape(f"{found['before']}{name}{found['equals']}{quote}")
        if tag and name.lower() in tag.attributes:
            keys.append(f"{tag.key}@{name.lower()}")
            pieces += [value, ""]
        elif name == "xmlns" or name.startswith("xmlns:"):
            if _NOT_PLAIN.search(found["value"]) or not found["value"].isascii():
                raise _NoShapeError
            pieces[-1] += re.escape(found["value"])
        else:
            pieces[-1] += value
        pieces[-1] += quote
    pieces[-1] += re.escape(token["rest"])
    return tuple(pieces), tuple(keys)


def _slots(children: list[Element]) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    for child in children:
        if slots and slots[-1].name == child.name:
            slots[-1] = replace(slots[-1].with_element(child), repeated=True)
        else:
            slots.append(Slot((child,)))
    return tuple(slots)
