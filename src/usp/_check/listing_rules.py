"""Rules that compare all entries with one another: SM365, SM366, SM583, SM585, SM586, SM587.

Memory doesn't grow with the site: what is compared are hashes in temporary files (``partitions``).
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from usp._check.entry_ids import EntryIds, EntryNotes, Note
from usp._check.facts import MAX_SHARING, DocumentEnd, EntryFacts, SitemapFacts, UnreadFacts
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


_MAX_NAMED: Final = 2048
"""How much of a URL is shown at other entries. A long one would be copied for each of them."""


class EntryPlace(NamedTuple):
    """What other entries show of an entry. It is looked up in any order, so it is short."""

    url: str
    """The start of its URL."""
    line: int | None
    offset: int | None


class EntryText(NamedTuple):
    """What an entry has beside its place. It may be long, and is read in document order only."""

    rest: str
    """The rest of its URL."""
    alternates: tuple[tuple[str, str], ...]


@site_rule("SM365", "SM366", "SM583", "SM585", "SM586", "SM587", "SM750")
class ListedUrls(SiteRule):
    """Remembers all entries, on disk, and compares them when everything was read."""

    def __init__(self, site: SiteFacts) -> None:
        self._go_on = go_on = site.go_on
        self._ids = EntryIds()
        self._places = SpooledRows(EntryPlace, go_on)
        self._texts = SpooledRows(EntryText, go_on)
        self._listing = UrlListing(go_on)
        self._signatures = HreflangSignatures(go_on)
        self._links = ReturnLinks(self._signatures, go_on)
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
        for number, url in enumerate(entry.urls):
            entry_id = self._ids.next()
            is_left_out = number >= MAX_SHARING and bool(found)
            self._places.add(url[:_MAX_NAMED], entry.line, entry.offset)
            self._texts.add(url[_MAX_NAMED:], () if is_left_out else found)
            self._listing.add(url, entry_id)
            if is_left_out:
                self._signatures.leave_out(url)
            else:
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
        notes = EntryNotes(3, self._ids.count, self._go_on)
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
                self._go_on()
                yield from self._occurrences(entry_id, found)
        finally:
            notes.close()
        if unlisted:
            why = f"sitemaps not read whole: {self._unread:,}"
            if self._is_alone:
                why = "one sitemap was checked, and others of the site may list them"
            detail = f"SM586: {why}; undecided links: {unlisted:,}"
            yield Occurrence("SM750", None, detail=detail)
        if left_out := self._signatures.left_out:
            why = f"entries with more than {MAX_SHARING} URLs and alternates"
            yield Occurrence("SM750", None, detail=f"SM583: {why}; undecided URLs: {left_out:,}")
        for host, count in self._signatures.unread_hosts().items():
            detail = f"SM583: no sitemap of {host} was read; entries that link to it: {count:,}"
            yield Occurrence("SM750", None, detail=detail)

    def close(self) -> None:
        """Remove the temporary files."""
        for files in (self._places, self._texts, self._listing, self._signatures, self._links):
            files.close()

    def _follow_links(self) -> None:
        """Look at the links of clusters that are not whole."""
        suspects = EntryNotes(0, self._ids.count, self._go_on)
        try:
            for entry_id in self._signatures.suspects():
                suspects.add(entry_id)
            for entry_id, _ in suspects.in_order():
                self._go_on()
                url, alternates = self._url_and_alternates(entry_id)
                self._links.add(url, alternates, entry_id)
        finally:
            suspects.close()

    def _url_and_alternates(self, entry_id: int) -> tuple[str, tuple[tuple[str, str], ...]]:
        text = self._texts.at(entry_id)
        return self._places.at(entry_id).url + text.rest, text.alternates

    def _occurrences(self, entry_id: int, notes: list[Note]) -> Iterator[Occurrence]:
        """Yield what was noted about an entry, in the order of its links."""
        url, alternates = self._url_and_alternates(entry_id)
        links = _numbers({target for _, _, target in notes}, alternates)
        # Hashes are others in each process, so they give no order.
        in_order = sorted((number, other, links.get(target, 0)) for number, other, target in notes)
        sitemap_url, _ = self._sitemaps[self._ids.sitemap_of(entry_id)]
        _, line, offset = self._places.at(entry_id)
        own_host = host_of(url)
        for number, other, link in in_order:
            if number in {_LISTED_AGAIN, _TWIN}:
                detail, severity = self._repeated(entry_id, number, other)
            else:
                code, href = alternates[link]
                detail, severity = f"{code_of(code)} is {href}", None
                if number == LinkFault.UNLISTED:
                    detail += ", which no sitemap lists"
                    severity = None if own_host == host_of(href) else CheckSeverity.INFO
                else:
                    detail += self._contradiction(entry_id, LinkFault(number), other)
            yield Occurrence(f"SM{number}", sitemap_url, url, line, offset, detail, severity)

    def _repeated(self, entry_id: int, number: int, other: int) -> tuple[str, CheckSeverity | None]:
        """Say where the page of an entry is listed, too, and how severe that is."""
        severity = None
        what = "it was listed before"
        if number == _TWIN:
            what = f"{self._places.at(other).url} is listed, too"
        elif self._special_of(entry_id) != self._special_of(other):
            severity = CheckSeverity.INFO
        return what + self._place(other, entry_id), severity

    def _special_of(self, entry_id: int) -> frozenset[str]:
        return self._sitemaps[self._ids.sitemap_of(entry_id)][1]

    def _contradiction(self, entry_id: int, fault: LinkFault, other: int) -> str:
        """Say what is wrong with a link, and where the entry is that contradicts it."""
        what = _WRONG.get(fault) or f" here, but not for {self._places.at(other).url}"
        return what + self._place(other, entry_id)

    def _place(self, entry_id: int, seen_from: int) -> str:
        """Return where an entry is, for a reader who looks at another one."""
        number = self._ids.sitemap_of(entry_id)
        is_here = number == self._ids.sitemap_of(seen_from)
        line = self._places.at(entry_id).line
        parts = ["" if is_here else self._sitemaps[number][0], f"line {line}" if line else ""]
        named = ", ".join(filter(None, parts))
        return f" ({named})" if named else ""


def _numbers(targets: Container[int], alternates: Sequence[tuple[str, str]]) -> dict[int, int]:
    """Return where the first link to each target is, by the hash of its URL."""
    found: dict[int, int] = {}
    for number, (_, href) in enumerate(alternates):
        if (hashed := hash64(href)) in targets:
            found.setdefault(hashed, number)
    return found
