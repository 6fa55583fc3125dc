"""What an entry means as a page: what formats share.

A format says where it keeps things; what it doesn't keep has the defaults that are here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final, TypeVar

from usp._parse.diagnostics import Diagnostics
from usp._parse.input.sniff import Kind
from usp._parse.pattern.groups import GroupIndexes, Groups, MatchRecord, Row
from usp._parse.values import text as values
from usp._parse.xml.grammar import UNKNOWN, UNKNOWN_END, UNKNOWN_TEXT
from usp.objects.page import (
    SITEMAP_PAGE_DEFAULT_PRIORITY,
    PageElement,
    PageLink,
    PageMapObject,
    Record,
    SitemapImage,
    SitemapNewsStory,
    SitemapPageChangeFrequency,
    SitemapVideo,
)

_BASE: Final = "xml:base"
"""A key that stands in records, and that the document says rather than the entry."""

LINK_TEXTS: Final = ("hreflang", "media", "type", "title")
"""What a link may say beside what it is and where it leads."""

Read = TypeVar("Read")
Understood = Callable[[str], object]
"""Tells whether a text is a value of its kind: true, or the value itself."""


def first(record: Record, key: str) -> str:
    """Return what the entry says first under this key."""
    if isinstance(record, MatchRecord):
        return record.first(key)
    return next((text for known, text in record if known == key), "")


def texts(record: Record, key: str) -> list[str]:
    """Return all that the entry says under this key."""
    if isinstance(record, MatchRecord):
        return record.texts(key)
    return [text for known, text in record if known == key]


def elements(record: Record, key: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield each element of this key: its attributes, which stand just before it, and its text."""
    if isinstance(record, MatchRecord) and not record.may_say(key):
        return
    prefix = f"{key}@"
    attributes: dict[str, str] = {}
    for known, text in record:
        if known.startswith(prefix):
            attributes[known[len(prefix) :]] = text
        elif known == key:
            yield attributes, text
            attributes = {}


def first_understood(record: Record, key: str, read: Callable[[str], Read | None]) -> Read | None:
    """Return the first value under this key that is one."""
    readings = (read(text) for known, text in record if known == key)
    return next((value for value in readings if value is not None), None)


def understood_by(read: Callable[[str], object]) -> Understood:
    """Tell whether a text is understood by what reads it."""
    return lambda text: read(text) is not None


def blocks(record: Record, start: str, prefix: str) -> Iterator[list[tuple[str, str]]]:
    """Yield each group of an extension, such as one video, as the part of the record that it is."""
    if isinstance(record, MatchRecord) and not record.may_say(prefix):
        return
    block: list[tuple[str, str]] | None = None
    for key, text in record:
        if key == start:
            if block is not None:
                yield block
            block = []
        elif key.startswith(prefix):
            block = [] if block is None else block
            block.append((key, text))
    if block is not None:
        yield block


def groups(record: Record, start: str, prefix: str) -> Iterator[dict[str, str]]:
    """Yield each group of an extension, such as one image, as a dictionary of its first texts."""
    return (dict(reversed(block)) for block in blocks(record, start, prefix))


@dataclass(slots=True)
class _Unknown:
    """An element that means nothing, while it is being put together."""

    name: str = " "
    attributes: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    children: list[PageElement] = field(default_factory=list)

    def element(self) -> PageElement:
        namespace, _, name = self.name.rpartition(" ")
        attributes, children = tuple(self.attributes), tuple(self.children)
        return PageElement(name, namespace or None, attributes, " ".join(self.texts), children)


def unknown_elements(record: Record) -> list[PageElement]:
    """Return the outermost of the elements that mean nothing, each with all inside it."""
    around = [_Unknown()]
    for key, text in record:
        if key == UNKNOWN:
            around.append(_Unknown(text))
        elif key == UNKNOWN_TEXT:
            around[-1].texts.append(text)
        elif key.startswith(UNKNOWN):
            around[-1].attributes.append((key.removeprefix(f"{UNKNOWN}@"), text))
        elif key == UNKNOWN_END and len(around) > 1:
            done = around.pop()
            around[-1].children.append(done.element())
    return [*around[0].children, *(cut.element() for cut in around[1:])]


