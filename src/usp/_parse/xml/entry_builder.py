"""From the events of XML to records: the one meaning that all lanes share.

Fed by expat, by the rescue pattern_reader's tokens or by the push parsers of 1.8.1, it follows the grammar:
between entries unknown elements are looked through, inside an entry they are passed over, or
written down where the grammar wants them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from usp._parse.values.text import is_http_url
from usp._parse.xml.grammar import UNKNOWN, UNKNOWN_END, UNKNOWN_TEXT, Grammar, Tag
from usp._parse.xml.namespaces import NamespaceScope
from usp.objects.page import Record

Entry = tuple[str, Record, int]
"""An entry's name (``url``, ``sitemap``, ``item``, ``entry``), its record, where it begins."""

_Here = Mapping[str, Tag] | None
"""What may stand here; None inside a text or inside something unknown."""

_LOC: Final = "loc"
_ESCAPED_LOC: Final = re.compile(r"<loc>([^<>]*)</loc>", re.IGNORECASE)
"""A field that was escaped, or put into CDATA, with its tags."""
_MAX_DEPTH: Final = 1000
"""So many elements around the entries are told apart."""
_MAX_PATH: Final = 16
"""So many elements around the entries are bounded_cache after a fault, and so many unknown ones
inside one another are told apart: more is hostility."""


