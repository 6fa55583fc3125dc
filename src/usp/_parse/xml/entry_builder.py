"""From XML events to the records of entries, in the same way whichever reader sends the events.

The expat reader, recovery and the push parsers of 1.8.1 call it. It follows the grammar: between
entries, unknown elements are entered; inside an entry they are skipped, or recorded where the
grammar has ``extensions``.
"""

from collections.abc import Callable, Mapping
from typing import Final

from usp._parse.xml import markup_in_texts as markup
from usp._parse.xml.bare_url import add_bare_url
from usp._parse.xml.between_entries import BetweenEntries
from usp._parse.xml.builder_state import BuilderState, KnownElements, OpenElement
from usp._parse.xml.grammar import URL_KEYS, Grammar, Tag
from usp._parse.xml.namespaces import NamespaceScope, StructureProblems
from usp._parse.xml.nesting import Nesting, is_long_path
from usp._parse.xml.unknown_elements import UnknownElements
from usp.objects.page import Record

Entry = tuple[str, Record, int]
"""An entry's name (``url``, ``sitemap``, ``item``, ``entry``), its record, and its offset."""

IMPLIED_ROOT: Final = "_"  # opened around entries without a root element
MAX_DEPTH: Final = 500
"""How many nested elements are distinguished; deeper ones are counted only."""


