"""From the entries of a document to its pages."""

from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse import values
from usp._parse.builder import Entry
from usp._parse.findings import Findings
from usp._parse.layout import Run
from usp._parse.lines import MAX_TOLD_APART
from usp._parse.meaning import EntryMeaning
from usp.objects.page import SitemapPage

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
    for piece in entries:
        if not isinstance(piece, Run):
            yield from _pages_of_entry(piece, meaning, findings, seen, check=check)
        elif check:
            for entry in piece:
                yield from _pages_of_entry(entry, meaning, findings, seen, check=True)
        elif piece.name != CHILD:
            yield from _pages_of_run(piece, meaning, findings, seen)


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
    run: Run, meaning: EntryMeaning, findings: Findings, seen: set[str]
) -> Iterator[SitemapPage]:
    """Yield the same as for each entry alone, the usual ones in fewer steps."""
    make, base = SitemapPage.from_entry, meaning.base
    laid_out = meaning.laid_out(run.layout, run.convert)
    place = run.layout.only(meaning.url_key)
    for match in run.matches:
        groups = match.groups()
        url = None if place is None else groups[place]
        if url and values.is_plain_url(url) and url not in seen:
            if len(seen) < MAX_TOLD_APART:
                seen.add(url)
            yield make(url, groups, laid_out, base)
        else:
            yield from _pages_of_entry(run.entry(match), meaning, findings, seen, check=False)
