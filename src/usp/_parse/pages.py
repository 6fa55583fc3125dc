"""From the entries of a document to its pages."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import repeat
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
    seen: set[str] = set()
    readers = cast("MakeReaders", cache(partial(Readers, meaning)))
    for piece in entries:
        if not isinstance(piece, Run):
            yield from _pages_of_entry(piece, meaning, findings, seen, check=check)
        elif check:
            for entry in piece:
                yield from _pages_of_entry(entry, meaning, findings, seen, check=True)
        elif piece.name != CHILD:
            yield from _pages_of_run(piece, readers, meaning, findings, seen)


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
) -> Iterator[SitemapPage]:
    """Yield the same as for each entry alone: all at once where all are plain and new."""
    plain, make, base = run.looks.plain, SitemapPage.from_entry, meaning.base
    rows = [match.groups() for match in run.matches]
    place = plain.only(meaning.url_key) if plain else None
    urls = [] if place is None else [url for row in rows if (url := row[place])]
    if any("&" in url for url in urls):
        urls = list(map(unescaped, urls))
    if plain and len(urls) == len(rows) and _take_all(urls, seen):
        yield from map(make, urls, rows, repeat(readers(plain, run.conversion)), repeat(base))
        return
    for match, row in zip(run.matches, rows, strict=True):
        layout = run.looks.layout(row)
        url = _usual_url(row, layout, run.conversion, meaning.url_key)
        if url and url not in seen:
            if len(seen) < MAX_TOLD_APART:
                seen.add(url)
            yield make(url, row, readers(layout, run.conversion), base)
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
    new = set(urls)
    if len(new) < len(urls) or len(seen) + len(new) > MAX_TOLD_APART or not seen.isdisjoint(new):
        return False
    seen |= new
    return True
