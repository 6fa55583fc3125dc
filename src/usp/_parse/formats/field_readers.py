"""Which field reader reads the entries of each kind of document."""

from collections.abc import Callable, Mapping
from typing import Final

from usp._parse.formats.feeds import AtomFieldReader, RssFieldReader
from usp._parse.formats.field_reader import FieldReader
from usp._parse.formats.jsonfeed import JsonFeedFieldReader
from usp._parse.formats.urlset import UrlsetFieldReader
from usp._parse.input.sniff import Kind
from usp.objects.page import Record

FIELD_READERS: Final[Mapping[Kind, type[FieldReader]]] = {
    Kind.URLSET: UrlsetFieldReader,
    Kind.INDEX: UrlsetFieldReader,
    Kind.RSS: RssFieldReader,
    Kind.ATOM: AtomFieldReader,
    Kind.JSON_FEED: JsonFeedFieldReader,
}
LINKS: Final[Mapping[Kind, Callable[[Record], str]]] = {
    Kind.RSS: RssFieldReader(None, Kind.RSS).link,
    Kind.ATOM: AtomFieldReader(None, Kind.ATOM).link,
}
"""What finds the link of an entry of a feed, without which it is no page."""
NO_FIELDS: Final = FieldReader(None, Kind.TEXT)
"""That of plain text, whose entries are URLs alone."""
