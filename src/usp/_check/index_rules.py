"""Rules about indexes and the sitemaps that they list: SM254, SM655, SM657, SM658, SM661."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Final

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.origins import UrlOrigin, host_of, origin_of
from usp._check.registry import SiteRule, site_rule
from usp._check.site_facts import SiteFacts
from usp._check.value_rules import utc
from usp._parse import Kind
from usp.objects.outcome import FoundBy

_DAY: Final = timedelta(days=1)
_NO_SITEMAP: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})


@site_rule("SM254", "SM655", "SM657", "SM658", "SM661", "SM750")
class IndexStructure(SiteRule):
    """Compares indexes with what they list. Memory grows with the number of sitemaps."""

    def __init__(self, site: SiteFacts) -> None:
        self._latest = site.options.now + _DAY
        self._robots = site.robots
        self._listed: dict[str, str] = {}
        """By the URL of a listed sitemap, the index that lists it first."""
        self._newest: datetime | None = None
        self._last_date = ""
        self._guessed: list[SitemapFacts] = []

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Look at the date of a page."""
        if facts.sitemap.index_lastmod is not None:
            self._look_at_date(facts)
        return ()

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterator[Occurrence]:
        """Compare a sitemap with the index that lists it."""
        del end
        newest, self._newest, self._last_date = self._newest, None, ""
        if sitemap.kind is Kind.INDEX and sitemap.parent_kind is Kind.INDEX:
            detail = "it is an index, too"
            yield Occurrence("SM254", sitemap.parent_url, sitemap.url, detail=detail)
        given = sitemap.index_lastmod
        if given is not None and newest is not None and newest - _end(given) > _DAY:
            detail = (
                f"the index gives {given:%Y-%m-%d %H:%M}, the newest page {newest:%Y-%m-%d %H:%M}"
            )
            yield Occurrence("SM658", sitemap.parent_url, sitemap.url, detail=detail)
        if sitemap.found_by is FoundBy.KNOWN_PATH and sitemap.kind not in _NO_SITEMAP:
            self._guessed.append(sitemap)

    def finish(self) -> Iterator[Occurrence]:
        """Say which sitemaps nothing names, if other sitemaps are declared."""
        for sitemap in self._guessed if self._robots.declared else ():
            names = {sitemap.url, sitemap.declared_url}
            if not names & self._listed.keys() and not self._robots.names(names):
                yield sitemap.occurrence("SM661", "neither robots.txt nor an index names it")

    def add_child(self, facts: EntryFacts) -> Iterator[Occurrence]:
        """Look at a sitemap that is listed."""
        index = facts.sitemap
        if index.kind is Kind.ROBOTS:
            return  # it may name any sitemap, and some name one for each agent
        host = "" if index.is_file else host_of(index.url)
        for url in facts.entry.urls:
            origin = origin_of(url)
            if host and origin and host != origin.host:
                yield from self._elsewhere(facts, url, host, origin)
            first = self._listed.setdefault(url, index.url)
            if first != index.url or facts.entry.repeated:
                where = "in this index" if first == index.url else f"in {first}"
                yield facts.occurrence("SM657", f"it is listed {where} already", url=url)

    def _elsewhere(
        self, facts: EntryFacts, url: str, host: str, origin: UrlOrigin
    ) -> Iterator[Occurrence]:
        """Judge a sitemap on another host: its robots.txt must declare it, or the index."""
        is_proven = self._robots.proves(origin, url, *facts.sitemap.names)
        if is_proven is None:
            detail = f"SM655: the robots.txt of {origin} could not be read"
            yield facts.occurrence("SM750", detail, url=url)
        elif not is_proven:
            yield facts.occurrence("SM655", f"the index is on {host}", url=url)

    def _look_at_date(self, facts: EntryFacts) -> None:
        written, parsed = facts.lastmod
        if written == self._last_date:
            return
        self._last_date = written
        moment = utc(parsed) if parsed else None
        if moment and moment <= self._latest and (self._newest is None or moment > self._newest):
            self._newest = moment


def _end(given: datetime) -> datetime:
    """Return the latest time that a date can mean: a bare date means its whole day."""
    moment = given.astimezone(UTC)
    return moment + _DAY if moment.time() == time(0) else moment
