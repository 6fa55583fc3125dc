"""Reading a small XML document at once, as a tree that ElementTree builds with expat, in C.

Most sitemaps and feeds have few entries. For those, the calls from expat into Python cost most, and
the pattern reader learns more than it can use. The elements and texts of a tree are those that
expat has found, so its entries are those that the expat reader gives.

Only documents in which nothing is odd are read in this way: well-formed, with each entry where it
belongs. Any other one is left to ``XmlReader``, the authority on what it means and on its problems.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from xml.etree.ElementTree import Element, ParseError, XMLParser

from usp._parse.diagnostics import Diagnostics, Position, ReadPosition
from usp._parse.values.bounded_cache import keep
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import Grammar, Tag
from usp._parse.xml.namespaces import (
    binds_unusual_prefix,
    root_problem,
    split_expanded_name,
    usual_prefix,
)
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml_reader import XmlReader

_Record = list[tuple[str, str]]

_BASE: Final = b"xml:base"
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_ABOUT: Final = f"{{{_RDF}}}about"
_SITEMAPS: Final = "sm"
_MAX_DEPTH: Final = 16
_MAX_INNER: Final = 400
"""How deep entries may be, and how many elements there may be inside of one that isn't read: with
more of them, some may be nested too deep."""
_MAX_KEPT: Final = 256
_MAX_NAMES: Final = 500
_MAX_NAME: Final = 200
"""How many tables of names are kept, how many names each has, and how long they are."""


class _OddError(Exception):
    """Something in a document is not as it should be."""


class _Names(dict[str, str]):
    """The keys of the names in documents whose root element is in one namespace."""

    def __init__(self, own: str, root: str) -> None:
        super().__init__()
        self._own = own
        self._root = root
        self._levels: dict[int, _Level] = {}

    def __missing__(self, name: str) -> str:
        namespace, written = split_expanded_name(name)
        local = written.lower()
        usual = usual_prefix(namespace) if namespace and namespace != self._root else self._own
        key = local if usual == self._own else f"{usual or '?'}:{local}"
        if self._own == _SITEMAPS and local != written and ":" not in key:
            raise _OddError  # a problem
        if len(name) <= _MAX_NAME:
            keep(self, name, key, _MAX_NAMES)
        return key

    def level(self, children: Mapping[str, Tag]) -> "_Level":
        """Return the elements that are known inside of another one, which are never freed."""
        found = self._levels.get(id(children))
        if found is None:
            found = self._levels[id(children)] = _Level(self, children)
        return found


class _Level(dict[str, Tag | None]):
    """The elements that are known inside of another one, by their names; None for others."""

    def __init__(self, names: _Names, children: Mapping[str, Tag]) -> None:
        super().__init__()
        self._names = names
        self._children = children

    def __missing__(self, name: str) -> Tag | None:
        tag = self._children.get(self._names[name])
        if len(name) <= _MAX_NAME:
            keep(self, name, tag, _MAX_NAMES)
        return tag


_names: dict[tuple[str, str], _Names] = {}
"""By the usual prefix of a format's own namespace, and the namespace of the root element."""


def read_tree(
    data: bytes, grammar: Grammar, diagnostics: Diagnostics, root: ReadPosition
) -> list[Entry] | None:
    """Return the entries of a document, given from its root element on; None if it is odd.

    Instead of its offset, an entry has its number.
    """
    if _BASE in data:
        return None
    parser = XMLParser(encoding="utf-8")  # noqa: S314 -- it never sees a DOCTYPE
    try:
        parser.feed(data)
        reader = _TreeReader(data, grammar, parser.close())
    except (ParseError, _OddError):
        return None
    if not reader.entries:
        return None
    if problem := root_problem(grammar.namespace, reader.namespace):
        diagnostics.report(*problem, position=root.position)
    diagnostics.position_of = _Positions(data, grammar, root)
    diagnostics.check_time()
    return reader.entries


