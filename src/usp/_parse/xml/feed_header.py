"""What describes a feed, before its items: a fault in it costs no item.

expat stops at a fault, and reading resumes at the next item. The element with the fault, such as
the title, is open then, though its end tag was only skipped.
"""

import re
from typing import Final

from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.signs import MAX_NAME, resembles

_END_TAG: Final = re.compile(rb"</([^\s<>]{1,%d}+)\s*+>" % MAX_NAME)


class FeedHeader:
    """Closes the elements of a feed's header that end in what is skipped."""

    def __init__(self, grammar: Grammar, builder: EntryBuilder) -> None:
        self._builder = builder
        self._around = frozenset({*grammar.roots, grammar.channel})
        self._has_header = not grammar.plain_texts

    def close_ended(self, skipped: bytes) -> None:
        """Close the innermost open element where its end tag is, then the one around it."""
        if not self._has_header or b"</" not in skipped:
            return
        path = self._builder.path
        for tag in _END_TAG.finditer(skipped):
            if not path or path[-1].lower() in self._around:
                return
            name = tag[1].decode("utf-8", "replace")
            if name.lower() == path[-1].lower() or resembles(name, path[-1]):
                self._builder.end()
                path.pop()
