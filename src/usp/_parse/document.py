"""One document: what kind it is, what it leads to, and its pages as often as they are wanted.

``inspect`` looks at a document when it arrives and finds only its kind and its children; its pages
are read when somebody walks them, from the bytes at rest. Reading twice gives the same twice.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, Final

from usp._parse.diagnostics import Diagnostics, ReadPosition
from usp._parse.formats.feeds import AtomFieldReader, RssFieldReader
from usp._parse.formats.field_reader import FieldReader, first
from usp._parse.formats.json_items import JsonItemReader
from usp._parse.formats.jsonfeed import JsonFeedFieldReader
from usp._parse.formats.jsonfeed import entries as json_entries
from usp._parse.formats.robots import sitemaps_in_robots
from usp._parse.formats.text import urls_in_text
from usp._parse.formats.urlset import UrlsetFieldReader
from usp._parse.input.buffers import CompressedBuffer, EncodedText
from usp._parse.input.chunks import peek
from usp._parse.input.decode import Utf8Document
from usp._parse.input.decompress import MAX_DOCUMENT_BYTES, decompress
from usp._parse.input.sniff import Kind, SniffResult, sniff
from usp._parse.pages import CHILD, pages_of_entries
from usp._parse.pattern.groups import MatchRun, iter_entries
from usp._parse.values.urls import resolve_url
from usp._parse.xml.entry_builder import Entry
from usp._parse.xml.expat_reader import XmlReader
from usp._parse.xml.grammar import GRAMMARS
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem

_HEAD: Final = 64 * 1024
_LONG_HEAD: Final = 1024 * 1024
_CHILD_ENTRY: Final = re.compile(rb"<(?:[\w.-]+:)?sitemap[\s/>]")
_END_OF_CHILD: Final = re.compile(rb"sitemap(?:\s|/?>)")
"""What is looked for first: the word alone is found at once, and stands in the head."""
_CAPITALS: Final = re.compile(rb"</?[A-Z]")
_PAGE_ENTRY: Final = "url"

FIELD_READERS: Final[Mapping[Kind, type[FieldReader]]] = {
    Kind.URLSET: UrlsetFieldReader,
    Kind.INDEX: UrlsetFieldReader,
    Kind.RSS: RssFieldReader,
    Kind.ATOM: AtomFieldReader,
    Kind.JSON_FEED: JsonFeedFieldReader,
}
_SAYS_NOTHING: Final = FieldReader(None, Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a document as they came, and what is known of them from outside."""

    chunks: Iterable[bytes]
    """As often as they are wanted: a list of them, or something that reads a file anew."""
    url: str | None = None
    """Where it was found at last: what relative URLs are relative to."""
    declared_url: str | None = None
    charset: str | None = None
    """What the HTTP header says."""
    limit: int = MAX_DOCUMENT_BYTES
    truncated: str = ""
    """How the connection ended in the middle of the body, if it did."""
    link_header: str | None = None
    """The ``Link`` header, where a homepage was asked for."""
    extensions: bool = False
    """Whether the reader of it wants elements that mean nothing, too."""
    expat_only: bool = False
    """Leave all of the reading to expat: slower, and the same result."""

    @classmethod
    def of(cls, content: str | bytes, url: str | None = None) -> "Source":
        """Make a source of what is at hand; a text is taken as it is, whatever it declares."""
        if isinstance(content, bytes):
            return cls([content], url)
        return cls(EncodedText(content), url, charset="utf-8")

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs that the document is known by."""
        return tuple(url for url in (self.url, self.declared_url) if url)


@dataclass(frozen=True, slots=True)
class Child:
    """A sitemap that a document names."""

    url: str
    lastmod: str | None = None
    """What the index says of when it changed, as written."""
    is_feed: bool = False
    """A homepage calls it its feed."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a document turned out to be."""

    url: str
    kind: Kind
    pages: Iterable[SitemapPage]
    children: tuple[Child, ...] = ()
    blank: bool = False
    """A text that names no page: no sitemap, but whatever the site answers."""
    page_count: int | None = None
    """How many pages it lists, where somebody counted."""
    code: str = ""
    reason: str = ""
    """Why it is no sitemap, for one that isn't."""
    fetch_info: FetchInfo = NOT_FETCHED
    """How it came over the web, if it did."""


@dataclass(slots=True)
class _Opened:
    """A document being read: its kind, and its text as UTF-8 from the beginning."""

    sniffed: SniffResult
    data: Iterator[bytes]
    start: ReadPosition
    """Where the data begins, in the document as it came."""