class EntryBuilder:
    """Builds the record of each entry, and appends those that are complete to ``completed``."""

    def __init__(self, grammar: Grammar, scope: NamespaceScope | None = None) -> None:
        """Start before the root element, or, with a scope, inside of it."""
        self.completed: list[Entry] = []
        self.position: Callable[[], int] = int
        """Returns the current offset; called when an entry starts or ends."""
        self.entry_start: int | None = None
        """The offset of the current entry; None between entries."""
        self.last_entry_end = 0
        """The offset at which the last completed entry ended."""
        self.unclosed_entries: list[int] = []
        """The offsets of entries that were not closed before the next one started."""
        self.unfinished: list[int] = []
        """The offsets of entries that end inside of a field, or before their URL."""
        self.structure_problems = scope.problems if scope else StructureProblems()
        self._grammar = grammar
        self._entries = grammar.entries
        self._scope = scope or NamespaceScope(grammar.namespace, self.structure_problems)
        self.open_record: list[tuple[str, str]] = []  # that of the current entry so far
        self._entry: Tag | None = None
        self._text: list[str] = []
        self._bare_text = ""  # the first text in the entry that is in no element
        self._between = BetweenEntries(grammar)
        self._unknown = UnknownElements(self._text)
        self._children: KnownElements = grammar.entries
        self._known = self._scope.names.tags[id(grammar.entries)]
        self._leaf: Tag | None = None  # the open field, if it has a text: it is not on the stack
        self._leaf_name = ""
        self.nesting = Nesting()
        self._entry_depth = 0  # how many elements are around the current entry
        self._stack: list[OpenElement] = []
        if scope:
            self._stack.append((grammar.entries, None, scope, IMPLIED_ROOT))

    @property
    def path(self) -> list[str]:
        """The names of the open elements around the entries, as written, outermost first."""
        return [name for children, _, _, name in self._stack if children is self._entries]

    @property
    def not_understood(self) -> str:
        """What there is beside entries, and may have been some, in words; empty if nothing is."""
        return self._between.content.not_understood(self._grammar)

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._stack) + self.nesting.around + self.nesting.inside

    @property
    def scope(self) -> NamespaceScope:
        """The namespaces at this position."""
        return self._scope

    @property
    def open_root(self) -> str:
        """The name of the innermost root element that is open, as written; empty if none is."""
        return next(filter(self._grammar.is_root, reversed(self.path)), "")

    @property
    def is_between_entries(self) -> bool:
        """Whether elements around the entries are open, and nothing else."""
        return self._entry is None and self._children is self._entries and bool(self._stack)

    def state(self) -> BuilderState | None:
        """Return the state between entries; None if it depends on where something is."""
        problems = self.structure_problems.found
        if any(at is not None for _, _, at in problems):
            return None
        return BuilderState(tuple(self._stack), self._scope, self._between.content, problems)

    def restore(self, state: BuilderState) -> None:
        """Continue from such a state, in another document."""
        for problem in state.problems:
            self.structure_problems.add(*problem)
        state = state.reporting_to(self.structure_problems)
        self._stack, self._scope = list(state.stack), state.scope
        self._known = self._scope.names.tags[id(self._children)]
        self._between.content = state.other_content

    @property
    def open_text(self) -> str:
        """The text of the innermost open element so far."""
        return "".join(self._text)

    @property
    def plain_texts(self) -> bool:
        """Whether texts never contain markup."""
        return self._grammar.plain_texts

    @property
    def is_in_text(self) -> bool:
        """Whether the innermost open element contains text, or is unknown."""
        return self._leaf is not None or self._children is None

    @property
    def is_in_field(self) -> bool:
        """Whether the innermost open element is a field."""
        return self._leaf is not None or (self._children is None and bool(self._stack[-1][1]))

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        if self._leaf is not None:
            self._push_leaf()
        elif (
            not attributes
            and (tag := self._known.get(name))
            and (  # most tags
                self._entry or self._children is self._entries  # but none in an entry that was left
            )
        ):
            if tag.children is None:
                if self._text:
                    self._bare_text = self._bare_text or "".join(self._text).strip()
                    self._text.clear()
                self._leaf, self._leaf_name = tag, name
                return
            children = self._children
            if self._entry is None:
                self._start_entry(tag, attributes)
            else:
                self._children = tag.children
                self._start_field(tag, attributes)
            self._stack.append((children, tag, self._scope, name))
            self._known = self._scope.names.tags[id(tag.children)]
            return
        self._start_any(name, attributes)
        self._known = self._scope.names.tags[id(self._children)]

    def _push_leaf(self) -> None:
        """Put the open field on the stack: it contains an element."""
        self._stack.append((self._children, self._leaf, self._scope, self._leaf_name))
        self._children = self._leaf = None

    def _start_any(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag that has attributes, or was not met at this position before."""
        children, scope = self._children, self._scope
        if len(self._stack) - self._entry_depth >= MAX_DEPTH and self._is_too_deep(name):
            return
        self._scope = self._scope_inside(name, attributes)
        key = self._scope.key(name)
        tag = self._entries.get(key)
        if tag is not None and self._is_in_other:
            if self._is_refused(name, attributes):
                return
            tag = None
        if tag is not None:
            if self._entry is not None:  # it is not closed: this one is beside it
                scope = self._stack[self._entry_depth][2]
                self._scope = scope.inside(name, attributes)
            elif children is self._entries:
                self._remember(name, tag, scope)
            self._start_entry(tag, attributes)
        elif children is self._entries:
            tag = self._start_between_entries(name, key)
        elif children is not None:
            tag = children.get(key)
            self._children = tag.children if tag else None
            if self._entry:
                self._remember(name, tag, scope)
                self._start_child(tag, name, attributes)
        else:
            tag = self._start_inside_text(name, key, attributes)
        self._stack.append((children, tag, scope, name))

    def _start_child(self, tag: Tag | None, name: str, attributes: Mapping[str, str]) -> None:
        if tag is None:
            markup.start_in_entry(name, self._text)
        self._start_field(tag, attributes)
        if tag is None and self._grammar.extensions:
            self._unknown.start(self.open_record, name, self._scope.namespace(name), attributes)

    def _is_refused(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Tell whether a tag shows that the current entry, with others in it, is to be repaired."""
        if self.nesting.start_inner(len(self._stack), self.position()):
            return False
        if not self.nesting.asks_for_repair():
            self.leave_unclosed_entry()
            self._start_any(name, attributes)
        return True

    def _scope_inside(self, name: str, attributes: Mapping[str, str]) -> NamespaceScope:
        scope = self._scope
        if scope.base and not self._stack and self._grammar.is_root(name):
            scope = scope.of_another_root()
        return scope.inside(name, attributes) if attributes or not scope.has_root else scope

    def _remember(self, name: str, tag: Tag | None, scope: NamespaceScope) -> None:
        """Let ``start`` find the tag of a name directly the next time, also in other documents."""
        if tag and self._scope is scope and name in scope.names.keys:
            self._known[name] = tag

    @property
    def _is_in_other(self) -> bool:
        """Whether we are in a group or an unknown element of an entry, which may have a <url>."""
        if self._entry is None:
            return False
        if self._children is None:
            return self._stack[-1][1] is None
        return self._children is not self._entry.children

    def end(self, _name: str = "") -> None:
        """Handle an end tag: it closes the innermost element."""
        if self._leaf is not None:
            self.open_record.append((self._leaf.key, markup.joined(self._text)))
            self._text.clear()
            self._leaf = None
            return
        if not self._stack:
            return
        nesting, is_around = self.nesting, self._children is self._entries
        if (nesting.inside or nesting.around) and nesting.end_deep(is_around=is_around):
            return
        self._children, tag, scope, name = self._stack.pop()
        self._scope = scope if self._stack else self._scope.after(scope, is_root=tag is None)
        self._known = self._scope.names.tags[id(self._children)]
        if self._entry is None:
            return
        if tag is None:
            self._end_unknown(name)
        elif tag.children is None:
            self.open_record.append((tag.key, markup.joined(self._text)))
            self._text.clear()
            if self._children is self._entries:
                self.finish_entry()  # a <loc> outside of any entry
        elif tag is self._entry:
            self.finish_entry()

    def text(self, data: str) -> None:
        """Handle character data; between entries it is only checked."""
        if self._entry is not None:
            self._text.append(data)
        elif self._stack and data.strip():
            self._report(*self._between.in_text(data, len(self._stack), self._stack[-1][3]))

    def finish_entry(self) -> None:
        """Complete the current entry with what was read of it."""
        if self._entry is None:
            return
        if bare_text := self._bare_text or "".join(self._text).strip():
            self._report(*add_bare_url(bare_text, self._entry.key, self.open_record, self._grammar))
        self.completed.append((self._entry.key, self.open_record, self.entry_start or 0))
        self.last_entry_end = self.position()
        self.discard_entry()

    def discard_entry(self) -> None:
        """Forget the current entry."""
        self._entry = self._leaf = self.entry_start = None
        self.open_record = []
        self._text.clear()
        self._bare_text = ""
        self._unknown.open = self._entry_depth = 0
        self.nesting.leave_entry()

    def leave_entry(self) -> bool:
        """Discard the current entry and close its elements; tell whether any were open."""
        self.discard_entry()
        self.nesting.around = 0
        was_inside = self._children is not self._entries
        while self._stack and (self._children is not self._entries or is_long_path(self._stack)):
            self._children, _, self._scope, _ = self._stack.pop()
        self._known = self._scope.names.tags[id(self._children)]
        return was_inside

    def leave_unclosed_entry(self) -> None:
        """Complete the current entry, which the next one shows to be unclosed, and leave it."""
        if self._entry is not None:
            self._finish_unclosed_entry()
        self.leave_entry()

    def _finish_unclosed_entry(self) -> None:
        self.unclosed_entries.append(self.entry_start or 0)
        if self.notes_open_url():
            self.open_record.append((self._grammar.url_field, markup.before_markup(self._text)))
            self._text.clear()
        elif self.is_in_field or (self.open_record and URL_KEYS.isdisjoint(dict(self.open_record))):
            self.unfinished.append(self.entry_start or 0)
        self.finish_entry()

    def notes_open_url(self) -> bool:
        """Tell whether the current entry ends inside of its URL; remember it if so."""
        fields = [self._leaf, *[place[1] for place in self._stack[self._entry_depth :]]]
        is_open = self._grammar.url_field in [field.key for field in fields if field]
        if is_open:
            self.unfinished.append(self.entry_start or 0)
        return is_open

    def close_elements_inside(self, name: str) -> list[str] | None:
        """Close the open elements inside the one of this name; None if that isn't open."""
        if name not in self.path:
            return None
        closed: list[str] = []
        while (inner := self._stack[-1][3]) != name:
            closed.append(inner)
            self.end()
        return closed

    def open_elements(self) -> tuple[OpenElement, OpenElement] | None:
        """Return the outermost and the innermost open element in the entry, before a start tag."""
        if self._leaf is not None:
            self._push_leaf()
        outermost = self._entry_depth + 1
        return (self._stack[outermost], self._stack[-1]) if outermost < len(self._stack) else None

    def _report(self, *problems: tuple[str, str]) -> None:
        for code, message in problems:
            self.structure_problems.add(code, message, self.position())

    def _is_too_deep(self, name: str) -> bool:
        """Count an element that is nested too deep; False for an entry, which is read anywhere."""
        if self._scope.peek(name) in self._entries and not self._is_in_other:
            return False
        self._report(("SM211", f"elements are nested more than {MAX_DEPTH} deep"))
        self.nesting.start_deep(is_around=self._children is self._entries)
        return True

    def _start_inside_text(self, name: str, key: str, attributes: Mapping[str, str]) -> Tag | None:
        """Handle a start tag inside a text, or inside an unknown element.

        A field inside another one is read as if it followed it.
        """
        if self._unknown.open:
            self._unknown.start(self.open_record, name, self._scope.namespace(name), attributes)
            return None
        siblings, outer, scope, outer_name = self._stack[-1]
        if outer is None:
            return None
        self._report(*markup.start_in_text(name, self._text, outer, self._grammar))
        tag = siblings.get(key) if siblings and self.plain_texts else None
        if tag is None or self._entry is None:
            return None
        self.open_record.append((outer.key, "".join(self._text)))
        self._text.clear()
        self._stack[-1] = (siblings, None, scope, outer_name)
        self._children = tag.children
        self._start_field(tag, attributes)
        return tag

    def _start_between_entries(self, name: str, key: str) -> Tag | None:
        """Enter an element around the entries; a <loc> there is an entry of its own."""
        parent = self._stack[-1][3] if self._stack else ""
        self._report(*self._between.in_element(key, len(self._stack), parent))
        namespace, _, local = key.rpartition(":")
        in_other_namespace = namespace == "?" or (namespace and ":" not in name)
        if in_other_namespace and (entry := self._entries.get(local)):
            # An element around it declares another default namespace.
            self._report(("SM219", "entries are in another namespace"))
            self._scope = self._scope.with_own(name)
            self._start_entry(entry, {})
            return entry
        if key != self._grammar.url_field or self._grammar.implied_entry is None:
            return None
        implied = self._entries[self._grammar.implied_entry]
        self._start_entry(implied, {})
        self._children = None
        self._report(("SM211", "there is a <loc> outside of any entry"))
        return implied.children[key] if implied.children else None

    def _start_entry(self, entry: Tag, attributes: Mapping[str, str]) -> None:
        if self._entry is not None:
            self._finish_unclosed_entry()
        self._entry = entry
        self._entry_depth = len(self._stack)
        self._children = entry.children
        self.entry_start = self.position()
        self._text.clear()
        if self._scope.base:
            self.open_record.append(("xml:base", self._scope.base))
        if entry.attributes and attributes:
            self.open_record += entry.fields_of(attributes, self._scope.attribute)

    def _start_field(self, tag: Tag | None, attributes: Mapping[str, str]) -> None:
        if tag is None or tag.children is None:
            if self._text and not self._bare_text:
                self._bare_text = "".join(self._text).strip()
            self._text.clear()
        else:
            self.open_record.append((tag.key, ""))
        if tag and tag.attributes and attributes:
            self.open_record += tag.fields_of(attributes)

    def _end_unknown(self, name: str) -> None:
        if self.nesting.is_inner(len(self._stack)):
            self.nesting.end_inner(self.position())
        if self._unknown.open:
            self._unknown.end(self.open_record)
        elif self._children is not None:
            self._text.clear()  # the text of an element that isn't recorded
        else:
            markup.end_in_text(name, self._text, self._stack[-1][1])
