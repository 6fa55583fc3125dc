"""What robots.txt says about sitemaps and pages: SM650 to SM653, SM660."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts, UnreadFacts
from usp._check.findings import Occurrence
from usp._check.origins import MAX_HOSTS, Origins, UrlOrigin, origin_of
from usp._check.registry import SiteRule, site_rule
from usp._check.site_facts import SiteFacts
from usp._check.site_robots import is_failure
from usp._parse import Kind
from usp.objects.outcome import FoundBy

MAX_BYTES: Final = 512_000
"""What engines read of a robots.txt (RFC 9309 2.5)."""
_STEP: Final = 64
"""After so many URLs of one entry the time is asked for: thousands of rules may look at each."""
_NO_FILES: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})


@site_rule("SM650", "SM651", "SM652", "SM653", "SM660", "SM750")
class RobotsPages(SiteRule):
    """Asks the robots.txt of each host about its pages and sitemaps."""

    def __init__(self, site: SiteFacts) -> None:
        self._robots = site.robots
        self._go_on = site.go_on
        self._origins = Origins()
        self._unjudged: Counter[UrlOrigin] = Counter()
        self._sitemaps = 0

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Judge each page."""
        found: list[Occurrence] = []
        for number, url in enumerate(facts.entry.urls, 1):
            if not number % _STEP:
                self._go_on()
            origin = self._origins.of(url)
            if facts.sitemap.is_file or origin is None:
                continue  # no robots.txt belongs to a file
            txt = self._robots.of(origin)
            if txt is not None and not txt.failed:
                refusals = txt.rules.refusals(url)
                found += [facts.occurrence("SM660", why, url=url) for why in refusals]
            elif origin in self._unjudged or len(self._unjudged) < MAX_HOSTS:
                self._unjudged[origin] += 1
        return found

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterator[Occurrence]:
        """Read a robots.txt; judge the URL of a sitemap."""
        origin = None if sitemap.is_file else origin_of(sitemap.url)
        if sitemap.kind is Kind.ROBOTS:
            if end.document_bytes > MAX_BYTES:
                detail = f"{end.document_bytes:,} bytes; what is beyond {MAX_BYTES:,} is not read"
                yield sitemap.occurrence("SM653", detail)
        elif sitemap.kind not in _NO_FILES:
            self._sitemaps += 1
            txt = self._robots.of(origin) if origin else None
            for refusal in txt.rules.refusals(sitemap.url) if txt else ():
                yield sitemap.occurrence("SM650", refusal)

    def add_unread(self, unread: UnreadFacts) -> Iterator[Occurrence]:
        """Say that a robots.txt fails; one that is not there allows everything."""
        origin = origin_of(unread.url)
        if unread.found_by is not FoundBy.WELL_KNOWN or origin is None:
            return
        if unread.is_unfinished:
            detail = f"SM652: a limit ended the crawl before the robots.txt of {origin} was read"
            yield Occurrence("SM750", None, detail=detail)
        elif is_failure(unread.status):
            detail = f"HTTP {unread.status}" if unread.status else unread.reason
            yield Occurrence("SM652", unread.url, detail=detail)

    def finish(self) -> Iterator[Occurrence]:
        """Say what could not be judged, and whether robots.txt declares no sitemap."""
        if self._sitemaps and self._robots.any_read and not self._robots.declared:
            yield Occurrence("SM651", None, detail="no robots.txt that was read has a Sitemap line")
        for origin, count in self._unjudged.items():
            txt = self._robots.known(origin)
            why = "failed" if txt and txt.failed else "was not read"
            detail = f"SM660: the robots.txt of {origin} {why}; undecided pages: {count:,}"
            yield Occurrence("SM750", None, detail=detail)
