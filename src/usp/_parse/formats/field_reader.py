"""From the record of an entry to the values of a page: what all formats share.

A subclass of ``FieldReader`` names the keys of its format; fields that a format doesn't have get
the defaults of this module.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Final, TypeVar

from usp._display import excerpt
from usp._parse.diagnostics import Diagnostics
from usp._parse.input.sniff import Kind
from usp._parse.values.plain import is_plain_url
from usp._parse.values.text import clean_text, decode_entities
from usp._parse.values.urls import check_url, resolve_url
from usp._parse.xml.grammar import UNKNOWN, UNKNOWN_END, UNKNOWN_TEXT
from usp.objects.page import (
    CORE_FIELDS,
    NOT_CONVERTED,
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
"""A key in records whose text comes from the document, not from the entry."""

_MAX_SHOWN: Final = 80
"""How many characters of a value a message quotes."""
LINK_ATTRIBUTES: Final = ("hreflang", "media", "type", "title")
"""The attributes that a link may have beside ``rel`` and ``href``."""

Value = TypeVar("Value")
Texts = tuple[str | None, ...]
"""The texts of an element or a group, in the order of the requested keys; None if absent."""
Resolve = Callable[[str | None], str]
"""Returns the URL in a text; empty if there is none."""
IsValid = Callable[[str], object]
"""Tells whether a text is a valid value: the result is true."""


def first(record: Record, key: str) -> str:
    """Return the first text under this key; empty if there is none."""
    for known, text in record:
        if known == key:
            return text
    return ""


def texts(record: Record, key: str) -> list[str]:
    """Return all texts under this key."""
    return [text for known, text in record if known == key]


def has_key(record: Record, prefix: str) -> bool:
    """Tell whether a record has a key with this prefix."""
    for key, _ in record:  # noqa: SIM110 -- half the time of any(): most records are this short
        if key.startswith(prefix):
            return True
    return False


def elements(record: Record, key: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield each element of this key: its attributes, which come just before it, and its text."""
    prefix = f"{key}@"
    attributes: dict[str, str] = {}
    for known, text in record:
        if known == key:
            yield attributes, text
            attributes = {}
        elif known.startswith(prefix):
            attributes[known[len(prefix) :]] = text


def first_value(record: Record, key: str, parse: Callable[[str], Value | None]) -> Value | None:
    """Return the value of the first valid text under this key."""
    for known, text in record:
        if known == key and (value := parse(text)) is not None:
            return value
    return None


def is_parsed_by(parse: Callable[[str], object]) -> IsValid:
    """Return a function that tells whether ``parse`` gives a value."""
    return lambda text: parse(text) is not None


def resolve_against(base: str | None) -> Resolve:
    """Return what resolves the URLs of a document."""
    return lambda text: resolve_url(text, base)


def blocks(record: Record, start: str, prefix: str) -> Iterator[list[tuple[str, str]]]:
    """Yield each group of an extension, such as one video, as a part of the record."""
    if not has_key(record, prefix):
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
class _UnknownElement:
    """An unknown element whose end was not read yet."""

    name: str = " "
    attributes: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    children: list[PageElement] = field(default_factory=list)

    def element(self) -> PageElement:
        namespace, _, name = self.name.rpartition(" ")
        attributes, children = tuple(self.attributes), tuple(self.children)
        return PageElement(name, namespace or None, attributes, " ".join(self.texts), children)


def unknown_elements(record: Record) -> list[PageElement]:
    """Return the outermost unknown elements, each with its children."""
    path = [_UnknownElement()]
    for key, text in record:
        if key == UNKNOWN:
            path.append(_UnknownElement(text))
        elif key == UNKNOWN_TEXT:
            path[-1].texts.append(text)
        elif key.startswith(UNKNOWN):
            path[-1].attributes.append((key.removeprefix(f"{UNKNOWN}@"), text))
        elif key == UNKNOWN_END and len(path) > 1:
            closed = path.pop()
            path[-1].children.append(closed.element())
    return [*path[0].children, *(unclosed.element() for unclosed in path[1:])]


