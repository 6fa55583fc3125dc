"""Reading a small XML document at once, as a tree that ElementTree builds with expat, in C.

Most sitemaps and feeds have few entries. For those, the calls from expat into Python cost most, and
the pattern reader learns more than it can use. The elements and texts of a tree are those that
expat has found, so its entries are those that the expat reader gives.

Only documents in which nothing is odd are read in this way: well-formed, with each entry where it
belongs. Any other one is left to ``XmlReader``, the authority on what it means and on its problems.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final
from xml.etree.ElementTree import Element, ParseError, XMLParser

from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.input.chunks import CHUNK_SIZE
from usp._parse.pattern.familiar import begins_like_another
from usp._parse.pattern.layout import EntryRun, Row, iter_entries
from usp._parse.tree.names import ODD, Level, Shape, Shapes, names_in, split_name
from usp._parse.tree.sections import Sections
from usp._parse.values.urls import joined_base
from usp._parse.xml.between_entries import is_of_another_format
from usp._parse.xml.boundaries import boundaries_for
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.grammar import URL_TEXTS, Grammar, Tag
from usp._parse.xml.namespaces import binds_unusual_prefix
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.unparsed import unparsed_parts
from usp._parse.xml_reader import XmlReader

_Record = list[tuple[str, str]]

_XML_BASE: Final = b"xml:base"
_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
LARGEST_TREE: Final = CHUNK_SIZE
"""Longer documents are never held whole."""
_SMALL: Final = 6000
_MANY_ENTRIES: Final = 60
"""With more entries than that, the pattern reader saves more than it costs to learn. In a document
of fewer bytes, it saves little (``bench real``)."""
_BEGINNING: Final = 16 * 1024
"""Bytes that are counted first: most documents with many entries have many there."""
_MAX_DEPTH: Final = 16
_MAX_INNER: Final = 400
"""How deep entries may be, and how many elements there may be inside of one that isn't read: with
more of them, some may be nested too deep."""


class _OddError(Exception):
    """Something in a document is not as it should be."""


@dataclass(slots=True)
class SmallDocument:
    """A whole document, which is valid UTF-8."""

    text: bytes
    root: int
    """Where the root element starts in it."""
    start: ReadPosition = START
    """The position of the text in the document as received."""


def is_worth_a_tree(text: bytes, grammar: Grammar) -> bool:
    """Tell whether a tree is the fastest way to read a document."""
    if not grammar.plain_texts:
        return True  # items are long, and few of their texts are read
    size = len(text)
    if _has_many_entries(text, _BEGINNING) or (size > _BEGINNING and _has_many_entries(text, size)):
        return False
    return size <= _SMALL or not begins_like_another(text, grammar)


def _has_many_entries(text: bytes, stop: int) -> bool:
    found = text.count(b"</url>", 0, stop)
    return found > _MANY_ENTRIES or found + text.count(b"</sitemap>", 0, stop) > _MANY_ENTRIES


def read_tree(
    document: SmallDocument, grammar: Grammar, diagnostics: Diagnostics
) -> list[Entry | EntryRun] | None:
    """Return the entries of a document; None if it is odd.

    Instead of its offset, an entry has its number.
    """
    data = document.text[document.root :]
    sections = Sections(data)
    if sections.are_nested:
        return None  # there may be entries in one
    if not grammar.plain_texts:
        data = sections.set_aside()
    parser = XMLParser(encoding="utf-8")  # noqa: S314 -- it never sees a DOCTYPE
    try:
        parser.feed(data)
        reader = _TreeReader(data, grammar, parser.close(), sections)
    except (ParseError, _OddError):
        return None
    if not reader.entries:
        return None
    diagnostics.position_of = positions = _Positions(document, grammar, reader.count)
    if problem := reader.names.problem:
        diagnostics.report(*problem, position=positions.root.position)
    diagnostics.check_time()
    return reader.entries


class _TreeReader:
    """The entries of one tree."""

    def __init__(self, data: bytes, grammar: Grammar, root: Element, sections: Sections) -> None:
        namespace, _ = split_name(root.tag)
        self.names = names_in(grammar, namespace)
        self.entries: list[Entry | EntryRun] = []
        self._data = data
        self._grammar = grammar
        self._restored = sections.restored
        self._has_bases = _XML_BASE in data
        self.count = 0
        self._run: EntryRun | None = None
        self._shapes: dict[Tag, Shapes] = {}
        self._harmless: set[str] = set()
        """The names of elements whose markup isn't read, and that are no entries."""
        self._checked_prefixes = False
        if self.names.depend_on_prefixes and data.count(namespace.encode()) > 1:
            raise _OddError
        if grammar.plain_texts:
            if binds_unusual_prefix(data, grammar.namespace):
                raise _OddError  # its elements are told from others by their prefix alone
            self._checked_prefixes = True
        self._read_around(root, 0, None, is_among=True)

    def _read_around(
        self, element: Element, depth: int, base: str | None, *, is_among: bool
    ) -> None:
        """Read the entries in an element around them, given the ``xml:base`` there.

        :param is_among: whether entries are expected directly in it.
        """
        if depth > _MAX_DEPTH:
            raise _OddError
        if self._has_bases:
            base = joined_base(base, element.get(_BASE))
        if is_among:
            _check_blank([element.text, *{child.tail for child in element}])
        tags = self.names.entries
        # In a feed, what is a page depends on several fields: rows would be of no use.
        may_be_rows = self._grammar.plain_texts and not self._has_bases
        if may_be_rows and self._read_alike(element):
            return
        for child in element:
            tag = tags[child.tag]
            if tag is None:
                local = self._check_outside(child, is_among=is_among)
                self._read_around(child, depth + 1, base, is_among=local == self._grammar.channel)
                continue
            shape = self._shape_of(child, tag) if may_be_rows else None
            if shape and not any(map(len, child)):
                texts: list[str | None] = [field.text or "" for field in child]
                texts.append(None)
                self._add_row(shape.row(texts), shape, tag, child)
            else:
                self.entries.append((tag.key, self._record(child, tag, base), self.count))
                self._run = None
            self.count += 1

    def _read_alike(self, element: Element) -> bool:
        """Read the entries in an element at once, if all have the same fields, as nearly always."""
        if len({child.tag for child in element}) != 1:
            return False
        tag = self.names.entries[element[0].tag]
        written = [[field.tag for field in entry] for entry in element]
        if tag is None or written.count(written[0]) < len(written):
            return False
        shape = self._shape_of(element[0], tag)
        if shape is None or any(map(len, chain.from_iterable(element))):
            return False
        rows = [shape.row([*[field.text or "" for field in entry], None]) for entry in element]
        for row, entry in zip(rows, element, strict=True):
            self._check_url(row[shape.url], entry, tag)
        self.entries.append(self._new_run(tag, shape, rows))
        self.count += len(rows)
        self._run = None
        return True

    def _new_run(self, tag: Tag, shape: Shape, rows: list[Row]) -> EntryRun:
        number = range(self.count, len(self._data)).__getitem__
        return EntryRun(tag.key, shape.layout, rows, [shape.form], number, 0)

    def _check_url(self, url: str | None, entry: Element, tag: Tag) -> None:
        if not url or url.isspace():
            self._check_loose_texts(entry, self.names.level(tag.children or {}))

    def _shape_of(self, entry: Element, tag: Tag) -> Shape | None:
        fields = tuple([field.tag for field in entry])
        shapes = self._shapes.get(tag)
        if shapes is None:
            shapes = self._shapes[tag] = self.names.shapes_of(tag, fields)
        return shapes[fields]

    def _add_row(self, row: Row, shape: Shape, tag: Tag, entry: Element) -> None:
        self._check_url(row[shape.url], entry, tag)
        run = self._run
        if run is None or run.layout is not shape.layout or run.name != tag.key:
            run = self._run = self._new_run(tag, shape, [])
            self.entries.append(run)
        elif shape.form not in run.forms:
            run.forms.append(shape.form)
        run.rows.append(row)

    def _record(self, entry: Element, tag: Tag, base: str | None) -> _Record:
        record: _Record = []
        if self._has_bases and (own := joined_base(base, entry.get(_BASE))):
            record.append((_XML_BASE.decode(), own))
        if tag.attributes:
            self._add_attributes(entry, tag, record)
        tags = self.names.level(tag.children or {})
        self._add_fields(entry, tags, record)
        url_field = self._grammar.url_field
        for key, text in record:
            if key == url_field and text and not text.isspace():
                return record
        self._check_loose_texts(entry, tags)
        return record

    def _add_fields(self, element: Element, tags: Level, record: _Record) -> None:
        for child in element:
            tag = tags[child.tag]
            if tag is None:
                self._check_inside(child)
                continue
            if tag.children is not None:
                record.append((tag.key, ""))
                if tag.attributes:
                    self._add_attributes(child, tag, record)
                self._add_fields(child, self.names.level(tag.children), record)
                continue
            if tag.attributes:
                self._add_attributes(child, tag, record)
            text = self._inner_text(child, tag) if len(child) else child.text or ""
            record.append((tag.key, self._restored(text)))

    def _add_attributes(self, element: Element, tag: Tag, record: _Record) -> None:
        keys = self.names.attributes(tag)
        for name, value in element.items():
            if key := keys[name]:
                if key == ODD:
                    raise _OddError
                record.append((key, value))

    def _inner_text(self, element: Element, tag: Tag) -> str:
        """Return the text of an element that contains markup."""
        if self._grammar.plain_texts or tag.key in URL_TEXTS:
            raise _OddError  # a problem
        self._check_inside(element)
        return "".join(element.itertext())

    def _check_outside(self, element: Element, *, is_among: bool) -> str:
        """Check an element around entries, or between them; return its name without prefix."""
        grammar, key = self._grammar, self._key(element.tag)
        local = key.rpartition(":")[2]
        if local in grammar.entries or local in grammar.roots or local == "loc":
            raise _OddError
        if is_among and is_of_another_format(key, grammar):
            raise _OddError
        return local

    def _check_inside(self, element: Element) -> None:
        """Check an element whose markup isn't read: an entry in it would be one of its own."""
        if not len(element) and element.tag in self._harmless:
            return
        inner = [one.tag for one in element.iter()]
        names = {*inner}
        keys = map(self._key, names)
        if len(inner) > _MAX_INNER or not self._grammar.entries.keys().isdisjoint(keys):
            raise _OddError
        self._harmless |= names

    def _check_loose_texts(self, element: Element, tags: Level) -> None:
        """Check texts that are in no field: a URL may be among them."""
        _check_blank([element.text, *(child.tail for child in element)])
        for child in element:
            if (tag := tags[child.tag]) and tag.children is not None:
                self._check_loose_texts(child, self.names.level(tag.children))

    def _key(self, name: str) -> str:
        """Return the key of an element that isn't known where it is."""
        key = self.names[name]
        if key == ODD:
            raise _OddError
        if key[0] == "?" and not self._checked_prefixes:
            if binds_unusual_prefix(self._data, self._grammar.namespace):
                raise _OddError  # it may have its usual meaning
            self._checked_prefixes = True
        return key


