"""A builder that also records what no page needs: elements and attributes that the grammar lacks.

An audit of a document uses it; plain reading has no part of its cost.
"""

from collections.abc import Mapping
from typing import Final

from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.grammar import Grammar, Tag
from usp._parse.xml.namespaces import NamespaceScope

UNEXPECTED: Final = "!"
"""The key of what an entry should not have: its text is the key of an element, such as ``foo`` or
``news:geo_locations``, or of an attribute, such as ``loc@type``."""
_ALWAYS_ALLOWED: Final = ("xml", "xsi:")
"""How the names of attributes start that any element may have."""


def builder_for(grammar: Grammar, scope: NamespaceScope | None = None) -> EntryBuilder:
    """Return a builder of the records that a grammar wants."""
    return (AuditEntryBuilder if grammar.audit else EntryBuilder)(grammar, scope)


class AuditEntryBuilder(EntryBuilder):
    """Builds records as its base class does, with the unexpected names among them."""

    _entry_number = 0

    def _start_entry(self, entry: Tag, attributes: Mapping[str, str]) -> None:
        self._entry_number += 1
        super()._start_entry(entry, attributes)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        children, before = None if self._leaf is not None else self._children, self._entry_number
        super().start(name, attributes)
        if self._entry is None or children is None:
            return
        key = self._scope.key(name)
        is_entry = self._entry_number > before
        tag = self._entry if is_entry else children.get(key)
        if is_entry and tag and tag.key != key:
            return  # a <loc> outside of any entry, which parsing reports
        if tag is None or tag.key != key:  # unknown, or written without its namespace
            self.open_record.append((UNEXPECTED, key))
        elif attributes and ":" not in key:
            name_of = self._scope.attribute if is_entry else str
            self.open_record.extend(
                (UNEXPECTED, f"{key}@{attribute}")
                for attribute in attributes
                if name_of(attribute) not in tag.attributes
                and not attribute.startswith(_ALWAYS_ALLOWED)
            )
