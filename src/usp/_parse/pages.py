"""From the entries of a document to its pages."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain, repeat
from typing import Final, cast

from usp._parse.builder import Entry
from usp._parse.characters import Conversion
from usp._parse.findings import Findings
from usp._parse.layout import Groups, Layout, Run
from usp._parse.lines import MAX_TOLD_APART
from usp._parse.meaning import EntryMeaning
from usp._parse.plain import is_plain_url, unescaped
from usp._parse.readers import Readers
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
    return chain.from_iterable(_in_pieces(entries, meaning, findings, check=check))


def _in_pieces(
    entries: Iterable[Entry | Run], meaning: EntryMeaning, findings: Findings, *, check: bool
) -> Iterator[Iterable[SitemapPage]]:
    """Yield the pages of each entry, or of each run of them."""
    seen: set[str] = set()
    readers = cast("MakeReaders", cache(partial(Readers, meaning)))
    for piece in entries:
        if not isinstance(piece, Run):
            yield _pages_of_entry(piece, meaning, findings, seen, check=check)
        elif check:
            for entry in piece:
                yield _pages_of_entry(entry, meaning, findings, seen, check=True)
        elif piece.name != CHILD:
            yield _pages_of_run(piece, readers, meaning, findings, seen)


def _pages_of_entry(
    entry: Entry, meaning: EntryMeaning, findings: Findings, seen: set[str], *, check: bool
) -> Iterator[SitemapPage]:
    name, record, findings.here = entry
    if check:
        meaning.check(name, record, findings)
    elif name == CHILD:
        return
    for url in meaning.urls(record, findings):
        if url in seen:
            findings.report("SM305", f"URL {url[:200]!r} is listed again")
            continue
        if len(seen) < MAX_TOLD_APART:
            seen.add(url)
        if name != CHILD:
            yield SitemapPage.from_entry(url, record, meaning, meaning.base)


def _pages_of_run(
    run: Run, readers: MakeReaders, meaning: EntryMeaning, findings: Findings, seen: set[str]
) -> Iterable[SitemapPage]:
    """Return the same as for each entry alone: all at once where all are plain and new."""
    plain, base = run.looks.plain, meaning.base
    rows = list(map(re.Match.groups, run.matches))
    place = plain.only(meaning.url_key) if plain else None
    urls = [] if place is None else [url for row in rows if (url := row[place])]
    if plain and len(urls) == len(rows):
        urls = list(map(unescaped, urls)) if "&" in "".join(urls) else urls
        if _take_all(urls, seen):
            read = readers(plain, run.conversion)
            return map(SitemapPage.from_entry, urls, rows, repeat(read), repeat(base))
    return _pages_one_by_one(run, rows, readers, meaning, findings, seen)


def _pages_one_by_one(
    run: Run,
    rows: list[Groups],
    readers: MakeReaders,
    meaning: EntryMeaning,
    findings: Findings,
    seen: set[str],
) -> Iterator[SitemapPage]:
    for match, row in zip(run.matches, rows, strict=True):
        layout = run.looks.layout(row)
        url = _usual_url(row, layout, run.conversion, meaning.url_key)
        if url and url not in seen:
            if len(seen) < MAX_TOLD_APART:
                seen.add(url)
            read = readers(layout, run.conversion)
            yield SitemapPage.from_entry(url, row, read, meaning.base)
        else:
            yield from _pages_of_entry(run.entry(match), meaning, findings, seen, check=False)


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


def _take_all(urls: list[str], seen: set[str]) -> bool:
    """Take note of these URLs if they are all new; tell whether they are."""
    before = len(seen)
    if before + len(urls) > MAX_TOLD_APART or not seen.isdisjoint(urls):
        return False
    seen.update(urls)
    if len(seen) < before + len(urls):  # some are twice among them
        seen.difference_update(urls)
        return False
    return True
