"""From the entries of a document to its pages."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain, repeat
from typing import Final, cast

from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.field_reader import FieldReader
from usp._parse.pattern.extract import MatchFieldReaders
from usp._parse.pattern.groups import GroupLayout, Groups, MatchRun
from usp._parse.pattern.text_conversion import TextConversion
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.plain import is_plain_url, unescape_plain_url
from usp._parse.xml.entry_builder import Entry
from usp.objects.page import PageFieldReader, SitemapPage

MakeReaders = Callable[[GroupLayout, TextConversion], PageFieldReader]

CHILD: Final = "sitemap"
"""The name of entries that are no pages."""


def pages_of_entries(
    entries: Iterable[Entry | MatchRun],
    fields: FieldReader,
    diagnostics: Diagnostics,
    *,
    check: bool = False,
) -> Iterator[SitemapPage]:
    """Yield the page of each entry that has one, each URL once."""
    paging = _Paging(fields, diagnostics, check=check)
    return chain.from_iterable(map(paging.pages, entries))


class _Paging:
    """Makes the pages of one document."""

    def __init__(self, fields: FieldReader, diagnostics: Diagnostics, *, check: bool) -> None:
        self._meaning = fields
        self._diagnostics = diagnostics
        self._check = check
        self._seen = Deduplicator()
        self._readers = cast("MakeReaders", cache(partial(MatchFieldReaders, fields)))

    def pages(self, piece: Entry | MatchRun) -> Iterable[SitemapPage]:
        """Return the pages of an entry, or of a run of them."""
        if not isinstance(piece, MatchRun):
            return self._of_entry(piece)
        if self._check:
            return chain.from_iterable(map(self._of_entry, piece))
        return self._of_run(piece) if piece.name != CHILD else ()

    def _of_entry(self, entry: Entry) -> Iterator[SitemapPage]:
        fields, diagnostics = self._meaning, self._diagnostics
        name, record, diagnostics.here = entry
        if self._check:
            fields.check(name, record, diagnostics)
        elif name == CHILD:
            return
        for url in fields.urls(record, diagnostics):
            if not self._seen.add(url):
                diagnostics.report("SM305", f"URL {url[:200]!r} is listed again")
            elif name != CHILD:
                yield SitemapPage.from_entry(url, record, fields, fields.base)

    def _of_run(self, run: MatchRun) -> Iterable[SitemapPage]:
        """Return the same as for each entry alone: all at once where all are plain and new."""
        plain, base = run.looks.plain, self._meaning.base
        rows = list(map(re.Match.groups, run.matches))
        place = plain.only(self._meaning.url_key) if plain else None
        urls = [] if place is None else [url for row in rows if (url := row[place])]
        if plain and len(urls) == len(rows):
            urls = list(map(unescape_plain_url, urls)) if "&" in "".join(urls) else urls
            if self._seen.add_all(urls):
                read = self._readers(plain, run.conversion)
                return map(SitemapPage.from_entry, urls, rows, repeat(read), repeat(base))
        return self._one_by_one(run, rows)

    def _one_by_one(self, run: MatchRun, rows: list[Groups]) -> Iterator[SitemapPage]:
        fields = self._meaning
        for match, row in zip(run.matches, rows, strict=True):
            layout = run.looks.layout(row)
            url = _usual_url(row, layout, run.conversion, fields.url_key)
            if url and self._seen.add(url):
                read = self._readers(layout, run.conversion)
                yield SitemapPage.from_entry(url, row, read, fields.base)
            else:
                yield from self._of_entry(run.entry(match))


def _usual_url(
    row: Groups, layout: GroupLayout, conversion: TextConversion, key: str
) -> str | None:
    """Return the URL of an entry that has one, which means what is written; else None."""
    place = layout.only(key)
    url = None if place is None else row[place]
    if url is None:
        return None
    if layout.plain:
        return unescape_plain_url(url)
    url = conversion.text(url)
    return url if is_plain_url(url) else None
