"""Stray end tags: those after an entry that close nothing, and what they tell.

One of an entry is one too many; with one of a ``<loc>``, the start of its entry is missing; one may
be meant for an element whose name is misspelled.
"""

import re
from typing import Final

from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.losses import LOC_END
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.signs import resembles

_END_TAGS: Final = re.compile(
    rb"(?i)(?:\s*+(?!%b)(?:</[^<>]*+>|<!--(?:[^<-]|<(?!/)|-(?!->))*+-->))*+\s*+" % LOC_END.pattern
)
"""End tags, and comments among them in which there is none; not that of a ``<loc>``."""


class StrayEndTags:
    """Those of one document."""

    def __init__(
        self, builder: EntryBuilder, buffer: ReadBuffer, boundaries: EntryBoundaries
    ) -> None:
        self._builder = builder
        self._buffer = buffer
        self._boundaries = boundaries
        self._reached = 0  # up to this offset, there are only such tags after the last entry

    def reach(self, stop: int) -> bool:
        """Tell whether nothing but end tags stands between the last entry and this index.

        Also asked before bytes are dropped, to remember it.
        """
        data, begin = self._buffer.data, max(self._reached, self._builder.last_entry_end)
        begin -= self._buffer.start
        is_reached = begin >= 0 and _END_TAGS.fullmatch(data, begin, stop) is not None
        if is_reached:
            self._reached = self._buffer.start + stop
        return is_reached

    def close_misspelled(self, end_tag: re.Match[bytes]) -> bool:
        """Close the element that an entry's end tag is meant for: ``<ulr><loc>…</loc></url>``.

        Its ``<loc>`` was read as an entry of its own. Return whether there is one.
        """
        builder, data = self._builder, self._buffer.data
        path = builder.path
        after_loc = LOC_END.match(data, max(builder.last_entry_end - self._buffer.start, 0))
        if not (path and after_loc and self._boundaries.ends.match(data, end_tag.start(1) - 2)):
            return False
        if builder.open_root == path[-1] or not resembles(end_tag[1].decode(), path[-1]):
            return False
        builder.end()
        return True