def _check_blank(texts: Iterable[str | None]) -> None:
    if "".join(filter(None, texts)).strip():
        raise _OddError


class _Positions:
    """Returns the position of an entry, given its number; only problems need one."""

    def __init__(self, document: SmallDocument, grammar: Grammar, entry_count: int) -> None:
        self._document = document
        self._grammar = grammar
        self._entry_count = entry_count
        self._offsets: list[int] = []
        self._buffer: ReadBuffer | None = None

    @property
    def root(self) -> ReadPosition:
        """The position of the root element."""
        return self._document.start.past(self._document.text[: self._document.root])

    def __call__(self, number: int) -> Position:
        if self._buffer is None:
            data, root = self._document.text[self._document.root :], self.root
            self._offsets = _start_tags(data, self._grammar)
            if len(self._offsets) != self._entry_count:
                self._offsets = self._read_offsets(data, root)
            self._buffer = ReadBuffer(root)
            self._buffer.append(data)
        return self._buffer.position_of(self._offsets[number])

    def _read_offsets(self, data: bytes, root: ReadPosition) -> list[int]:
        diagnostics = Diagnostics(collecting=False, locating=False)
        reader = XmlReader(self._grammar, diagnostics, root, expat_only=True)
        return [at for _, _, at in iter_entries(reader.read([data]))]


def _start_tags(data: bytes, grammar: Grammar) -> list[int]:
    """Return where start tags of entries are in well-formed XML."""
    starts = boundaries_for(grammar).starts
    found: list[int] = []
    at = 0
    for part in unparsed_parts(data):
        found += [tag.start() for tag in starts.finditer(data, at, part.start)]
        at = part.end
    return found + [tag.start() for tag in starts.finditer(data, at)]
