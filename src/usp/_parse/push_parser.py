"""A parser that takes the events of an XML parser, one per call: for the classes of 1.8.1."""

from collections.abc import Mapping

from usp._parse.children import Child, children_of_entries
from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_readers import FIELD_READERS
from usp._parse.input.sniff import Kind
from usp._parse.pages import pages_of_entries
from usp._parse.xml.entry_builder import EntryBuilder
from usp._parse.xml.grammar import GRAMMARS
from usp.objects.page import SitemapPage


class PushParser:
    """Builds the entries of one document from start tags, end tags and character data."""

    def __init__(self, kind: Kind, url: str) -> None:
        self._kind = kind
        self._url = url
        self._builder = EntryBuilder(GRAMMARS[kind])

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        self._builder.start(name, attributes)

    def end(self, name: str) -> None:
        """Handle an end tag."""
        self._builder.end(name)

    def text(self, data: str) -> None:
        """Handle character data."""
        self._builder.text(data)

    def pages(self) -> list[SitemapPage]:
        """Return the pages of the entries completed so far."""
        field_reader = FIELD_READERS[self._kind](self._url, self._kind)
        return list(
            pages_of_entries(
                self._builder.completed, field_reader, Diagnostics(collecting=False, locating=False)
            )
        )

    def children(self) -> tuple[Child, ...]:
        """Return the child sitemaps of the entries completed so far."""
        return children_of_entries(self._builder.completed, self._url)
