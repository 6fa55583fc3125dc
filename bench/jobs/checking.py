"""Jobs of ``bench/check.py``."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Final

import usp
from bench.jobs.result import JobResult, digest_of
from bench.multilingual_site import (
    INDEX,
    LANGUAGES,
    PAGES_IN_A_SITEMAP,
    REPEATED,
    RULES,
    MultilingualSite,
    alternates,
    page,
)
from usp._check import rule_modules
from usp._check.facts import CheckOptions, DocumentEnd, EntryFacts, SitemapFacts
from usp._check.hreflang import HreflangSignatures
from usp._check.listing import UrlListing
from usp._check.listing_rules import EntryPlace
from usp._check.registry import SITE_RULES
from usp._check.site_facts import SiteFacts
from usp._check.site_robots import AgentRules, SiteRobots
from usp._check.spooled import SpooledRows
from usp._check.url_key import url_key
from usp._parse import Kind, Pages, Source, read_robots_rules
from usp._parse.checking import AuditEntry

HOME: Final = "https://www.example.org"
WHOLE_SITE: Final = (
    *("SM254", "SM352", "SM354", "SM365", "SM366", "SM367", "SM583", "SM585", "SM586", "SM587"),
    *("SM65", "SM66", "SM75"),
)
"""The rules about a whole site; all others are applied as well, and not counted."""
_AGENTS: Final = ("Googlebot", "Bingbot", "YandexBot")


class _Found:
    """What a check finds: how often, and hashes of where."""

    def __init__(self) -> None:
        self._start, self._cpu = time.perf_counter(), time.process_time()
        self._counts: Counter[str] = Counter()
        self._urls: dict[str, list[str]] = {"SM365": [], "SM583": []}

    def take(self, occurrence: usp.Occurrence) -> None:
        self._counts[occurrence.code] += 1
        self._urls.get(occurrence.code, []).append(occurrence.url or "")

    def take_all(self, occurrences: Iterable[usp.Occurrence]) -> None:
        for occurrence in occurrences:
            self.take(occurrence)

    def result(self) -> JobResult:
        return {
            "seconds": time.perf_counter() - self._start,
            "cpu": time.process_time() - self._cpu,
            "counts": self._counts,
            "digests": {code: digest_of(urls) for code, urls in self._urls.items()},
        }


def check_site(homepage: str) -> JobResult:
    """Check a site."""
    found = _Found()
    with usp.check(homepage, select=WHOLE_SITE, on_occurrence=found.take) as findings:
        for _ in findings:
            pass
    return found.result()


def check_entries(clusters: int, broken: int, repeated: int) -> JobResult:
    """Apply the rules about a whole site to entries that are made here, without reading."""
    rule_modules.load()
    options = CheckOptions(datetime.now(UTC))
    site = SiteFacts(options, SiteRobots(options.agents))
    rules = [rule(site) for rule in SITE_RULES]
    found = _Found()
    with ExitStack() as stack:
        for rule in rules:
            stack.callback(rule.close)
        for sitemap, entries in _documents(MultilingualSite(clusters, broken, repeated), options):
            if sitemap.kind is Kind.ROBOTS:
                site.robots.add(Pages(sitemap.source, Kind.ROBOTS), sitemap.url)
            for entry in entries:
                facts = EntryFacts(sitemap, entry)
                for rule in rules:
                    add = rule.add if facts.is_page else rule.add_child
                    found.take_all(add(facts) if add else ())
            for rule in rules:
                found.take_all(rule.end_document(sitemap, DocumentEnd()))
        for rule in rules:
            found.take_all(rule.finish())
        return found.result()


def _documents(
    site: MultilingualSite, options: CheckOptions
) -> Iterator[tuple[SitemapFacts, Iterator[AuditEntry]]]:
    """Yield the documents of a site, each with its entries."""
    robots = f"User-agent: *\n{RULES}Sitemap: {HOME}{INDEX}\n"
    declared = AuditEntry("line", (HOME + INDEX,), (), 1, 1, 0)
    source = Source.of(robots)
    yield SitemapFacts(f"{HOME}/robots.txt", Kind.ROBOTS, options, source), iter([declared])
    for start in range(0, site.clusters, PAGES_IN_A_SITEMAP):
        for language in LANGUAGES:
            sitemap = SitemapFacts(f"{HOME}/{language}-{start}.xml", Kind.URLSET, options, source)
            yield sitemap, _entries(site, language, start)
    again = (page(HOME, "es", cluster) for cluster in site.repeated_clusters)
    entries = (
        AuditEntry("url", (url,), (("loc", url),), at, at, at) for at, url in enumerate(again)
    )
    yield SitemapFacts(HOME + REPEATED, Kind.URLSET, options, source), entries


def _entries(site: MultilingualSite, language: str, start: int) -> Iterator[AuditEntry]:
    broken = frozenset(site.broken_clusters)
    for cluster in range(start, min(start + PAGES_IN_A_SITEMAP, site.clusters)):
        url = page(HOME, language, cluster)
        record = [("loc", url)]
        for code, href in alternates(HOME, language, cluster, broken):
            record += (
                ("xhtml:link@rel", "alternate"),
                ("xhtml:link@hreflang", code),
                ("xhtml:link@href", href),
                ("xhtml:link", ""),
            )
        yield AuditEntry("url", (url,), record, cluster + 1, cluster, cluster)


def check_steps(number: int) -> JobResult:
    """Return the CPU time of single steps, in microseconds a URL."""
    urls = [f"{HOME}/category-{n % 97}/product-{n}.html" for n in range(number)]
    rules = "".join(f"Disallow: /private-{n}/\nDisallow: /*?sort-{n}=\n" for n in range(20))
    robots = f"User-agent: *\n{rules}\nUser-agent: Bingbot\n{rules}Disallow: /only-bing/\n"
    verdicts = AgentRules({agent: read_robots_rules(Source.of(robots), agent) for agent in _AGENTS})
    listing, signatures = UrlListing(), HreflangSignatures()
    texts = SpooledRows(EntryPlace)
    languages = [
        [(code, f"{HOME}/{code}/{n}") for code in ("en", "de", "fr", "es")] for n in range(number)
    ]
    steps: dict[str, Iterable[object]] = {
        "key of a URL": map(url_key, urls),
        "robots.txt, three agents in two groups": map(verdicts.refusals, urls),
        "remembering a URL": map(listing.add, urls, range(number)),
        "comparing all URLs": listing.repeated(lambda _: 0),
        "text of an entry": map(texts.add, urls, range(number), range(number)),
        "signature of four alternates": map(
            signatures.add, (links[0][1] for links in languages), languages, range(number)
        ),
        "comparing all signatures": signatures.suspects(),
    }
    return {"steps": {name: _cost(step) / number * 1e6 for name, step in steps.items()}}


def _cost(step: Iterable[object]) -> float:
    start = time.process_time()
    deque(step, 0)
    return time.process_time() - start


JOBS: Final[dict[str, Callable[..., JobResult]]] = {
    "check_entries": check_entries,
    "check_site": check_site,
    "check_steps": check_steps,
}