class _TreeReader:
    """The entries of one tree."""

    def __init__(self, data: bytes, grammar: Grammar, root: Element) -> None:
        self.namespace = split_expanded_name(root.tag)[0]
        self.entries: list[Entry] = []
        self._data = data
        self._grammar = grammar
        self._names = _names_in(self.namespace, grammar.namespace, data)
        self._tags = self._names.level(grammar.entries)
        self._checked_prefixes = False
        if grammar.plain_texts:
            _check_blank([root.text, *{child.tail for child in root}])
        self._read_around(root, 0)

    def _read_around(self, element: Element, depth: int) -> None:
        """Read the entries in an element around them."""
        if depth > _MAX_DEPTH:
            raise _OddError
        tags, entries = self._tags, self.entries
        for child in element:
            tag = tags[child.tag]
            if tag is None:
                self._check_outside(child)
                self._read_around(child, depth + 1)
            else:
                entries.append((tag.key, self._record(child, tag), len(entries)))

    def _record(self, entry: Element, tag: Tag) -> _Record:
        record: _Record = []
        if tag.attributes:
            self._add_attributes(entry, tag, record)
        children = tag.children or {}
        self._add_fields(entry, self._names.level(children), record)
        url_field = self._grammar.url_field
        for key, text in record:
            if key == url_field and text and not text.isspace():
                return record
        self._check_loose_texts(entry, self._names.level(children))
        return record

    def _add_fields(self, element: Element, tags: _Level, record: _Record) -> None:
        for child in element:
            tag = tags[child.tag]
            if tag is None:
                self._check_inside(child)
                continue
            if tag.children is not None:
                record.append((tag.key, ""))
                if tag.attributes:
                    self._add_attributes(child, tag, record)
                self._add_fields(child, self._names.level(tag.children), record)
                continue
            if tag.attributes:
                self._add_attributes(child, tag, record)
            record.append((tag.key, self._inner_text(child) if len(child) else child.text or ""))

    def _add_attributes(self, element: Element, tag: Tag, record: _Record) -> None:
        for name, value in element.items():
            local = name.lower()
            if local in tag.attributes:
                record.append((f"{tag.key}@{local}", value))
            elif name == _ABOUT:
                if self._data.count(_RDF.encode()) > 1 or b"xmlns:rdf" not in self._data:
                    raise _OddError  # its prefix may be another one
                record.append((f"{tag.key}@rdf:about", value))

    def _inner_text(self, element: Element) -> str:
        """Return the text of an element that contains markup."""
        if self._grammar.plain_texts:
            raise _OddError  # a problem
        self._check_inside(element)
        return "".join(element.itertext())

    def _check_outside(self, element: Element) -> None:
        """Check an element around entries, or between them."""
        grammar, local = self._grammar, self._key(element.tag).rpartition(":")[2]
        if local in grammar.entries or local in grammar.roots or local == grammar.url_field == "loc":
            raise _OddError

    def _check_inside(self, element: Element) -> None:
        """Check an element whose markup isn't read: an entry in it would be one of its own."""
        inner = [one.tag for one in element.iter()]
        if len(inner) > _MAX_INNER or not self._grammar.entries.keys().isdisjoint(
            map(self._key, set(inner))
        ):
            raise _OddError

    def _check_loose_texts(self, element: Element, tags: _Level) -> None:
        """Check texts that are in no field: a URL may be among them."""
        _check_blank([element.text, *(child.tail for child in element)])
        for child in element:
            if (tag := tags[child.tag]) and tag.children is not None:
                self._check_loose_texts(child, self._names.level(tag.children))

    def _key(self, name: str) -> str:
        """Return the key of an element that isn't known where it is."""
        key = self._names[name]
        if key[0] == "?" and not self._checked_prefixes:
            if binds_unusual_prefix(self._data):
                raise _OddError
            self._checked_prefixes = True
        return key


def _names_in(namespace: str, own: str, data: bytes) -> _Names:
    """Return what names mean in a document whose root element is in this namespace."""
    found = _names.get((own, namespace))
    if found is None:
        found = _Names(own, namespace)
        if len(namespace) <= _MAX_NAME:
            keep(_names, (own, namespace), found, _MAX_KEPT)
    usual = usual_prefix(namespace) if namespace else own
    if usual not in {None, own} and data.count(namespace.encode()) > 1:
        raise _OddError  # another prefix may have its usual meaning
    return found


def _check_blank(texts: Iterable[str | None]) -> None:
    if "".join(filter(None, texts)).strip():
        raise _OddError


class _Positions:
    """Returns the position of an entry, given its number; only problems need one."""

    def __init__(self, data: bytes, grammar: Grammar, root: ReadPosition) -> None:
        self._data = data
        self._grammar = grammar
        self._root = root
        self._buffer = ReadBuffer(root)
        self._offsets: list[int] = []

    def __call__(self, number: int) -> Position:
        if not self._offsets:
            reader = XmlReader(
                self._grammar, Diagnostics(collecting=False, locating=False), self._root, expat_only=True
            )
            self._offsets = [at for _, _, at in reader.read([self._data])]
            self._buffer.append(self._data)
        return self._buffer.position_of(self._offsets[number])
