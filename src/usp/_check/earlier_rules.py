"""Rules about what changed since the earlier run: SM458, SM801 to SM804.

Only what was read whole both times is compared: what could not be read says nothing. Memory doesn't
grow with the site: URLs are compared as hashes in temporary files (``partitions``).
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from usp._check.check_time import GoOn
from usp._check.date_statistics import MIN_DATED
from usp._check.earlier_run import EarlierRun, EarlierSitemap
from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts, UnreadFacts
from usp._check.findings import Occurrence
from usp._check.partitions import COUNT, MASK, TOP_BYTE, Partitions, hash64
from usp._check.registry import CHECKED, SiteRule
from usp._check.samples import PageEntry
from usp._check.url_key import url_key
from usp._check.value_rules import utc
from usp._parse import Kind

_SHARE: Final = 0.9
_MIN_FLIPPED: Final = 5
"""So many URLs must change their spelling at least."""
_NOW: Final = 0
"""The mark of a URL that is listed now; that of an earlier one is the number of its sitemap."""
_WORDS: Final = 3
_STEP: Final = 4096
"""After so many URLs the time is asked for."""


class AgainstEarlierRun(SiteRule):
    """Compares each sitemap with what it was, and all URLs with those that were."""

    codes = ("SM458", "SM801", "SM802", "SM803", "SM804")

    def __init__(self, earlier: EarlierRun, max_drop: float, go_on: GoOn) -> None:
        """Prepare a comparison.

        :param max_drop: the share of pages that may be missing.
        :param go_on: asked while the URLs of both runs are compared.
        """
        self._go_on = go_on
        self._earlier = earlier
        self._max_drop = max_drop
        self._by_url = {
            url: sitemap for sitemap in earlier.sitemaps for url in (sitemap.final_url, sitemap.url)
        }
        self._met: set[int] = set()
        """The numbers of the earlier sitemaps that were read now, or failed."""
        self._unknown: set[int] = set()
        """Those of which what they list now is not known."""
        self._unread = 0
        self._before = self._after = 0
        self._urls = Partitions(_WORDS, go_on)
        """The key of a URL, the URL, and its mark."""
        self._begin(None)
        self._removed: array[int] = array("Q")

    def _begin(self, sitemap: SitemapFacts | None) -> None:
        self._sitemap = sitemap
        self._known = self._of(sitemap) if sitemap else None
        self._count = self._sum = self._dated = self._later = 0

    def _of(self, sitemap: SitemapFacts) -> EarlierSitemap | None:
        return self._by_url.get(sitemap.declared_url) or self._by_url.get(sitemap.url)

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Remember the URLs of an entry, and whether its date is after the earlier run."""
        if facts.sitemap is not self._sitemap:
            self._begin(facts.sitemap)
        if facts.entry.repeated:
            return ()
        for url in facts.entry.urls:
            hashed = hash64(url)
            self._count += 1
            self._sum = (self._sum + hashed) & MASK
            self._remember(url, hashed, _NOW)
        if self._known:
            self._look_at_date(facts)
        return ()

    def _remember(self, url: str, hashed: int, mark: int) -> None:
        key = hash64(url_key(url))
        self._urls.add(key >> TOP_BYTE, key, hashed, mark)

    def _look_at_date(self, facts: EntryFacts) -> None:
        written, date = facts.lastmod
        earlier = self._known.fetched_at if self._known else None
        if not written or earlier is None:
            return
        self._dated += 1
        self._later += date is not None and utc(date) > earlier

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterator[Occurrence]:
        """Compare a sitemap with what it was."""
        if sitemap is not self._sitemap:
            self._begin(sitemap)
        known = self._known
        if known is None:
            return
        self._met.add(known.number)
        if not end.complete:
            self._unknown.add(known.number)
            return
        if known.is_rolling or sitemap.kind is Kind.INDEX:
            return
        if known.pages and not self._count:
            yield sitemap.occurrence("SM803", f"it had {known.pages:,} pages")
        if known.is_complete:
            self._before += known.pages
            self._after += self._count
            yield from self._moved_dates(sitemap, known)

    def _moved_dates(self, sitemap: SitemapFacts, known: EarlierSitemap) -> Iterator[Occurrence]:
        """Say whether dates moved though the URLs are the same."""
        if self._dated < MIN_DATED or self._later < self._dated * _SHARE:
            return
        urls = list(map(hash64, self._urls_of(known)))
        if len(urls) == self._count and sum(urls) & MASK == self._sum:
            detail = (
                f"the same {self._count:,} URLs as on {known.fetched_at:%Y-%m-%d %H:%M}, "
                f"{self._later:,} of {self._dated:,} dates are later"
            )
            yield sitemap.occurrence("SM458", detail)

    def add_unread(self, unread: UnreadFacts) -> Iterator[Occurrence]:
        """Say that a sitemap can't be read any more."""
        self._unread += 1
        known = self._by_url.get(unread.url)
        if known is None or known.number in self._met:
            return
        self._met.add(known.number)
        self._unknown.add(known.number)
        if not (unread.is_skipped or unread.is_unfinished):
            detail = f"it had {known.pages:,} pages; now: {unread.reason}"
            yield Occurrence("SM802", known.final_url, detail=detail)

    def finish(self) -> Iterator[Occurrence]:
        """Say what is missing in all."""
        if self._before and self._before - self._after > self._before * self._max_drop:
            drop = (self._before - self._after) / self._before
            detail = f"{self._before:,} pages in the earlier run, {self._after:,} now: {drop:.0%}"
            yield Occurrence("SM801", None, detail=f"{detail} fewer")
        yield from self._compare_urls()

    def _compare_urls(self) -> Iterator[Occurrence]:
        """Say which sitemaps nothing names any more, and whether URLs changed their spelling."""
        for sitemap in filter(self._is_compared, self._earlier.sitemaps):
            for url in self._urls_of(sitemap):
                self._remember(url, hash64(url), sitemap.number)
        removed = flipped = 0
        missing: Counter[int] = Counter()
        for partition in range(COUNT):
            if not self._urls.is_empty(partition):
                gone, turned = self._compare(partition, missing)
                removed, flipped = removed + gone, flipped + turned
        unnamed = [one for one in self._earlier.sitemaps if one.number not in self._met]
        yield from self._unnamed(unnamed, missing)
        if flipped >= _MIN_FLIPPED and flipped >= removed * _SHARE:
            detail = f"{flipped:,} of {removed:,} removed URLs are listed in another spelling"
            yield Occurrence("SM804", None, detail=detail)

    def _is_compared(self, sitemap: EarlierSitemap) -> bool:
        """Tell whether URLs that a sitemap lists no more were removed, and did not expire."""
        if sitemap.number in self._unknown:
            return False
        return not sitemap.is_rolling or sitemap.number not in self._met

    def _compare(self, partition: int, missing: Counter[int]) -> tuple[int, int]:
        """Return how many URLs were removed, and how many of them have another spelling now."""
        words = self._urls.read(partition)
        rows = list(zip(words[0::_WORDS], words[1::_WORDS], words[2::_WORDS], strict=True))
        now = {url for _, url, mark in rows if mark == _NOW}
        before = {url for _, url, mark in rows if mark != _NOW}
        new_keys = {key for key, url, mark in rows if mark == _NOW and url not in before}
        missing.update(mark for _, url, mark in rows if mark != _NOW and url not in now)
        gone = {url: key for key, url, mark in rows if mark != _NOW and url not in now}
        self._removed.extend(gone)
        return len(gone), sum(key in new_keys for key in gone.values())

    def _unnamed(
        self, sitemaps: list[EarlierSitemap], missing: Counter[int]
    ) -> Iterator[Occurrence]:
        """Yield the sitemaps that nothing names any more, unless their pages are elsewhere."""
        if self._unread and sitemaps:
            detail = f"SM802: what names {len(sitemaps):,} sitemaps may not have been read"
            yield Occurrence("SM750", None, detail=detail)
            return
        for sitemap in sitemaps:
            if missing[sitemap.number]:
                detail = (
                    f"nothing names it any more; {missing[sitemap.number]:,} of its "
                    f"{sitemap.pages:,} pages are in no sitemap"
                )
                yield Occurrence("SM802", sitemap.final_url, detail=detail)

    def removed_pages(self) -> Iterator[PageEntry]:
        """Yield the URLs that were listed and are not, in their order; after ``finish``."""
        removed = array("Q", sorted(self._removed))
        for sitemap in self._earlier.sitemaps:
            if sitemap.number in self._unknown or sitemap.is_rolling:
                continue
            for url in self._earlier.urls_of(sitemap):
                hashed = hash64(url)
                at = bisect_left(removed, hashed)
                if at < len(removed) and removed[at] == hashed:
                    yield PageEntry(sitemap.final_url, url, None, None)

    def _urls_of(self, sitemap: EarlierSitemap) -> Iterator[str]:
        """Yield the URLs that a sitemap listed, as long as there is time."""
        for number, url in enumerate(self._earlier.urls_of(sitemap)):
            if not number % _STEP:
                self._go_on()
            yield url

    def close(self) -> None:
        """Remove the temporary files, and close the state."""
        self._urls.close()
        self._earlier.close()


CHECKED.update(AgainstEarlierRun.codes)
