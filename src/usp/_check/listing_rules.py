"""Rules that compare all entries with one another: SM365, SM366, SM583, SM585, SM586, SM587.

Memory doesn't grow with the site: what is compared are hashes in temporary files (``partitions``).
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from usp._check.entry_ids import EntryIds, EntryNotes, Note
from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts, UnreadFacts
from usp._check.findings import Occurrence
from usp._check.hreflang import HreflangSignatures, code_of
from usp._check.listing import UrlListing
from usp._check.origins import host_of
from usp._check.partitions import hash64
from usp._check.registry import SiteRule, site_rule
from usp._check.return_links import LinkFault, ReturnLinks
from usp._check.rules import CheckSeverity
from usp._check.site_facts import SiteFacts
from usp._check.spooled import SpooledRows
from usp._parse import Kind
from usp.objects.outcome import FoundBy

_LISTED_AGAIN: Final = 365
_TWIN: Final = 366
_LISTS_PAGES: Final = frozenset({Kind.URLSET, Kind.TEXT, Kind.RSS, Kind.ATOM, Kind.JSON_FEED})
_SPECIAL: Final = ("news:", "image:", "video:")
"""What a sitemap may be for, beside pages: the prefixes of its extensions."""
_WRONG: Final = {
    LinkFault.NO_RETURN: ", whose entry does not link back",
    LinkFault.OTHER_NAME: ", whose entry gives another code for itself",
}
"""What is wrong with a link, in words."""


class EntryText(NamedTuple):
    """What is kept of an entry, under its id."""

    url: str
    line: int | None
    offset: int | None
    alternates: tuple[tuple[str, str], ...]


@site_rule("SM365", "SM366", "SM583", "SM585", "SM586", "SM587", "SM750")
class ListedUrls(SiteRule):
    """Remembers all entries, on disk, and compares them when everything was read."""

    def __init__(self, site: SiteFacts) -> None:
        del site
        self._ids = EntryIds()
        self._texts = SpooledRows(EntryText)
        self._listing = UrlListing()
        self._signatures = HreflangSignatures()
        self._links = ReturnLinks(self._signatures)
        self._sitemaps: list[tuple[str, frozenset[str]]] = []
        """The URL of each sitemap, and what it is for."""
        self._now: SitemapFacts | None = None
        self._unread = 0
        self._is_alone = False
        """Whether the caller named one sitemap, so that others were not looked for."""
        self._special: frozenset[str] = frozenset()

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Remember the URLs of an entry."""
        if facts.sitemap is not self._now:
            self._now, self._special = facts.sitemap, frozenset(_SPECIAL)
            self._ids.begin_sitemap()
            self._sitemaps.append((facts.sitemap.url, frozenset()))
        entry = facts.entry
        if self._special:
            self._special = frozenset(filter(entry.has, self._special))
        found = facts.alternates
        for url in entry.urls:
            entry_id = self._ids.next()
            self._texts.add(url, entry.line, entry.offset, found)
            self._listing.add(url, entry_id)
            self._signatures.add(url, found, entry_id)
        return ()

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterable[Occurrence]:
        """Remember what a sitemap is for: what all of its entries have."""
        self._unread += not end.complete
        is_alone = sitemap.found_by is FoundBy.GIVEN and sitemap.kind in _LISTS_PAGES
        self._is_alone = self._is_alone or is_alone
        if sitemap is self._now:
            self._sitemaps[-1] = sitemap.url, self._special
            self._now = None
        return ()

    def add_unread(self, unread: UnreadFacts) -> Iterable[Occurrence]:
        """Count what might list more pages."""
        self._unread += unread.found_by is not FoundBy.WELL_KNOWN
        return ()

    def finish(self) -> Iterator[Occurrence]:
        """Compare everything; yield what is found in document order."""
        notes = EntryNotes(3, self._ids.count)
        try:
            for entry_id, first, is_twin in self._listing.repeated(self._ids.sitemap_of):
                notes.add(entry_id, _TWIN if is_twin else _LISTED_AGAIN, first, 0)
            self._follow_links()
            unlisted = 0
            for fault, entry_id, target, other in self._links.faults(self._listing):
                if (self._unread or self._is_alone) and fault is LinkFault.UNLISTED:
                    unlisted += 1
                else:
                    notes.add(entry_id, fault, other, target)
            for entry_id, found in notes.in_order():
                entry = self._texts.at(entry_id)
                in_order = sorted(found, key=lambda note: _order(note, entry))
                yield from (self._occurrence(entry_id, entry, note) for note in in_order)
        finally:
            notes.close()
        if unlisted:
            why = f"sitemaps not read whole: {self._unread:,}"
            if self._is_alone:
                why = "one sitemap was checked, and others of the site may list them"
            detail = f"SM586: {why}; undecided links: {unlisted:,}"
            yield Occurrence("SM750", None, detail=detail)
        for host, count in self._signatures.unread_hosts().items():
            detail = f"SM583: no sitemap of {host} was read; entries that link to it: {count:,}"
            yield Occurrence("SM750", None, detail=detail)

    def close(self) -> None:
        """Remove the temporary files."""
        for files in (self._texts, self._listing, self._signatures, self._links):
            files.close()

    def _follow_links(self) -> None:
        """Look at the links of clusters that are not whole."""
        suspects = EntryNotes(0, self._ids.count)
        try:
            for entry_id in self._signatures.suspects():
                suspects.add(entry_id)
            for entry_id, _ in suspects.in_order():
                entry = self._texts.at(entry_id)
                self._links.add(entry.url, entry.alternates, entry_id)
        finally:
            suspects.close()

    def _occurrence(self, entry_id: int, entry: EntryText, note: Note) -> Occurrence:
        number, other, _ = note
        sitemap_url, special = self._sitemaps[self._ids.sitemap_of(entry_id)]
        severity = None
        if number in {_LISTED_AGAIN, _TWIN}:
            first = self._texts.at(other)
            what = f"{first.url} is listed, too" if number == _TWIN else "it was listed before"
            detail = what + self._place(other, first, entry_id)
            other_special = self._sitemaps[self._ids.sitemap_of(other)][1]
            if number == _LISTED_AGAIN and special != other_special:
                severity = CheckSeverity.INFO
        else:
            detail, severity = self._faulty_link(entry_id, entry, note)
        return Occurrence(
            f"SM{number}", sitemap_url, entry.url, entry.line, entry.offset, detail, severity
        )

    def _faulty_link(
        self, entry_id: int, entry: EntryText, note: Note
    ) -> tuple[str, CheckSeverity | None]:
        """Say what is wrong with a link, and where the entry is that contradicts it."""
        fault, other, target = LinkFault(note[0]), note[1], note[2]
        code, href = next(each for each in entry.alternates if hash64(each[1]) == target)
        link = f"{code_of(code)} is {href}"
        if fault is LinkFault.UNLISTED:
            is_same_host = host_of(entry.url) == host_of(href)
            return f"{link}, which no sitemap lists", None if is_same_host else CheckSeverity.INFO
        against = self._texts.at(other)
        what = f" here, but not for {against.url}" if fault is LinkFault.CONFLICT else _WRONG[fault]
        return link + what + self._place(other, against, entry_id), None

    def _place(self, entry_id: int, entry: EntryText, seen_from: int) -> str:
        """Return where an entry is, for a reader who looks at another one."""
        number = self._ids.sitemap_of(entry_id)
        is_here = number == self._ids.sitemap_of(seen_from)
        parts = [
            "" if is_here else self._sitemaps[number][0],
            f"line {entry.line}" if entry.line else "",
        ]
        named = ", ".join(filter(None, parts))
        return f" ({named})" if named else ""


def _order(note: Note, entry: EntryText) -> tuple[int, int, int]:
    """Return the order of a note within its entry: hashes are others in each process."""
    number, other, target = note
    hashes = [hash64(href) for _, href in entry.alternates]
    return number, other, hashes.index(target) if target in hashes else 0