@dataclass(frozen=True, slots=True)
class GroupedField:
    """A field of a page that is built from groups of elements, or from attributes of an element."""

    start: str
    """The key of each group or element."""
    prefix: str
    """The prefix of all keys of a group."""
    keys: tuple[str, ...]
    """The keys that the field is built from."""
    make: Callable[[list[Texts], "Resolve"], object]
    """Builds the field from the texts of each group under these keys; without any group, the field
    is None."""
    url_keys: frozenset[str] = frozenset()
    """The keys of URLs, which ``make`` has resolved."""
    make_plain: Callable[..., object] | None = None
    """Builds the field from the texts of all groups, key by key, if the URLs are plain; None if
    that takes ``make``."""

    is_of_attributes: bool = field(init=False)
    """Whether it is built from the attributes of each element."""
    _columns: dict[str, int] = field(init=False)
    _url_columns: list[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_of_attributes", "@" in self.keys[0])
        columns = {key: at for at, key in enumerate(self.keys)}
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_url_columns", [columns[key] for key in self.url_keys])

    def read(self, record: Record, base: str | None) -> object:
        """Return the field, given the record of an entry."""
        found = (self._elements if self.is_of_attributes else self._groups)(record)
        if not found:
            return None
        if self.make_plain:
            by_key = list(zip(*found, strict=True))
            urls = [url for at in self._url_columns for url in by_key[at] if url is not None]
            if all(map(is_plain_url, urls)) and (made := self.make_plain(*by_key)):
                return made
        return self.make(list(map(tuple, found)), resolve_against(base))

    def _groups(self, record: Record) -> list[list[str | None]]:
        """Return the texts of each group under the keys; of repeated ones, the first."""
        start, columns, rows = self.start, self._columns, list[list[str | None]]()
        row: list[str | None] | None = None
        for key, text in record:
            if key == start:
                row = [None] * len(columns)
                rows.append(row)
            elif (column := columns.get(key)) is not None:
                if row is None:  # outside of any group
                    row = [None] * len(columns)
                    rows.append(row)
                if row[column] is None:
                    row[column] = text
        return rows

    def _elements(self, record: Record) -> list[list[str | None]]:
        """Return the attributes of each element, which come just before it, under the keys."""
        start, columns, rows = self.start, self._columns, list[list[str | None]]()
        row: list[str | None] = [None] * len(columns)
        for key, text in record:
            if key == start:
                rows.append(row)
                row = [None] * len(columns)
            elif (column := columns.get(key)) is not None:
                row[column] = text
        return rows


class FieldReader:
    """Turns the record of an entry into the values of its page."""

    validators: ClassVar[Mapping[str, tuple[str, IsValid]]] = {}
    """The keys whose values are checked: the problem code of an invalid one, and the check."""
    single_texts: ClassVar[Mapping[str, tuple[str, Callable[[str], object]]]] = {}
    """The fields of a page that are parsed from one text: its key, and the parser."""
    grouped: ClassVar[Mapping[str, GroupedField]] = {}
    """The fields of a page that are built from groups."""
    repeated_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys that have few different texts in a document."""
    url_key: ClassVar[str] = ""
    """The key of the page's URL, where it depends on nothing else."""
    lastmod_key: ClassVar[str] = ""
    """The key of ``last_modified``."""
    has_news: ClassVar[bool] = False
    """Whether entries may have the Google News extension."""
    url_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys whose texts are URLs."""
    plain_text_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys whose texts never contain markup."""
    single_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys that an entry may have only once."""
    more_keys: ClassVar[tuple[str, ...]] = ()
    """The prefixes of the keys that 1.8.1 doesn't read."""

    first_values: ClassVar[tuple[Any, ...]] = (SITEMAP_PAGE_DEFAULT_PRIORITY, *[None] * 5)
    """What the fields of a page are before they are read: those that a format lacks are known."""

    def __init_subclass__(cls) -> None:
        cls.first_values = tuple(
            default if getattr(cls, name) is getattr(FieldReader, name) else NOT_CONVERTED
            for name, default in zip(CORE_FIELDS, FieldReader.first_values, strict=True)
        )

    def __init__(self, base: str | None, kind: Kind) -> None:
        self.base = base
        self.kind = kind

    def declared(self, record: Record) -> dict[str, str]:
        """Return the first text of the entry under each key."""
        fields: dict[str, str] = {}
        for key, text in record:
            if key not in fields and key[:1].isalpha() and key != _BASE and (raw := text.strip()):
                fields[key] = raw
        return fields

    def has_later_fields(self, record: Record) -> bool:
        """Tell quickly whether there may be fields that 1.8.1 doesn't read, such as videos."""
        return any(key.startswith(self.more_keys) for key, _ in record)

    def extensions(self, record: Record) -> list[PageElement] | None:
        """Return the unknown elements, if they were recorded."""
        return unknown_elements(record) or None

    def urls(self, record: Record, diagnostics: Diagnostics) -> list[str]:  # noqa: ARG002
        """Return the URLs of the entry's pages: one, or several, or none."""
        return []

    def should_give_url(self, record: Record) -> bool:  # noqa: ARG002
        """Tell whether an entry that gives no URL should: in a sitemap each must (sitemaps.org)."""
        return True

    def check(self, name: str, record: Record, diagnostics: Diagnostics) -> None:  # noqa: ARG002
        """Report invalid values of an entry; what is skipped is reported where it is skipped."""
        for key, text in record:
            self.check_value(key, text, diagnostics)
        counts = Counter(key for key, _ in record if key in self.single_keys)
        for key, count in counts.items():
            if count > 1:
                diagnostics.report("SM404", f"an entry has {count} <{key}>; the first is used")

    def check_value(self, key: str, text: str, diagnostics: Diagnostics) -> None:
        """Report an invalid value, whatever else its entry has."""
        code, is_valid = self.validators.get(key, ("", bool))
        if code and not is_valid(text) and (cleaned := clean_text(text)):
            diagnostics.report(code, f"{key} {excerpt(cleaned, _MAX_SHOWN)!r} is not valid")
        if key in self.url_keys and clean_text(text):
            check_url(text, self.base, diagnostics)
        if key in self.plain_text_keys and decode_entities(text) != text and clean_text(text):
            shown = excerpt(text.strip(), _MAX_SHOWN)
            diagnostics.report("SM306", f"{key} {shown!r} is escaped twice")

    def _url(self, text: str | None) -> str:
        return resolve_url(text, self.base)

    # The defaults, for formats without the field.

    def priority(self, _record: Record) -> Decimal:
        """Return the default priority."""
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