def _open(source: Source, diagnostics: Diagnostics, kind: Kind | None = None) -> _Opened:
    if source.truncated:
        diagnostics.report("SM102", f"the body was cut off: {source.truncated}")
    decoded = Utf8Document(
        decompress(source.chunks, diagnostics, source.limit), diagnostics, source.charset
    )
    data = iter(decoded)
    start = ReadPosition(offset=decoded.bom_length, length=decoded.original_length)
    for chunk in data:  # any number of blanks may come first
        if chunk.strip():
            data = chain([chunk], data)
            break
        start = start.past(chunk)
    head, data = peek(data, _HEAD)
    sniffed = sniff(head[:_HEAD], *source.urls)
    if sniffed.kind is Kind.INVALID and len(head) >= _HEAD:
        head, data = peek(data, _LONG_HEAD)
        sniffed = sniff(head[:_LONG_HEAD], *source.urls)
    if kind is not None:
        # A caller who knows the kind is believed, but an HTML page has nothing to say.
        if sniffed.code == "SM202":
            diagnostics.report("SM202", "it is an HTML page")
            data = iter(())
        sniffed = SniffResult(kind)
    opened = _Opened(sniffed, data, start)
    unclear = sniffed.kind is Kind.TEXT or sniffed.code == "SM201"
    return _unescape(opened, head, diagnostics) if unclear and kind is None else opened


def _unescape(opened: _Opened, head: bytes, diagnostics: Diagnostics) -> _Opened:
    """Open the document that stands escaped in this one, if it begins with such a one."""
    from usp._parse.input.unescape import find_escaped, unescape  # few documents are

    found = find_escaped(head)
    if found is None:
        return opened
    escape, at = found
    sniffed = sniff(b"".join(unescape(escape, [head[at:]])))
    if sniffed.kind not in FIELD_READERS:
        return opened
    start = opened.start.past(head[:at])
    diagnostics.report("SM222", "the document is escaped as a whole", position=start.position)
    next(opened.data)
    return _Opened(
        sniffed,
        unescape(escape, chain([head[at:]], opened.data)),
        replace(start, length=lambda data: start.length(escape.encode(data))),
    )


def _entries(
    opened: _Opened, diagnostics: Diagnostics, *, extensions: bool = False, expat_only: bool = False
) -> Iterator[Entry | MatchRun]:
    """Yield the entries of an XML document, or of a JSON Feed, those that look alike together."""
    sniffed = opened.sniffed
    head, data = peek(opened.data, sniffed.start + 1)
    next(data, None)
    root = opened.start.past(head[: sniffed.start])
    if sniffed.kind is Kind.JSON_FEED:
        items = JsonItemReader(diagnostics, root)
        found = items.read(chain([head[sniffed.start :]], data))
        return json_entries(found, diagnostics, extensions=extensions)
    grammar = GRAMMARS[sniffed.kind]
    reader = XmlReader(
        replace(grammar, extensions=True) if extensions else grammar,
        diagnostics,
        root,
        rootless=sniffed.rootless,
        expat_only=expat_only,
    )
    if sniffed.junk:
        diagnostics.report("SM205", "something stands before the document", position=(1, 0))
    if sniffed.starts_mid_entry:
        diagnostics.report("SM209", "the beginning is cut off, and an entry with it", at=0)
    if sniffed.rootless:
        diagnostics.report("SM221", "the entries have no root element", at=0)
    return reader.read(chain([head[sniffed.start :]], data))


