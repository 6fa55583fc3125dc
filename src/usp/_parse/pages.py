"""From the entries of a document to its pages.

``EntryReading`` decides which pages there are, for page objects and for columns alike: each URL
once, with the problems reported on the way.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain, repeat
from typing import ClassVar, Final, Generic, TypeVar, cast

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import FieldReader
from usp._parse.formats.row_fields import Plain, RowFieldReader, plain_columns
from usp._parse.pattern.layout import EntryRun, RowLayout
from usp._parse.quick_check import Doubtful, QuickCheck
from usp._parse.url_tally import UrlTally
from usp._parse.values.deduplicate import LONG, Deduplicator, repeated_problem
from usp._parse.values.plain import BLANKS, are_plain_urls, is_plain_url
from usp._parse.xml.entry_builder import Entry
from usp.objects.page import PageFieldReader, Record, SitemapPage

Made = TypeVar("Made")

CHILD: Final = "sitemap"
"""The name of entries that are no pages."""


_MAX_SHARED: Final = 16
"""How many times as long as an entry the fields of all its pages may be. An entry may have hundreds
of URLs and as many videos, and each page has all fields of its entry."""


def pages_of_entries(
    entries: Iterable[Entry | EntryRun],
    fields: FieldReader,
    diagnostics: Diagnostics,
    *,
    quick: bool = True,
) -> Iterator[SitemapPage]:
    """Yield the page of each entry that has one, each URL once, and report problems.

    :param quick: check only those entries in full that the quick check can't clear.
    """
    reading = _PageReading(fields, diagnostics, quick=quick)
    return chain(chain.from_iterable(map(reading.read, entries)), reading.end())


class EntryReading(ABC, Generic[Made]):
    """Reads the pages of one document; a subclass says what is made of them."""

    parses_times: ClassVar = False
    """Whether the times of all pages are parsed in any case."""

    def __init__(self, fields: FieldReader, diagnostics: Diagnostics, *, quick: bool) -> None:
        self._fields = fields
        self._diagnostics = diagnostics
        checks = quick and diagnostics.collecting
        self._quick_check = QuickCheck(fields, parses_times=self.parses_times) if checks else None
        # With a short base URL, none is much longer than it is written. Entries of a feed may have
        # their own. Looking at all lengths takes as long as a third of the set.
        is_short = bool(fields.url_key) and len(fields.base or "") <= LONG
        self._seen = Deduplicator(resolved=not is_short)
        self._seen_children = Deduplicator()
        self._tally = UrlTally(fields, diagnostics)

    @abstractmethod
    def of_record(self, url: str, record: Record) -> Iterable[Made]:
        """Return what is made of a page, given its record."""

    @abstractmethod
    def of_run(self, urls: list[str], run: EntryRun) -> Iterable[Made]:
        """Return what is made of pages, given their entries."""

    def read(self, piece: Entry | EntryRun) -> Iterable[Made]:
        """Return what is made of the pages of an entry, or of a run of them."""
        collecting = self._diagnostics.collecting
        if not isinstance(piece, EntryRun):
            if piece[0] == CHILD:
                self._note_child([piece])
            if collecting:
                self._check(piece)
            return self._of_entry(piece)
        resolved = self._check_run(piece) if collecting else {}
        if piece.name == CHILD:
            self._note_child(piece)
        if piece.name == CHILD or not self._fields.url_key:
            return chain.from_iterable(map(self._of_entry, piece))
        return self._of_run(piece, resolved)

    def end(self) -> Iterator[Made]:
        """Report what only the end of the document shows; yields nothing."""
        self._tally.report()
        yield from ()

    def _note_child(self, entries: Iterable[Entry]) -> None:
        """Remember the first of these entries of an index that names a sitemap."""
        diagnostics = self._diagnostics
        if diagnostics.first_child is not None:
            return
        for _, record, diagnostics.here in entries:
            if self._fields.urls(record, diagnostics.unused()):
                diagnostics.note_child()
                return

    def _check_run(self, run: EntryRun) -> dict[int, str]:
        """Report the problems with the entries of a run; return the URLs of those that have some.

        Only of those that have one URL.
        """
        quick, fields, diagnostics = self._quick_check, self._fields, self._diagnostics
        suspects = quick.suspects(run) if quick else dict.fromkeys(range(len(run)))
        resolved: dict[int, str] = {}
        has_one_url = run.layout.only(fields.url_key) is not None
        for at, doubtful in suspects.items():
            before, diagnostics.here = diagnostics.kept, run.offset(at)
            if doubtful is None:
                urls = check_entry(run.entry(at), fields, quick, diagnostics)
            else:
                check_urls(doubtful, fields, diagnostics)
                is_enough = has_one_url and doubtful[0][0] == fields.url_key
                record = doubtful if is_enough else run.entry(at)[1]
                urls = name_page(record, before, fields, diagnostics)
            if len(urls) == 1:
                resolved[at] = urls[0]
        return resolved

    def _check(self, entry: Entry) -> None:
        """Report the problems with an entry."""
        self._diagnostics.here = entry[2]
        check_entry(entry, self._fields, self._quick_check, self._diagnostics)

    def _of_entry(self, entry: Entry) -> Iterator[Made]:
        fields, diagnostics = self._fields, self._diagnostics
        name, record, diagnostics.here = entry
        if name == CHILD and not diagnostics.collecting and self._tally.found:
            return
        urls = urls_of(record, fields, diagnostics)
        if urls:
            self._tally.found = True
        else:
            self._tally.miss(record)
        several = len(urls) > 1
        shared = _shared_fields(record, fields.url_key, len({*urls})) if several else []
        seen = self._seen_children if name == CHILD else self._seen
        for url in urls:
            if not seen.add(url):
                report_repeated(url, diagnostics)
            elif name != CHILD:
                own = [(fields.url_key, url), *shared] if several else record
                yield from self.of_record(url, own)

    def _of_run(self, run: EntryRun, resolved: Mapping[int, str]) -> Iterable[Made]:
        """Return the same as for each entry alone: all at once where all are plain and new."""
        column = run.layout.only(self._fields.url_key)
        if column is None:
            return chain.from_iterable(map(self._of_entry, run))
        texts = run.columns[column]
        if None not in texts and run.has_plain_urls(column):
            urls = cast("list[str]", list(texts))
        else:
            urls = self._only_urls([text or "" for text in texts], resolved)
        # An entry that has no URL, or several, or one that another has, is read alone.
        if "" not in urls and self._seen.add_all(urls):
            self._tally.found = True
            return self.of_run(urls, run)
        return self._one_by_one(run, urls)

    def _only_urls(self, texts: list[str], resolved: Mapping[int, str]) -> list[str]:
        """Return the URL in each text; nothing for one that has not exactly one.

        What is wrong with them is reported elsewhere: see ``_check_run``.
        """
        urls = [text.strip(BLANKS) for text in texts]
        if are_plain_urls(urls):
            return urls
        key, unused = self._fields.url_key, self._diagnostics.unused()
        for at, url in enumerate(urls):
            if at in resolved:
                urls[at] = resolved[at]
            elif not is_plain_url(url):
                found = self._fields.urls([(key, texts[at])], unused)
                urls[at] = found[0] if len(found) == 1 else ""
        return urls

    def _one_by_one(self, run: EntryRun, urls: list[str]) -> Iterator[Made]:
        usual: list[int] = []
        for at, url in enumerate(urls):
            if url and self._seen.add(url):
                self._tally.found = True
                usual.append(at)
                continue
            if usual:
                yield from self._of_part(run, urls, usual)
                usual = []
            yield from self._of_entry(run.entry(at))
        if usual:
            yield from self._of_part(run, urls, usual)

    def _of_part(self, run: EntryRun, urls: list[str], chosen: list[int]) -> Iterable[Made]:
        return self.of_run([urls[at] for at in chosen], run.part(chosen))


class _PageReading(EntryReading[SitemapPage]):
    """Makes the page objects of one document."""

    def __init__(self, fields: FieldReader, diagnostics: Diagnostics, *, quick: bool) -> None:
        super().__init__(fields, diagnostics, quick=quick)
        self._readers: dict[tuple[RowLayout, Plain], PageFieldReader] = {}

    def of_record(self, url: str, record: Record) -> Iterable[SitemapPage]:
        """Return the page of a record."""
        return (SitemapPage.from_entry(url, record, self._fields, self._fields.base),)

    def of_run(self, urls: list[str], run: EntryRun) -> Iterable[SitemapPage]:
        """Return the pages of entries."""
        key = run.layout, plain_columns(self._fields, run)
        reader = self._readers.get(key)
        if reader is None:
            made = RowFieldReader(self._fields, *key)
            reader = self._readers[key] = cast("PageFieldReader", made)
        base = self._fields.base
        return map(SitemapPage.from_entry, urls, run.rows, repeat(reader), repeat(base))


def check_entry(
    entry: Entry, fields: FieldReader, quick: QuickCheck | None, diagnostics: Diagnostics
) -> list[str]:
    """Report the problems with the values of an entry, and which page they are about.

    Return the URLs of the entry, if there are problems.
    """
    name, record, _ = entry
    before = diagnostics.kept
    doubtful = quick.doubtful_urls(name, record) if quick else None
    if doubtful is None:
        fields.check(name, record, diagnostics)
    else:
        check_urls(doubtful, fields, diagnostics)
    return name_page(record, before, fields, diagnostics)


def check_urls(doubtful: Doubtful, fields: FieldReader, diagnostics: Diagnostics) -> None:
    """Report the problems with those URLs of an entry that may have some."""
    for key, text in doubtful:
        fields.check_value(key, text, diagnostics)


def name_page(
    record: Record, before: int, fields: FieldReader, diagnostics: Diagnostics
) -> list[str]:
    """Say which page the problems that are kept are about, from a number on.

    Return the URLs of the entry, if there are problems.
    """
    if diagnostics.kept == before:
        return []
    urls = fields.urls(record, diagnostics.unused())
    if urls:
        diagnostics.name_page(before, urls[0])
    return urls


def urls_of(record: Record, fields: FieldReader, diagnostics: Diagnostics) -> list[str]:
    """Return the URLs of an entry; report what is wrong with them, and which page that is about."""
    before = diagnostics.kept
    urls = fields.urls(record, diagnostics)
    if urls and diagnostics.kept > before:
        diagnostics.name_page(before, urls[0])
    return urls


def report_repeated(url: str, diagnostics: Diagnostics) -> None:
    """Report a URL that an earlier entry has."""
    before = diagnostics.kept
    diagnostics.report(*repeated_problem(url))
    diagnostics.name_page(before, url)


def _shared_fields(record: Record, url_key: str, urls: int) -> list[tuple[str, str]]:
    """Return the fields of an entry for each of its pages, without its URLs.

    Of those that are too many for all pages, the first ones.
    """
    pairs = list(record)
    fields = [pair for pair in pairs if pair[0] != url_key]
    longest = _MAX_SHARED * sum(len(key) + len(text) for key, text in pairs)
    sizes = accumulate(len(key) + len(text) for key, text in fields)
    return fields[: sum(size * urls <= longest for size in sizes)]
