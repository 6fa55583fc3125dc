"""From the events of XML to records: the one meaning that all lanes share.

Fed by expat, by the rescue lane's tokens or by the push parsers of 1.8.1, it follows the grammar:
between entries unknown elements are looked through, inside an entry they are passed over.
"""

from collections.abc import Callable, Mapping
from typing import Final

from usp._parse.grammar import Grammar, Tag
from usp._parse.names import Names

Entry = tuple[str, list[tuple[str, str]], int]
"""An entry's name (``url``, ``sitemap``, ``item``, ``entry``), its record, where it begins."""

_Here = Mapping[str, Tag] | None
"""What may stand here; None inside a text or inside something unknown."""

BARE_TEXT_KEY: Final = "loc"


class Builder:
    """Builds the record of each entry; ``done`` fills with those that are finished."""

    def __init__(self, grammar: Grammar, position: Callable[[], int] = lambda: 0) -> None:
        self.done: list[Entry] = []
        self.position = position
        """Tells where in the document we are; asked when an entry begins."""
        self.entry_at: int | None = None
        """Where the entry began that is being read; None between entries."""
        self.unclosed: list[int] = []
        """Where entries began inside another that was never closed."""
        self._grammar = grammar
        self._names = Names(grammar.own)
        self._record: list[tuple[str, str]] = []
        self._entry: Tag | None = None
        self._text: list[str] = []
        self._here: _Here = grammar.entries
        self._stack: list[tuple[_Here, Tag | None, Names, str]] = []

    @property
    def path(self) -> list[str]:
        """The elements that are open around the entries, as written, outermost first."""
        return [name for here, _, _, name in self._stack if here is self._grammar.entries]

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element."""
        here, names = self._here, self._names
        tag = None
        if attributes or not self._stack:
            self._names = names.inside(name, attributes)
        key = self._names.key(name)
        self._stack.append((here, tag, names, name))
        entry = self._grammar.entries.get(key)
        if entry is not None:
            self._begin(entry)
            tag = entry
        elif here is not None and here is not self._grammar.entries:
            tag = here.get(key)
            self._here = tag.children if tag else None
            if tag and self._entry:
                self._open(tag, attributes)
        if tag is not None:
            self._stack[-1] = (here, tag, names, name)

    def end(self, _name: str = "") -> None:
        """Take the end of the innermost element."""
        if not self._stack:
            return
        self._here, tag, self._names, _ = self._stack.pop()
        if tag is None or self._entry is None:
            return
        if tag.children is None:
            self._record.append((tag.key, "".join(self._text)))
            self._text.clear()
        elif tag is self._entry and self._grammar.entries.get(tag.key) is tag:
            self.finish()

    def text(self, data: str) -> None:
        """Take character data."""
        self._text.append(data)

    def finish(self) -> None:
        """Hand over the entry that is being read, as far as it has come."""
        if self._entry is None:
            return
        if not self._record and (bare := "".join(self._text).strip()):
            self._record.append((BARE_TEXT_KEY, bare))  # <sitemap>https://…</sitemap>
            self.oddities.add(("SM211", "a URL stands in its entry without a <loc>"))
        self.done.append((self._entry.key, self._record, self.entry_at or 0))
        self.abandon()

    def abandon(self) -> None:
        """Forget the entry that is being read."""
        self._entry = None
        self.entry_at = None
        self._record = []
        self._text.clear()

    def outside(self) -> None:
        """Go back to between the entries, whatever was open inside the last one."""
        self.abandon()
        while self._stack and self._here is not self._grammar.entries:
            self._here, _, self._names, _ = self._stack.pop()

    @property
    def is_child(self) -> bool:
        """Whether the entry that is being read names another sitemap."""
        return self._entry is not None and self._entry.key == "sitemap"

    @property
    def oddities(self) -> set[tuple[str, str]]:
        """What is odd about the names in the document: problem codes and messages."""
        return self._names.oddities

    def has(self, key: str) -> bool:
        """Tell whether the entry that is being read has said this already."""
        return any(known == key for known, _ in self._record)

    def ends_text(self, name: str) -> bool:
        """Tell whether this start tag shows that an open text was never closed."""
        if self._here is not None or not self._stack:
            return False
        around, tag, _, _ = self._stack[-1]
        return tag is not None and around is not None and self._names.key(name) in around

    def _begin(self, entry: Tag) -> None:
        if self._entry is not None:
            self.unclosed.append(self.entry_at or 0)
            self.finish()
        self._entry = entry
        self._here = entry.children
        self.entry_at = self.position()
        self._text.clear()
        if self._names.base:
            self._record.append(("xml:base", self._names.base))

    def _open(self, tag: Tag, attributes: Mapping[str, str]) -> None:
        if tag.children is None:
            self._text.clear()
        else:
            self._record.append((tag.key, ""))
        if tag.attributes and attributes:
            for name, value in attributes.items():
                local = name.lower()
                if local in tag.attributes:
                    self._record.append((f"{tag.key}@{local}", value))
