"""Signs: what is odd in a malformed entry, and which faults of tags are harmless.

Where a piece of a document is missing, what is left of two tags is one that fits nowhere. So a
fault of the tags means that something may be missing, unless it has a cause that costs nothing:
a name with a typing error, an end tag that is missing before the next field or written twice, tags
of HTML, a tag that only lacks its ``>``. A fault that a template repeats is judged in
``unexplained``.
"""

import re
from itertools import takewhile
from typing import Final

from usp._parse.values.plain import CUT_SCHEME

MAX_NAME: Final = 32
_MAX_ODD: Final = 8
_HTML: Final = frozenset(
    {
        *(
            "a",
            "abbr",
            "article",
            "aside",
            "b",
            "big",
            "blockquote",
            "body",
            "br",
            "center",
            "cite",
        ),
        *("code", "dd", "del", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer"),
        *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "i", "iframe", "img"),
        *("input", "ins", "li", "main", "mark", "nav", "nobr", "ol", "p", "pre", "q", "s"),
        *("script", "section", "small", "span", "strike", "strong", "style", "sub", "sup", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul"),
        *("acronym", "address", "area", "audio", "button", "canvas", "col", "colgroup", "details"),
        *("embed", "fieldset", "kbd", "label", "legend", "map", "noscript", "object", "option"),
        *("param", "picture", "samp", "select", "summary", "svg", "textarea", "time", "var", "wbr"),
    }
)
_HARMLESS_TEXT: Final = re.compile(r"[<&,;\s]*+")
"""A text in no field of which nothing can be left: no letter, and no end of a tag."""
_CUT_TO_NOTHING: Final = re.compile(f"(?:{CUT_SCHEME})?", re.IGNORECASE)
"""What is left of a text, or of a URL, whose end is missing right after its beginning."""
_CUT_TAG: Final = re.compile(rb"<(?:/\s*+|/?+[A-Za-z_][\w.:-]*+)\Z")
"""A tag that the next one interrupts, at the end of a text."""
_INSTRUCTION: Final = re.compile(rb"<\?(?!xml\s)", re.IGNORECASE)
"""A processing instruction, and not the beginning of another document."""
_HARMLESS_DECLARATION: Final = re.compile(
    rb"\]\]>|-->|<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST)\s|<!\[\s*+(?:end)?if", re.IGNORECASE
)
"""What begins with ``<?`` or ``<!`` and is no comment; Word writes conditions into HTML."""


class Signs:
    """What shows that a malformed entry has lost something, or has run into another one."""

    __slots__ = ("bare_text", "bare_url", "dropped", "first", "last", "odd")

    def __init__(self) -> None:
        self.first = self.last = -1
        """After how many fields a tag is damaged or missing, for the first time and the last."""
        self.dropped = False
        """Whether something was dropped that may have been a part of a field."""
        self.odd: set[str] = set()
        """The faults of tags that have no harmless cause, by their kind and the tags: the same in
        each entry of a template."""
        self.bare_text = ""
        """The last text that is in no field: it is dropped, unless it is the URL."""
        self.bare_url = ""
        """The first of those texts that has a URL."""

    @property
    def tags(self) -> bool:
        """Whether tags are damaged or missing: a bare ``&`` is in none."""
        return self.first >= 0

    def note_damage(self, fields: int) -> None:
        """Note that a tag is damaged or missing, after so many fields."""
        self.first, self.last = self.first if self.tags else fields, fields

    def note_odd(self, kind: str, *names: str) -> None:
        """Note a fault of tags that has no harmless cause."""
        if len(self.odd) < _MAX_ODD:
            self.odd.add(" ".join((kind, *(name[:MAX_NAME] for name in names))))

    def settle_bare_text(self) -> None:
        """Note the last text that is in no field, unless its cause is known."""
        text, self.bare_text = self.bare_text, ""
        if text and text != self.bare_url and not _HARMLESS_TEXT.fullmatch(text):
            self.note_odd("text")

    def note_declaration(self, written: bytes) -> None:
        """Note what is written like a declaration, and is no comment."""
        self.dropped |= b"://" in written
        is_instruction = _INSTRUCTION.match(written) and written.endswith(b"?>")
        if not (is_instruction or _HARMLESS_DECLARATION.match(written)):
            self.note_odd("declaration")


def resembles(name: str, other: str) -> bool:
    """Tell whether one name is the other with a typing error, in another case or with any prefix.

    They differ by one letter, or by two that are exchanged. What is left of two names mostly
    differs more.
    """
    name, other = name.lower(), other.lower()
    if max(len(name), len(other)) > MAX_NAME:
        return False
    if name in other.split(":")[1:2] or other in name.split(":")[1:2]:
        return True
    begin = _count_common(name, other)
    name, other = name[begin:], other[begin:]
    end = _count_common(name[::-1], other[::-1])
    name, other = name[: len(name) - end], other[: len(other) - end]
    allowed = 2 if sorted(name) == sorted(other) else 1
    return begin + end > 0 and max(len(name), len(other)) <= allowed


def _count_common(name: str, other: str) -> int:
    """Return how many letters two names have in common at their beginning."""
    pairs = zip(name, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def is_html(name: str) -> bool:
    """Tell whether an element is one of HTML's, by its name in lower case."""
    return name.rpartition(":")[2] in _HTML


def is_cut_to_nothing(text: str) -> bool:
    """Tell whether nothing is left of the text of a field that has no end tag.

    Who forgets an end tag has written a text before it; where a piece is missing, both are.
    """
    return _CUT_TO_NOTHING.fullmatch(text.strip()) is not None


def ends_in_cut_tag(text: bytes) -> bool:
    """Tell whether a text that a tag follows, as written, ends in what is left of another one."""
    return b"<" in text[-MAX_NAME:] and _CUT_TAG.search(text[-MAX_NAME:]) is not None