@dataclass(slots=True)
class Pages:
    """The pages of a document at rest: read anew each time, a chunk at a time."""

    source: Source
    kind: Kind | None = None
    """What to read it as, where that isn't left to its first bytes."""
    listed: bool = True
    """False where the document is known to name no page, so that walking needn't read it."""
    _diagnostics: Diagnostics | None = field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[SitemapPage]:
        return self._read(Diagnostics(collecting=False)) if self.listed else iter(())

    def _read(self, diagnostics: Diagnostics, *, check: bool = False) -> Iterator[SitemapPage]:
        opened = _open(self.source, diagnostics, self.kind)
        kind = opened.sniffed.kind
        if kind is Kind.TEXT:
            urls = urls_in_text(opened.data, diagnostics)
            return (SitemapPage.from_entry(url, (), _SAYS_NOTHING, self.source.url) for url in urls)
        if kind is Kind.ROBOTS:
            return _no_pages(sitemaps_in_robots(opened.data, self.source.url, diagnostics))
        if kind not in FIELD_READERS:
            return iter(())
        meaning = FIELD_READERS[kind](self.source.url, kind)
        entries = _entries(
            opened,
            diagnostics,
            extensions=self.source.extensions,
            expat_only=self.source.expat_only,
        )
        return pages_of_entries(entries, meaning, diagnostics, check=check)

    def _check(self) -> Diagnostics:
        """Read the document once with every value converted, and remember what was found."""
        if self._diagnostics is None:
            diagnostics = Diagnostics()
            for _ in self._read(diagnostics, check=True):
                pass
            self._diagnostics = diagnostics
        return self._diagnostics

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the document."""
        return self._check().problems

    @property
    def complete(self) -> bool:
        """Whether nothing of the document was lost."""
        return self._check().complete

    def __reduce__(self) -> tuple[object, ...]:
        source = self.source
        packed = CompressedBuffer.of(source.chunks).compressed
        known = tuple(getattr(source, part.name) for part in fields(source)[1:])
        kind = None if self.kind is None else str(self.kind)
        return restore_pages, (packed, kind, self.listed, *known)


def _no_pages(urls: Iterable[str]) -> Iterator[SitemapPage]:
    """Read a document through for what is wrong with it."""
    for _ in urls:
        pass
    return iter(())


def restore_pages(
    packed: bytes,
    kind: str | None,
    listed: bool,
    *known: Any,  # noqa: ANN401 -- what pickles of this and later versions say of the source
) -> Pages:
    """Bring back the pages of a pickled sitemap."""
    source = Source(CompressedBuffer(packed), *known)
    return Pages(source, None if kind is None else Kind(kind), listed)


# Pickles name this function; the public path is the one that stays.
restore_pages.__module__ = "usp._parse"


def inspect(source: Source, kind: Kind | None = None) -> Document:
    """Find the kind of a document, unless it is given, and the sitemaps that it leads to."""
    if kind is Kind.HOMEPAGE:
        return _homepage(source)
    ignored_diagnostics = Diagnostics(collecting=False)
    opened = _open(source, ignored_diagnostics, kind)
    found = opened.sniffed
    url = source.url or ""
    if found.kind is Kind.INVALID:
        pages = Pages(source, listed=False)
        return Document(url, found.kind, pages, code=found.code, reason=found.reason)
    if found.kind is Kind.TEXT:
        blank = next(urls_in_text(opened.data, ignored_diagnostics), None) is None
        return Document(url, found.kind, Pages(source, kind), blank=blank)
    if found.kind is Kind.ROBOTS:
        declared = sitemaps_in_robots(opened.data, source.url, ignored_diagnostics)
        children = tuple(Child(sitemap) for sitemap in declared)
        return Document(url, found.kind, Pages(source, kind, listed=False), children)
    if found.kind is Kind.INDEX or (found.kind is Kind.URLSET and _names_children(source)):
        names: set[str] = set()
        entries = iter_entries(_entries(opened, ignored_diagnostics, expat_only=source.expat_only))
        entries = _noting_names(entries, names)
        children = children_of_entries(entries, source.url)
        return Document(url, found.kind, Pages(source, kind, _PAGE_ENTRY in names), children)
    return Document(url, found.kind, Pages(source, kind))


def _homepage(source: Source) -> Document:
    """Find what a homepage names; whatever it is, it lists no pages."""
    from usp._parse.formats import html  # few crawls come so far

    ignored_diagnostics = Diagnostics(collecting=False)
    unpacked = decompress(source.chunks, ignored_diagnostics, source.limit)
    head, _ = peek(
        iter(Utf8Document(unpacked, ignored_diagnostics, source.charset)), html.MAX_HOMEPAGE_BYTES
    )
    page = head[: html.MAX_HOMEPAGE_BYTES].decode("utf-8", "replace")
    named = html.links(page, source.link_header, source.url or "")
    children = tuple(Child(url, is_feed=rel is html.Rel.FEED) for url, rel in named)
    return Document(source.url or "", Kind.HOMEPAGE, (), children)


def _noting_names(entries: Iterable[Entry], names: set[str]) -> Iterator[Entry]:
    """Pass entries on, taking note of which kinds there are."""
    for entry in entries:
        names.add(entry[0])
        yield entry


def _names_children(source: Source) -> bool:
    """Tell whether anything in the document looks like the entry of an index.

    Tags in capitals are looked for in all of a document that begins with some, and in the first
    chunk of another: it takes as long as all the rest.
    """
    tail = b""
    fold: Callable[[bytes], bytes] = bytes.lower
    for chunk in _open(source, Diagnostics(collecting=False)).data:
        text = tail + fold(chunk)
        if b"sitemap" in text and _END_OF_CHILD.search(text) and _CHILD_ENTRY.search(text):
            return True
        if not tail:
            fold = bytes.lower if _CAPITALS.search(chunk, 0, _HEAD) else bytes
        tail = text[-64:]
    return False


def children_of_entries(entries: Iterable[Entry], base: str | None) -> tuple[Child, ...]:
    """Return the sitemaps that the entries name, each once, in their order."""
    found: dict[str, Child] = {}
    for name, record, _ in entries:
        if name != CHILD:
            continue
        lastmod = first(record, "lastmod") or None
        for key, text in record:
            url = resolve_url(text, base) if key == "loc" else ""
            if url and url not in found:
                found[url] = Child(url, lastmod)
    return tuple(found.values())
