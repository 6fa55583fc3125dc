"""Whether any entry of a document gave a URL: with entries and without a URL, something is missing.

One entry without a URL is skipped, and its neighbours are kept. Where no entry has one, the program
that wrote the document failed, and its pages are missing: that must not look like a sitemap that
lists nothing.
"""

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.formats.field_reader import FieldReader
from usp.objects.page import Record

_UNKNOWN: Position = (None, None)


class UrlTally:
    """Counts the entries of one document that should give a URL, as long as none does."""

    __slots__ = ("_count", "_diagnostics", "_fields", "_first", "found")

    def __init__(self, fields: FieldReader, diagnostics: Diagnostics) -> None:
        self._fields = fields
        self._diagnostics = diagnostics
        self._count = 0
        self._first = _UNKNOWN  # the position of the first of them
        self.found = False
        """Whether an entry gave a URL; further ones need not be counted."""

    def miss(self, record: Record) -> None:
        """Count the entry that is being read, which gave none."""
        if self.found or not self._fields.should_give_url(record):
            return
        if not self._count and self._diagnostics.locating:
            self._first = self._diagnostics.position()  # the reader forgets it
        self._count += 1

    def report(self) -> None:
        """Report at the end of the document that it gave none.

        Not if something else is known to be lost: an entry that is too damaged has no URL either.
        """
        if self._count and not self.found and self._diagnostics.complete:
            message = no_urls_message(self._count)
            self._diagnostics.report("SM204", message, position=self._first)


def no_urls_message(count: int) -> str:
    """Return what is wrong with a document of so many entries that gave no URL."""
    return "its only entry gives no URL" if count == 1 else f"none of {count} entries gives a URL"
