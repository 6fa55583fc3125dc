"""One document for an audit: each entry with its raw fields and its position, and each problem.

Reading for pages drops what no page needs: empty elements, unknown tags, the second of two stories,
positions. An audit keeps all of it, so it takes longer. Entries with unexpected names are left to
the expat reader.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Final, TypeVar

from usp._display import redact, without_credentials
from usp._parse.diagnostics import MAX_PAGE_URL, Diagnostics, Ended, Position
from usp._parse.document import Pages
from usp._parse.document_entries import document_entries
from usp._parse.formats.field_reader import blocks
from usp._parse.formats.field_readers import FIELD_READERS
from usp._parse.formats.robots import sitemaps_in_robots
from usp._parse.formats.text import urls_in_text
from usp._parse.input.decode import declared_charset
from usp._parse.input.sniff import Kind
from usp._parse.opening import decoded_text, open_document
from usp._parse.pages import CHILD, check_entry, report_repeated, urls_of
from usp._parse.pattern.layout import EntryRun
from usp._parse.quick_check import QuickCheck
from usp._parse.source import Source
from usp._parse.url_tally import UrlTally
from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.text import clean_text
from usp._parse.xml.audit_builder import UNEXPECTED
from usp._parse.xml.entry_builder import Entry
from usp.objects.problem import Problem

LINE: Final = "line"
"""The name of an entry that is a line of a text sitemap or of robots.txt."""
_MAX_KEPT_KEYS: Final = 256
"""Shapes of longer entries are not kept: a thousand of them would take much memory."""
_UTF_8: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_NEWS: Final = b"schemas/sitemap-news"


@dataclass(frozen=True, slots=True, eq=False)
class EntryShape:
    """What the keys of an entry tell: most entries of a document have the same one."""

    keys: tuple[str, ...]
    """The keys of the record."""
    at: dict[str, tuple[int, ...]]
    """By key, where its values are in the record."""
    prefixes: frozenset[str]
    """The prefixes of its extensions, such as ``news:``; ``UNEXPECTED`` if there is something."""
    is_plain: bool
    """Whether it has no extension, and nothing that is unexpected."""
    notes: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What others found out about this shape; it lives as long as the shape."""


_Found = TypeVar("_Found")


def once_a_shape(find: Callable[[EntryShape], _Found]) -> Callable[[EntryShape], _Found]:
    """Return a function that finds something out about a shape, and remembers it."""

    @wraps(find)
    def remembered(shape: EntryShape) -> _Found:
        notes = shape.notes
        if find not in notes:
            notes[find] = find(shape)
        found: _Found = notes[find]
        return found

    return remembered


@bounded_cache(1024, _MAX_KEPT_KEYS)
def _shape_of(keys: tuple[str, ...]) -> EntryShape:
    """Return the shape of an entry with these keys; only that of a long one is made anew."""
    at: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        at.setdefault(key, []).append(number)
    prefixes = frozenset(
        key if key == UNEXPECTED else key[: key.find(":") + 1]
        for key in at
        if ":" in key or key == UNEXPECTED
    )
    fixed = {key: tuple(numbers) for key, numbers in at.items()}
    return EntryShape(keys, fixed, prefixes, not prefixes)


@dataclass(slots=True)
class AuditEntry:
    """One entry of a document as it is written."""

    name: str
    """``url``, ``sitemap``, ``item``, ``entry`` or ``line``."""
    urls: tuple[str, ...]
    """What it lists, as pages have it: one URL, or several, or none."""
    record: Sequence[tuple[str, str]]
    """(key, text) in document order, also of empty elements; keys are those of the grammar."""
    position: int
    """Its number among the entries of the document, from 1."""
    line: int | None
    offset: int | None
    repeated: bool = False
    """Whether an earlier entry of the document has its URL."""
    shape: EntryShape = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.shape = _shape_of(tuple([key for key, _ in self.record]))

    @property
    def url(self) -> str | None:
        """The first URL; None if there is none."""
        return self.urls[0] if self.urls else None

    @property
    def is_plain(self) -> bool:
        """Whether it has no extension, and nothing that is unexpected."""
        return self.shape.is_plain

    def raw(self, key: str) -> list[str]:
        """Return the texts under a key as they are written."""
        return [self.record[number][1] for number in self.shape.at.get(key, ())]

    def texts(self, key: str) -> list[str]:
        """Return the texts under a key, cleaned; those of empty elements are empty."""
        return list(map(clean_text, self.raw(key)))

    def has(self, prefix: str) -> bool:
        """Tell whether there is an extension with this prefix, such as ``news:``."""
        return prefix in self.shape.prefixes

    def groups(self, start: str, prefix: str) -> list[list[tuple[str, str]]]:
        """Return each group, such as each ``video:video``, as a part of the record."""
        return list(blocks(self.record, start, prefix))

    @property
    def unexpected(self) -> list[str]:
        """The elements (``foo``) and attributes (``loc@type``) that the grammar doesn't know."""
        return self.raw(UNEXPECTED)


