"""Rules about what the caller expects of the site: SM369 and SM370."""

from collections.abc import Iterable, Iterator

from usp._check.facts import EntryFacts, UnreadFacts
from usp._check.findings import Occurrence
from usp._check.registry import SiteRule, site_rule
from usp._check.site_facts import SiteFacts


@site_rule("SM369", "SM370", "SM750")
class Expectations(SiteRule):
    """Counts pages, and looks for those that must be listed."""

    def __init__(self, site: SiteFacts) -> None:
        self._min_pages = site.options.min_pages
        self._missing = dict.fromkeys(site.options.required)
        self._pages = 0
        self._is_stopped = False

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Count the pages of an entry."""
        entry = facts.entry
        if not entry.repeated:
            self._pages += len(entry.urls)
        if self._missing:
            for url in entry.urls:
                self._missing.pop(url, None)
        return ()

    def add_unread(self, unread: UnreadFacts) -> Iterable[Occurrence]:
        """Remember that a limit ended the crawl: what it did not come to may be there."""
        self._is_stopped = self._is_stopped or unread.is_unfinished
        return ()

    def finish(self) -> Iterator[Occurrence]:
        """Say what is missing."""
        found = list(self._what_is_missing())
        if not self._is_stopped:
            yield from found
        elif found:
            codes = ", ".join(dict.fromkeys(one.code for one in found))
            detail = f"{codes}: a limit ended the crawl before everything was read"
            yield Occurrence("SM750", None, detail=detail)

    def _what_is_missing(self) -> Iterator[Occurrence]:
        for url in self._missing:
            yield Occurrence("SM369", None, url, detail="no sitemap lists it")
        if self._min_pages is not None and self._pages < self._min_pages:
            detail = f"{self._pages:,} pages, at least {self._min_pages:,} expected"
            yield Occurrence("SM370", None, detail=detail)
