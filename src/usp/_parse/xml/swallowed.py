"""Entries that a CDATA section swallows, since its end was cut off together with a text.

``<![CDATA[an excerpt that was cu</description></item><item>…<![CDATA[…]]>`` is well-formed XML: the
section ends where the next one does. Every parser loses the entries in it.
"""

from collections.abc import Callable
from typing import Final

from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.read_buffer import ReadBuffer

_CDATA: Final = b"<![CDATA["


class SwallowedEntries:
    """Looks at what is written in the CDATA sections of entries."""

    def __init__(
        self, buffer: ReadBuffer, boundaries: EntryBoundaries, report: Callable[[int], None]
    ) -> None:
        """Look into a buffer.

        :param report: called with the offset of a section that has swallowed entries.
        """
        self._buffer = buffer
        self._boundaries = boundaries
        self._report = report
        self._begin = 0

    def start(self, offset: int) -> None:
        """Handle the start of a section, given its offset."""
        self._begin = offset

    def end(self, offset: int) -> None:
        """Handle the end of a section: what swallows entries swallows the start of another one."""
        data, begin = self._buffer.data, self._begin + len(_CDATA) - self._buffer.start
        end = offset - self._buffer.start
        if begin < 0 or data.find(_CDATA, begin, end) < 0:
            return
        if self._boundaries.starts.search(data, begin, end):
            self._report(self._begin)