class _AuditDiagnostics(Diagnostics):
    """Hands over each problem, however many there are."""

    def __init__(self, ended: Ended | None) -> None:
        super().__init__(ended=ended)
        self.new: list[Problem] = []

    def report(
        self, code: str, message: str, *, at: int | None = None, position: Position | None = None
    ) -> None:
        super().report(code, message, at=at, position=position)
        self.new.append(Problem(code, redact(message), *(position or self.position(at))))

    def take(self) -> list[Problem]:
        """Return the problems since the last call."""
        new, self.new = self.new, []
        return new

    @property
    def kept(self) -> int:
        """How many problems there are since then."""
        return len(self.new)

    def name_page(self, first: int, page_url: str) -> None:
        """Say which page these are about, from a number on."""
        if len(page_url) <= MAX_PAGE_URL:
            self.new[first:] = [replace(one, page_url=page_url) for one in self.new[first:]]


class Audit:
    """One reading of a document, to be iterated over once: its problems and entries, as they come.

    A problem with an entry comes before the entry.
    """

    def __init__(self, pages: Pages, ended: Ended | None = None) -> None:
        """Open the document of these pages.

        :param ended: asked after each part of the document; True raises ``TimeoutError``.
        """
        self._diagnostics = _AuditDiagnostics(ended)
        self._pages = pages
        self._source = pages.source
        self._opened = opened = open_document(pages.source, self._diagnostics, pages.kind)
        self.kind = opened.sniffed.kind
        charsets = (declared_charset(opened.head), opened.codec)
        self.other_charset = next(
            (name for name in charsets if name and name.lower() not in _UTF_8), None
        )
        """The charset that is declared or was found, if it is not UTF-8."""
        self.names_news = _NEWS in opened.head
        """Whether the document declares the namespace of news."""

    @property
    def document_bytes(self) -> int:
        """The size of the document so far, decompressed; of all of it after the last entry."""
        return self._diagnostics.document_bytes

    @property
    def complete(self) -> bool:
        """Whether nothing of the document was lost so far."""
        return self._diagnostics.complete

    def __iter__(self) -> Iterator[AuditEntry | Problem]:
        diagnostics, sniffed = self._diagnostics, self._opened.sniffed
        if self.kind is Kind.INVALID:
            diagnostics.report(sniffed.code, sniffed.reason, position=(1, 0))
        for entry in self._entries():
            yield from diagnostics.take()
            yield entry
        self._pages.inspection.compare(diagnostics)
        self._pages.known_errors = diagnostics.errors  # what was lost counts for the crawl as well
        yield from diagnostics.take()

    def _entries(self) -> Iterator[AuditEntry]:
        opened, diagnostics = self._opened, self._diagnostics
        if self.kind is Kind.TEXT:
            return self._lines(urls_in_text(opened.data, diagnostics, opened.start))
        if self.kind is Kind.ROBOTS:
            url = self._source.url
            sitemaps = sitemaps_in_robots(opened.data, url, diagnostics, opened.start)
            return self._lines(sitemaps)
        if self.kind in FIELD_READERS:
            return self._elements()
        return iter(())

    def _lines(self, urls: Iterable[str]) -> Iterator[AuditEntry]:
        for position, url in enumerate(urls, 1):
            where = self._diagnostics.position()
            yield AuditEntry(LINE, (without_credentials(url),), (("loc", url),), position, *where)

    def _elements(self) -> Iterator[AuditEntry]:
        diagnostics, seen, seen_children = self._diagnostics, Deduplicator(), Deduplicator()
        fields = FIELD_READERS[self.kind](self._source.url, self.kind)
        quick = QuickCheck(fields)
        only = self._source.expat_only
        found = document_entries(self._opened, diagnostics, expat_only=only, audit=True)
        tally = UrlTally(fields, diagnostics)
        for position, (entry, is_good) in enumerate(_judged(found, quick), 1):
            name, record, diagnostics.here = entry
            line, offset = diagnostics.position()
            if not is_good:
                check_entry(entry, fields, quick, diagnostics)
            urls = tuple(dict.fromkeys(urls_of(record, fields, diagnostics)))
            if urls:
                tally.found = True
            else:
                tally.miss(record)
            if name == CHILD and urls:
                diagnostics.note_child()
            add = (seen_children if name == CHILD else seen).add
            repeated = [url for url in urls if not add(url)]
            for url in repeated:
                report_repeated(url, diagnostics)
            yield AuditEntry(name, urls, tuple(record), position, line, offset, bool(repeated))
        tally.report()


def _judged(pieces: Iterable[Entry | EntryRun], quick: QuickCheck) -> Iterator[tuple[Entry, bool]]:
    """Yield each entry, and whether it is known to have no problem."""
    for piece in pieces:
        if isinstance(piece, EntryRun):
            suspects = frozenset(quick.suspects(piece))
            yield from ((entry, at not in suspects) for at, entry in enumerate(piece))
        else:
            yield piece, False


def document_text(source: Source, limit: int) -> str:
    """Return the first bytes of a document as text: decompressed and decoded."""
    read = bytearray()
    for chunk in decoded_text(source, Diagnostics(collecting=False, locating=False)):
        read += chunk
        if len(read) >= limit:
            break
    return read[:limit].decode("utf-8", "replace")
