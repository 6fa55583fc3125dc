"""From the entries of a document to its pages."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import repeat
from typing import Final, cast

from usp._parse import values
from usp._parse.builder import Entry
from usp._parse.findings import Findings
from usp._parse.layout import Convert, Layout, Run
from usp._parse.lines import MAX_TOLD_APART
from usp._parse.meaning import EntryMeaning
from usp._parse.readers import Readers
from usp.objects.page import Meaning, SitemapPage

MakeReaders = Callable[[Layout, Convert | None], Meaning]

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
    """Yield the same as for each entry alone: all at once where all are as usual."""
    rows = run.rows()
    urls = run.column(rows, meaning.url_key)
    if urls and values.are_plain_urls(urls) and _take_all(urls, seen):
        return map(
            SitemapPage.from_entry,
            urls,
            rows,
            repeat(readers(run.layout, run.convert)),
            repeat(meaning.base),
        )
    return (
        page
        for entry in run
        for page in _pages_of_entry(entry, meaning, findings, seen, check=False)
    )


def _take_all(urls: list[str], seen: set[str]) -> bool:
    """Take note of these URLs if they are all new; tell whether they are."""
    new = set(urls)
    if len(new) < len(urls) or len(seen) + len(new) > MAX_TOLD_APART or not seen.isdisjoint(new):
        return False
    seen |= new
    return True
