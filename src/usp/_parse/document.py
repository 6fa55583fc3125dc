"""One document: what kind it is, what it leads to, and its pages as often as they are wanted.

``inspect`` looks at a document when it arrives and finds only its kind and its children; its pages
are read when somebody walks them, from the bytes at rest. Reading twice gives the same twice. A
document that lists sitemaps is read for them, and its problems are collected in the same reading.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import astuple, dataclass, field, fields, replace
from functools import partial
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from usp._parse.children import EVERY_CHILD, Child, Children, ChildSelection, names_children
from usp._parse.columns import (
    ROWS_AT_ONCE,
    ColumnReading,
    PageColumns,
    columns_of_urls,
    read_columns,
)
from usp._parse.diagnostics import Diagnostics, Ended
from usp._parse.document_entries import document_entries
from usp._parse.formats.field_reader import FieldReader
from usp._parse.formats.field_readers import FIELD_READERS, NO_FIELDS
from usp._parse.formats.robots import sitemaps_in_robots
from usp._parse.formats.robots_rules import RobotsRules
from usp._parse.formats.text import urls_in_text
from usp._parse.input.buffers import CompressedBuffer
from usp._parse.input.sniff import Kind
from usp._parse.inspection import CHILDLESS, NOTHING_FOUND, Inspection
from usp._parse.kept_entries import KeptEntries
from usp._parse.opening import Opened, decoded_text, open_document
from usp._parse.pages import pages_of_entries
from usp._parse.pattern.layout import EntryRun
from usp._parse.source import Source as Source  # noqa: PLC0414 -- belongs to a document
from usp._parse.values.deduplicate import repeated_problem
from usp._parse.xml.entry_builder import Entry
from usp.exceptions import SitemapException
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem

_PICKLE_FORMAT: Final = 1
_LATER_VERSION: Final = "This sitemap was saved by a later version of usp."


class Document(NamedTuple):
    """A document whose kind and children are known; its pages are parsed lazily."""

    url: str
    kind: Kind
    pages: Iterable[SitemapPage]
    children: tuple[Child, ...] = ()
    """The sitemaps that it lists: those that are wanted, up to a limit."""
    more_children: int = 0
    """The number of those beyond the limit."""
    skipped: Counter[SkipReason] | None = None
    """The number of those that are not wanted; None if none was looked at."""
    blank: bool = False
    """Whether it is a text without URLs: not a sitemap, but whatever the site returns."""
    page_count: int | None = None
    """The number of its pages, if they were counted."""
    code: str = ""
    reason: str = ""
    """Why it is not a sitemap, for an invalid one."""
    fetch_info: FetchInfo = NOT_FETCHED
    """What the response said, if it was fetched."""
    robots_rules: tuple[str, RobotsRules] | None = None
    """An agent, and what a robots.txt says to it, if that was read already."""

    @property
    def known_errors(self) -> tuple[Problem, ...]:
        """Why something of the document was lost, as far as it was read."""
        return self.pages.known_errors if isinstance(self.pages, Pages) else ()

    @property
    def child_count(self) -> int:
        """The number of sitemaps that it lists, wanted or not."""
        return len(self.children) + self.more_children + (self.skipped or Counter()).total()


@dataclass(slots=True)
class Pages:
    """The pages of a stored document: parsed anew, chunk by chunk, each time they are walked.

    The problems with the document take a walk of their own, unless one was asked to collect them on
    the way, or the inspection read the document for its sitemaps: to look for them costs about a
    fifth of a walk, and most callers want pages alone.
    """

    source: Source
    kind: Kind | None = None
    """The kind to parse it as; None to detect it."""
    listed: bool = True
    """False where the document is known to list no page, so that a walk needn't read it."""
    known_errors: tuple[Problem, ...] = field(default=(), repr=False, compare=False)
    """Why something of the document was lost, as far as it was read: when it was inspected, then
    in the last walk to its end."""
    inspection: Inspection = field(default=NOTHING_FOUND, repr=False, compare=False)
    """What was found when it was inspected."""
    _opened: Opened | None = field(default=None, repr=False, compare=False)
    """The document as it was opened when it was inspected, if it is held in memory anyway."""
    _kept: KeptEntries | None = field(default=None, repr=False, compare=False)
    """The entries that were read when it was inspected, if they are kept."""
    _diagnostics: Diagnostics | None = field(default=None, repr=False, compare=False)
    """What a walk to the end found: all problems, or only what was lost."""

    def __iter__(self) -> Iterator[SitemapPage]:
        return self.walk()

    def walk(
        self, ended: Ended | None = None, *, with_problems: bool = False
    ) -> Iterator[SitemapPage]:
        """Yield the pages, as long as there is time.

        :param with_problems: whether the problems are collected on the way.
        :raises TimeoutError: if ``ended`` says so, which is asked after each part of the document.
        """
        if not self.listed:
            return iter(())
        diagnostics = self._new_diagnostics(ended, with_problems=with_problems)
        return chain(self._read(diagnostics), self._at_end(diagnostics))

    def _new_diagnostics(self, ended: Ended | None, *, with_problems: bool) -> Diagnostics:
        known = self._diagnostics is not None and self._diagnostics.collecting
        collecting = with_problems and not known
        # Positions in a small document cost nothing until something is lost.
        locating = collecting or self._opened is not None
        return Diagnostics(collecting=collecting, locating=locating, ended=ended)

    def _read(self, diagnostics: Diagnostics) -> Iterator[SitemapPage]:
        opened = self._open(diagnostics)
        if opened.sniffed.kind is Kind.TEXT:
            urls = urls_in_text(opened.data, diagnostics, opened.start)
            base = repeat(self.source.url)
            return map(SitemapPage.from_entry, urls, repeat(()), repeat(NO_FIELDS), base)
        entries, fields = self._entries(opened, diagnostics, extensions=self.source.extensions)
        quick = not self.source.expat_only
        return pages_of_entries(entries, fields, diagnostics, quick=quick)

    def _open(self, diagnostics: Diagnostics) -> Opened:
        if self._opened is None:
            return open_document(self.source, diagnostics, self.kind)
        diagnostics.document_bytes += len(self._opened.head)
        return self._opened

    def _entries(
        self, opened: Opened, diagnostics: Diagnostics, *, extensions: bool
    ) -> tuple[Iterator[Entry | EntryRun], FieldReader]:
        """Return the entries of a document, and what reads their fields."""
        kind = opened.sniffed.kind
        if kind is Kind.ROBOTS:  # it is read for its problems alone
            deque(
                sitemaps_in_robots(opened.data, self.source.url, diagnostics, opened.start),
                maxlen=0,
            )
        if kind not in FIELD_READERS:
            return iter(()), NO_FIELDS
        fields = FIELD_READERS[kind](self.source.url, kind)
        if self._kept is not None and not extensions:
            return iter(self._kept), fields
        expat_only = self.source.expat_only
        entries = document_entries(
            opened, diagnostics, extensions=extensions, expat_only=expat_only
        )
        return entries, fields

    def columns(
        self,
        names: Collection[str],
        ended: Ended | None = None,
        rows: int = ROWS_AT_ONCE,
        *,
        with_problems: bool = False,
    ) -> Iterator[PageColumns]:
        """Yield columns of the pages, of so many at a time, with their URLs; no page is made.

        A walk like any other, in which each URL comes once.

        :param names: those of ``formats.columns.READ``, or ``position``.
        :param with_problems: whether the problems are collected on the way.
        :raises TimeoutError: if ``ended`` says so, after what was read until then.
        """
        if not self.listed:
            return iter(())
        diagnostics = self._new_diagnostics(ended, with_problems=with_problems)
        return read_columns(names, partial(self._read_columns, diagnostics, rows))

    def _read_columns(
        self, diagnostics: Diagnostics, rows: int, names: Collection[str]
    ) -> Iterator[PageColumns]:
        opened = self._open(diagnostics)
        if opened.sniffed.kind is Kind.TEXT:
            yield from columns_of_urls(
                urls_in_text(opened.data, diagnostics, opened.start), names, rows
            )
        else:
            entries, fields = self._entries(opened, diagnostics, extensions=False)
            quick = not self.source.expat_only
            reading = ColumnReading(fields, diagnostics, names, quick=quick)
            yield from reading.columns(entries, rows)
        self._finish(diagnostics)

    def _at_end(self, diagnostics: Diagnostics) -> Iterator[SitemapPage]:
        """Finish a walk; yields nothing."""
        self._finish(diagnostics)
        yield from ()

    def _finish(self, diagnostics: Diagnostics) -> None:
        """Keep what a walk to the end found, or the inspection before it."""
        self.inspection.compare(diagnostics)
        if not diagnostics.collecting and self._diagnostics is not None:
            return
        ended = diagnostics.forget_time()
        self._diagnostics = diagnostics
        self.known_errors = diagnostics.errors
        if self.known_errors and not diagnostics.locating:
            self._found(ended, with_problems=True)  # with their lines, which few documents need

    def _found(self, ended: Ended | None = None, *, with_problems: bool = False) -> Diagnostics:
        """Return what a walk to the end found, made now if there was none."""
        found = self._diagnostics
        if found is None or (with_problems and not found.collecting):
            found = Diagnostics(collecting=True, ended=ended)
            deque(self._read_columns(found, ROWS_AT_ONCE, ()), maxlen=0)  # no page is made
        return found

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems with the document."""
        return self._found(with_problems=True).problems

    @property
    def complete(self) -> bool:
        """Whether nothing of the document was lost."""
        return self._found().complete

    def learn_losses(self, ended: Ended | None = None) -> None:
        """Read the document, unless that was done, so that ``known_errors`` is all that was lost.

        :raises TimeoutError: if ``ended`` says so.
        """
        self._found(ended)

    @property
    def corrupt(self) -> bool:
        """Whether the document may list what it did not when it was compressed."""
        return self._found().corrupt

    @property
    def document_bytes(self) -> int:
        """The size of the document, decompressed."""
        return self._found().document_bytes

    def __reduce__(self) -> tuple[object, ...]:
        source = {part.name: getattr(self.source, part.name) for part in fields(self.source)}
        state = {
            "format": _PICKLE_FORMAT,
            "body": CompressedBuffer.of(source.pop("chunks")).compressed,
            "kind": None if self.kind is None else str(self.kind),
            "listed": self.listed,
            "errors": [astuple(error) for error in self.known_errors],
            "inspection": [astuple(error) for error in self.inspection.errors],
            "childless": self.inspection.childless,
            "source": source,
        }
        return restore_pages, (state,)


def restore_pages(state: dict[str, Any]) -> Pages:
    """Return the pages of a pickled sitemap; fields that are unknown are ignored."""
    if state["format"] > _PICKLE_FORMAT:
        raise SitemapException(_LATER_VERSION)
    known = {part.name for part in fields(Source)}
    described = {name: value for name, value in state["source"].items() if name in known}
    source = Source(CompressedBuffer(state["body"]), **described)
    kinds = {str(kind): kind for kind in Kind}
    if state["kind"] is not None and state["kind"] not in kinds:
        raise SitemapException(_LATER_VERSION)
    errors = tuple(Problem(*error) for error in state.get("errors", ()))
    inspected = tuple(Problem(*error) for error in state.get("inspection", ()))
    inspection = Inspection(inspected, state.get("childless", False))
    return Pages(source, kinds.get(state["kind"]), state["listed"], errors, inspection)


# Pickles name this function by the path of the package, which is kept.
restore_pages.__module__ = "usp._parse"


def inspect(
    source: Source,
    kind: Kind | None = None,
    selection: ChildSelection = EVERY_CHILD,
    ended: Ended | None = None,
) -> Document:
    """Find the kind of a document, unless it is given, and the sitemaps that it leads to.

    :raises TimeoutError: if ``ended`` says so, which is asked after each part of the document.
    """
    diagnostics = Diagnostics(ended=ended)
    if kind is Kind.HOMEPAGE:
        return _homepage(source, diagnostics)
    opened = open_document(source, diagnostics, kind)
    document = _inspect(source, kind, opened, selection, diagnostics)
    if isinstance(document.pages, Pages):
        pages = document.pages
        if errors := diagnostics.errors:
            pages.known_errors = errors
            pages.inspection = replace(pages.inspection, errors=errors)
        if opened.is_plain and not source.truncated:
            pages._opened = opened
    return document


def _inspect(
    source: Source,
    kind: Kind | None,
    opened: Opened,
    selection: ChildSelection,
    diagnostics: Diagnostics,
) -> Document:
    found = opened.sniffed
    url = source.url or ""
    if found.kind is Kind.INVALID:
        pages = Pages(source, listed=False)
        return Document(url, found.kind, pages, code=found.code, reason=found.reason)
    if found.kind is Kind.TEXT:
        # What is left of a truncated document may be blank though the document was not.
        is_empty = next(urls_in_text(opened.data, diagnostics, opened.start), None) is None
        blank = is_empty and not (diagnostics.truncated or diagnostics.has("SM209"))
        return Document(url, found.kind, Pages(source, kind), blank=blank)
    if found.kind is not Kind.ROBOTS and not _names_children(opened, source, diagnostics):
        inspection = CHILDLESS if found.kind is Kind.URLSET else NOTHING_FOUND
        return Document(url, found.kind, Pages(source, kind, inspection=inspection))
    children = Children(selection, in_index=found.kind is not Kind.ROBOTS)
    lists_pages = False
    kept = KeptEntries()
    if found.kind is Kind.ROBOTS:
        for sitemap in sitemaps_in_robots(opened.data, source.url, diagnostics, opened.start):
            children.add(sitemap)
    else:
        entries = document_entries(opened, diagnostics, expat_only=source.expat_only)
        fields = FIELD_READERS[found.kind](source.url, found.kind)
        reading = ColumnReading(fields, diagnostics, (), quick=not source.expat_only)
        collected = children.collected(kept.collected(entries), source.url)
        for _ in reading.columns(collected, ROWS_AT_ONCE):
            lists_pages = True
    if children.unclear and found.kind is Kind.ROBOTS:
        diagnostics.report(*repeated_problem(children.unclear))
    pages = Pages(source, kind, lists_pages)
    diagnostics.forget_time()
    pages._diagnostics = diagnostics
    pages._kept = kept if lists_pages and kept.is_whole else None
    return Document(
        url,
        found.kind,
        pages,
        children.kept,
        children.more,
        children.skipped if selection.skip_reason else None,
    )


def known_document(
    source: Source,
    kind: Kind,
    children: Iterable[tuple[str, str | None]],
    selection: ChildSelection = EVERY_CHILD,
) -> Document:
    """Return a document that was inspected before, without reading it.

    :param children: the sitemaps that it lists, with the ``<lastmod>`` of each as written.
    """
    found = Children(selection, in_index=kind is not Kind.ROBOTS)
    for url, lastmod in children:
        found.add(url, lastmod)
    skipped = found.skipped if selection.skip_reason else None
    is_childless = not (found.kept or found.more or found.skipped)
    inspection = CHILDLESS if is_childless and kind is Kind.URLSET else NOTHING_FOUND
    pages = Pages(source, inspection=inspection)
    return Document(source.url or "", kind, pages, found.kept, found.more, skipped)


def _homepage(source: Source, diagnostics: Diagnostics) -> Document:
    """Find what a homepage names; whatever it is, it lists no pages."""
    from usp._parse.homepage import linked_children  # few crawls come so far

    data = iter(decoded_text(source, diagnostics))
    children, more = linked_children(data, source.link_header, source.url or "")
    return Document(source.url or "", Kind.HOMEPAGE, (), children, more)


def _names_children(opened: Opened, source: Source, diagnostics: Diagnostics) -> bool:
    """Tell whether a document may list sitemaps: an index does, a urlset if it looks like it."""
    if opened.sniffed.kind is not Kind.URLSET:
        return opened.sniffed.kind is Kind.INDEX
    if opened.is_whole():
        return names_children([opened.head])
    return names_children(open_document(source, diagnostics.unused()).data)