@dataclass(frozen=True, slots=True)
class GroupedField:
    """A field of a page that is made of groups of elements, or of attributes of an element."""

    start: str
    """The key that each group or element has."""
    prefix: str
    """How the keys begin of all that belongs to it."""
    keys: tuple[str, ...]
    """What is asked for."""
    make: Callable[[list[Row], str | None], object]
    """Makes the field of what each group says under these keys, given what URLs are relative to."""
    make_plain: Callable[[GroupIndexes], Callable[[list[Groups]], object]]
    """Returns what makes the field of groups in which all is plain, given the indexes of the keys.

    What isn't there is None, or, out of a run, empty.
    """
    plain_keys: tuple[str, ...] = ()
    """What is asked for where all is plain, if that isn't the same."""

    def read(self, record: Record, base: str | None) -> object:
        """Return the field as the record of an entry has it."""
        if "@" in self.keys[0]:
            names = [key.partition("@")[2] for key in self.keys]
            said: Iterable[Mapping[str, str]] = (said for said, _ in elements(record, self.start))
        else:
            names = list(self.keys)
            said = groups(record, self.start, self.prefix)
        return self.make([tuple(map(one.get, names)) for one in said], base)


class FieldReader:
    """Turns the record of an entry into the values of its page."""

    values_of: ClassVar[Mapping[str, tuple[str, Understood]]] = {}
    """The keys that hold values, the code of the problem where one isn't understood, and how."""
    single_texts: ClassVar[Mapping[str, tuple[str, Callable[[str], object]]]] = {}
    """The fields of a page that are made of one text: its key, and what is made of it."""
    grouped: ClassVar[Mapping[str, GroupedField]] = {}
    """The fields of a page that are made of groups."""
    repeated_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys under which there are few different texts."""
    url_key: ClassVar[str] = ""
    """The key of the page's URL, where nothing else decides on it."""
    url_keys: ClassVar[frozenset[str]] = frozenset()
    plain_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys whose texts are words, never markup."""
    single_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys that an entry has once."""
    more_keys: ClassVar[tuple[str, ...]] = ()
    """How the keys begin of what 1.8.1 doesn't know of."""

    def __init__(self, base: str | None, kind: Kind) -> None:
        self.base = base
        self._kind = kind

    def declared(self, record: Record) -> dict[str, str]:
        """Return the first text that the entry has under each key."""
        said: dict[str, str] = {}
        for key, text in record:
            if key not in said and key[:1].isalpha() and key != _BASE and (words := text.strip()):
                said[key] = words
        return said

    def says_more(self, record: Record) -> bool:
        """Tell quickly whether there may be more than 1.8.1 knows of: alternates, videos, links."""
        return any(key.startswith(self.more_keys) for key, _ in record)

    def extensions(self, record: Record) -> list[PageElement] | None:
        """Return the elements that mean nothing, where the record has them."""
        return unknown_elements(record) or None

    def urls(self, record: Record, diagnostics: Diagnostics) -> list[str]:  # noqa: ARG002
        """Return the URL of the page, or of each where there are several; none if it has none."""
        return []

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:  # noqa: ARG002
        """Report what is wrong with an entry's values; a loss is reported where it happens."""
        for key, text in record:
            if not (cleaned := values.clean(text)):
                continue
            code, understood = self.values_of.get(key, ("", bool))
            if code and not understood(text):
                diagnostics.report(code, f"{key} {cleaned[:80]!r} isn't understood")
            if key in self.url_keys:
                values.check_url(text, self.base, diagnostics)
            if key in self.plain_keys and values.decode_entities(text) != text:
                diagnostics.report("SM306", f"{key} {text.strip()[:80]!r} is escaped twice")
        counts = Counter(key for key, _ in record if key in self.single_keys)
        for key, count in counts.items():
            if count > 1:
                diagnostics.report("SM404", f"an entry has {count} <{key}>; the first counts")

    def _url(self, text: str | None) -> str:
        return values.url(text, self.base)

    # What a format doesn't say.

    def priority(self, _record: Record) -> Decimal:
        """Return the default."""
        return SITEMAP_PAGE_DEFAULT_PRIORITY

    def last_modified(self, _record: Record) -> datetime | None:
        """Return None."""
        return None

    def change_frequency(self, _record: Record) -> SitemapPageChangeFrequency | None:
        """Return None."""
        return None

    def news_story(self, _record: Record) -> SitemapNewsStory | None:
        """Return None."""
        return None

    def images(self, _record: Record) -> list[SitemapImage] | None:
        """Return None."""
        return None

    def alternates(self, _record: Record) -> list[tuple[str, str]] | None:
        """Return None."""
        return None

    def videos(self, _record: Record) -> list[SitemapVideo] | None:
        """Return None."""
        return None

    def links(self, _record: Record) -> list[PageLink] | None:
        """Return None."""
        return None

    def mobile(self, _record: Record) -> bool:
        """Return False."""
        return False

    def page_map(self, _record: Record) -> list[PageMapObject] | None:
        """Return None."""
        return None

    def title(self, _record: Record) -> str | None:
        """Return None."""
        return None

    def published_at(self, _record: Record) -> datetime | None:
        """Return None."""
        return None