class EntryBuilder:
    """Builds the record of each entry; ``done`` fills with those that are finished."""

    def __init__(self, grammar: Grammar, position: Callable[[], int] = lambda: 0) -> None:
        self.done: list[Entry] = []
        self.position = position
        """Tells where in the document we are; asked when an entry begins."""
        self.entry_at: int | None = None
        """Where the entry began that is being read; None between entries."""
        self.finished_at = 0
        """Where the last entry that was finished ended."""
        self.unclosed: list[int] = []
        """Where entries began that were never closed before the next one."""
        self.oddities: dict[tuple[str, str], int | None] = {}
        """What is odd about the document's structure and names: problem codes and messages, and
        where each was met first; None at the root."""
        self.strays = False
        """Whether something else than entries stands in the root element."""
        self._grammar = grammar
        self._entries = grammar.entries
        self._names = NamespaceScope(grammar.own, self.oddities)
        self._record: list[tuple[str, str]] = []
        self._entry: Tag | None = None
        self._text: list[str] = []
        self._bare = ""
        self._unknown = 0  # so many unknown elements are open, where they are wanted
        self._here: _Here = grammar.entries
        self._deeper = 0
        self._stack: list[tuple[_Here, Tag | None, NamespaceScope, str]] = []

    @property
    def path(self) -> list[str]:
        """The elements that are open around the entries, as written, outermost first."""
        return [name for here, _, _, name in self._stack if here is self._entries]

    @property
    def scope(self) -> NamespaceScope:
        """The names that are in force here."""
        return self._names

    @property
    def rooted(self) -> bool:
        """Whether the root element has begun."""
        return self._names.rooted

    @property
    def root_closed(self) -> bool:
        """Whether the root element has ended."""
        return self._names.rooted and not self._stack

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element."""
        here, names = self._here, self._names
        if attributes or not names.rooted:
            self._names = names.inside(name, attributes)
        key = self._names.key(name)
        tag = None if self._in_group else self._entries.get(key)
        if tag is not None:
            self._begin(tag, attributes)
        elif here is self._entries:
            tag = self._between_entries(name, key)
            if tag is None and len(self._stack) >= _MAX_DEPTH:
                self._deeper += 1  # counted, not kept: this deep is hostility
                self._names = names
                return
        elif here is not None:
            tag = here.get(key)
            self._here = tag.children if tag else None
            if self._entry:
                self._open(tag, attributes)
                if tag is None and self._grammar.extensions:
                    self._open_unknown(name, attributes)
        elif self._unknown:
            self._open_unknown(name, attributes)
        elif self._grammar.plain_texts and self._stack and self._stack[-1][1]:
            self._note("SM211", "there is markup inside a text")
            tag = self._field_inside_text(key, attributes)
        self._stack.append((here, tag, names, name))

    @property
    def _in_group(self) -> bool:
        """Whether we are inside a group, such as an image, which may hold a <url> of its own."""
        here, entry = self._here, self._entry
        return entry is not None and here is not None and here is not entry.children

    def end(self, _name: str = "") -> None:
        """Take the end of the innermost element."""
        if self._deeper and self._here is self._entries:
            self._deeper -= 1
            return
        if not self._stack:
            return
        self._here, tag, names, _ = self._stack.pop()
        if self._stack:  # what follows the root is read as if it stood inside it
            self._names = names
        if self._entry is None:
            return
        if tag is None:
            self._close_unknown()
        elif tag.children is None:
            self._record.append((tag.key, "".join(self._text)))
            self._text.clear()
            if self._here is self._entries:
                self.finish()  # a <loc> that stands outside of any entry
        elif tag is self._entry:
            self.finish()

    def text(self, data: str) -> None:
        """Take character data; what stands between entries is looked at and not kept."""
        if self._entry is not None:
            self._text.append(data)
        elif len(self._stack) == 1 and self._grammar.plain_texts and data.strip():
            self.strays = True
            self._note("SM211", "text stands between the entries")

    def finish(self) -> None:
        """Hand over the entry that is being read, as far as it has come."""
        if self._entry is None:
            return
        if bare := self._bare or "".join(self._text).strip():
            self._take_bare_url(bare)
        self.done.append((self._entry.key, self._record, self.entry_at or 0))
        self.finished_at = self.position()
        self.abandon()

    def _take_bare_url(self, bare: str) -> None:
        """Take a URL that stands in its entry, but not in the field that it belongs in.

        In a feed it must stand beside an empty field: ``<link/>https://…``.
        """
        key = self._grammar.url_field
        said = {text.strip() for known, text in self._record if known == key}
        if any(said) or not (said or self._grammar.plain_texts):
            return
        escaped = _ESCAPED_LOC.search(bare)
        bare = escaped[1].strip() if escaped else bare
        path = self.is_child and bare.startswith("/") and " " not in bare
        if path or is_http_url(bare):
            self._record.append((key, bare))  # <sitemap>https://…</sitemap>
            self._note("SM211", f"a URL stands in its entry without a <{key}>")

    def abandon(self) -> None:
        """Forget the entry that is being read."""
        self._entry = None
        self.entry_at = None
        self._record = []
        self._text.clear()
        self._bare = ""
        self._unknown = 0

    def outside(self) -> bool:
        """Go back to between the entries; tell whether anything was left open inside one."""
        self.abandon()
        self._deeper = 0
        stale = self._here is not self._entries
        while self._stack and (self._here is not self._entries or len(self._stack) > _MAX_PATH):
            self._here, _, self._names, _ = self._stack.pop()
        return stale

    def close_to(self, name: str) -> bool:
        """Close what was left open around the entries inside the element of this name."""
        if name not in self.path:
            return False
        while self._stack[-1][3] != name:
            self.end()
        return True

    @property
    def is_child(self) -> bool:
        """Whether the entry that is being read names another sitemap."""
        return self._entry is not None and self._entry.key == "sitemap"

    def ends_text(self, name: str) -> bool:
        """Tell whether this start tag shows that an open text was never closed."""
        if self._here is not None or not self._stack:
            return False
        around, tag, _, _ = self._stack[-1]
        return tag is not None and around is not None and self._names.key(name) in around

    def _note(self, code: str, message: str) -> None:
        self.oddities.setdefault((code, message), self.position())

    def _field_inside_text(self, key: str, attributes: Mapping[str, str]) -> Tag | None:
        """Take a field that stands inside another as if it stood behind it."""
        around, outer, names, name = self._stack[-1]
        tag = around.get(key) if around else None
        if tag is None or outer is None or self._entry is None:
            return None
        self._record.append((outer.key, "".join(self._text)))
        self._text.clear()
        self._stack[-1] = (around, None, names, name)
        self._here = tag.children
        self._open(tag, attributes)
        return tag

    def _between_entries(self, name: str, key: str) -> Tag | None:
        """Look through what stands around the entries; a <loc> there is an entry of its own."""
        self.strays = self.strays or bool(self._stack)
        namespace, _, local = key.rpartition(":")
        taken = namespace == "?" or (namespace and ":" not in name)
        if taken and (entry := self._entries.get(local)):
            # Something around it has taken the namespace away.
            self._note("SM219", "entries are in another namespace")
            self._names = self._names.with_own(name)
            self._begin(entry, {})
            return entry
        if key in self._grammar.roots and self._stack:
            self._note("SM211", "a root element stands inside another")
        if key != _LOC or self._grammar.implied is None:
            return None
        implied = self._entries[self._grammar.implied]
        self._begin(implied, {})
        self._here = None
        self._note("SM211", "a <loc> stands outside of any entry")
        return implied.children[_LOC] if implied.children else None

    def _begin(self, entry: Tag, attributes: Mapping[str, str]) -> None:
        if self._entry is not None:
            self.unclosed.append(self.entry_at or 0)
            self.finish()
        self._entry = entry
        self._here = entry.children
        self.entry_at = self.position()
        self._text.clear()
        if self._names.base:
            self._record.append(("xml:base", self._names.base))
        if entry.attributes and attributes:
            self._take_attributes(entry, attributes)

    def _open(self, tag: Tag | None, attributes: Mapping[str, str]) -> None:
        if tag is None or tag.children is None:
            if self._text and not self._bare:
                self._bare = "".join(self._text).strip()
            self._text.clear()
        else:
            self._record.append((tag.key, ""))
        if tag and tag.attributes and attributes:
            self._take_attributes(tag, attributes)

    def _take_attributes(self, tag: Tag, attributes: Mapping[str, str]) -> None:
        for name, value in attributes.items():
            local = name.lower()
            if local in tag.attributes:
                self._record.append((f"{tag.key}@{local}", value))

    def _open_unknown(self, name: str, attributes: Mapping[str, str]) -> None:
        """Write an element that means nothing into the record, as it came."""
        self._unknown += 1
        if self._unknown <= _MAX_PATH:
            self._take_unknown_text()
            self._record.append((UNKNOWN, f"{self._names.namespace(name) or ''} {name}"))
            self._record.extend((f"{UNKNOWN}@{key}", value) for key, value in attributes.items())

    def _close_unknown(self) -> None:
        if not self._unknown:
            if self._here is not None:
                self._text.clear()  # nobody wants what stood in it
            return
        if self._unknown <= _MAX_PATH:
            self._take_unknown_text()
            self._record.append((UNKNOWN_END, ""))
        self._unknown -= 1

    def _take_unknown_text(self) -> None:
        if text := "".join(self._text).strip():
            self._record.append((UNKNOWN_TEXT, text))
        self._text.clear()
