"""Entries that a CDATA section swallows, since its end was cut off together with a text.

``<![CDATA[an excerpt that was cu</description></item><item>…<![CDATA[…]]>`` is well-formed XML: the
section ends where the next one does. Every parser loses the entries in it.
"""

from typing import Final

from usp._parse.diagnostics import Diagnostics
from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.read_buffer import ReadBuffer

_CDATA: Final = b"<![CDATA["


class SwallowedEntries:
    """Looks at what is written in the CDATA sections of entries."""

    def __init__(self, buffer: ReadBuffer, boundaries: EntryBoundaries) -> None:
        self._buffer = buffer
        self._boundaries = boundaries
        self._begin = 0
        self.found: list[int] = []
        """The offsets of sections with entries in them, which are not reported yet."""

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
            self.found.append(self._begin)

    def forget_from(self, entry_start: int) -> None:
        """Forget the sections of a malformed entry: it is read again, and so are those in it."""
        self.found = [at for at in self.found if at < entry_start]

    def report(self, diagnostics: Diagnostics, last_entry_end: int) -> None:
        """Report the sections of entries that were read, up to the end of the last one."""
        while self.found and self.found[0] < last_entry_end:
            message = "a CDATA section is not closed, and there are entries in it"
            diagnostics.report("SM209", message, at=self.found.pop(0))
