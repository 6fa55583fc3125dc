"""From the entries of a document to its pages."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain, repeat
from typing import Final, cast

from usp._parse.xml.entry_builder import Entry
from usp._parse.pattern.text_conversion import Conversion
from usp._parse.diagnostics import Findings
from usp._parse.pattern.groups import Groups, Layout, Run
from usp._parse.formats.field_reader import EntryMeaning
from usp._parse.values.plain import is_plain_url, unescaped
from usp._parse.pattern.extract import Readers
from usp._parse.values.deduplicate import Seen
from usp.objects.page import Meaning, SitemapPage

MakeReaders = Callable[[Layout, Conversion], Meaning]

CHILD: Final = "sitemap"
"""The name of entries that are no pages."""


def pages_of_entries(
    entries: Iterable[Entry | Run],
    meaning: EntryMeaning,
    findings: Findings,
    *,
    check: bool = False,
) -> Iterator[SitemapPage]:
    """Yield the page of each entry that has one, each URL once."""
    paging = _Paging(meaning, findings, check=check)
    return chain.from_iterable(map(paging.pages, entries))


class _Paging:
    """Makes the pages of one document."""

    def __init__(self, meaning: EntryMeaning, findings: Findings, *, check: bool) -> None:
        self._meaning = meaning
        self._findings = findings
        self._check = check
        self._seen = Seen()
        self._readers = cast("MakeReaders", cache(partial(Readers, meaning)))

    def pages(self, piece: Entry | Run) -> Iterable[SitemapPage]:
        """Return the pages of an entry, or of a run of them."""
        if not isinstance(piece, Run):
            return self._of_entry(piece)
        if self._check:
            return chain.from_iterable(map(self._of_entry, piece))
        return self._of_run(piece) if piece.name != CHILD else ()

    def _of_entry(self, entry: Entry) -> Iterator[SitemapPage]:
        meaning, findings = self._meaning, self._findings
        name, record, findings.here = entry
        if self._check:
            meaning.check(name, record, findings)
        elif name == CHILD:
            return
        for url in meaning.urls(record, findings):
            if not self._seen.take(url):
                findings.report("SM305", f"URL {url[:200]!r} is listed again")
            elif name != CHILD:
                yield SitemapPage.from_entry(url, record, meaning, meaning.base)

    def _of_run(self, run: Run) -> Iterable[SitemapPage]:
        """Return the same as for each entry alone: all at once where all are plain and new."""
        plain, base = run.looks.plain, self._meaning.base
        rows = list(map(re.Match.groups, run.matches))
        place = plain.only(self._meaning.url_key) if plain else None
        urls = [] if place is None else [url for row in rows if (url := row[place])]
        if plain and len(urls) == len(rows):
            urls = list(map(unescaped, urls)) if "&" in "".join(urls) else urls
            if self._seen.take_all(urls):
                read = self._readers(plain, run.conversion)
                return map(SitemapPage.from_entry, urls, rows, repeat(read), repeat(base))
        return self._one_by_one(run, rows)

    def _one_by_one(self, run: Run, rows: list[Groups]) -> Iterator[SitemapPage]:
        meaning = self._meaning
        for match, row in zip(run.matches, rows, strict=True):
            layout = run.looks.layout(row)
            url = _usual_url(row, layout, run.conversion, meaning.url_key)
            if url and self._seen.take(url):
                read = self._readers(layout, run.conversion)
                yield SitemapPage.from_entry(url, row, read, meaning.base)
            else:
                yield from self._of_entry(run.entry(match))


def _usual_url(row: Groups, layout: Layout, conversion: Conversion, key: str) -> str | None:
    """Return the URL of an entry that has one, which means what is written; else None."""
    place = layout.only(key)
    url = None if place is None else row[place]
    if url is None:
        return None
    if layout.plain:
        return unescaped(url)
    url = conversion.text(url)
    return url if is_plain_url(url) else None
