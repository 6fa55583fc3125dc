"""What robots.txt says about sitemaps and pages: SM650 to SM653, SM660."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Final

from usp._check.facts import CheckOptions, DocumentEnd, EntryFacts, SitemapFacts, UnreadFacts
from usp._check.findings import Occurrence
from usp._check.origins import MAX_HOSTS, Origins, UrlOrigin, origin_of
from usp._check.registry import SiteRule, site_rule
from usp._parse import Kind, RobotsRules, compared_path, read_robots_rules
from usp.objects.outcome import FoundBy
from usp.objects.robots import RobotsRule

MAX_BYTES: Final = 512_000
"""What engines read of a robots.txt (RFC 9309 2.5)."""
_NO_FILES: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})
_Group = tuple[str, RobotsRules]


class AgentRules:
    """The rules of one robots.txt for agents; those that get the same rules are one group."""

    def __init__(self, rules: Mapping[str, RobotsRules]) -> None:
        groups: dict[tuple[RobotsRule, ...], tuple[list[str], RobotsRules]] = {}
        for agent, found in rules.items():
            if found.rules:
                groups.setdefault(found.rules, ([], found))[0].append(agent)
        self._groups: list[_Group] = [
            (", ".join(agents), found) for agents, found in groups.values()
        ]

    def refusals(self, url: str) -> list[str]:
        """Say which agents may not fetch a URL, and which line decides that."""
        path = compared_path(url)
        found = []
        for agents, rules in self._groups:
            rule = rules.rule_for_path(path)
            if rule is not None and not rule.allows:
                found.append(f"{agents}: line {rule.line}, Disallow: {rule.pattern}")
        return found


@site_rule("SM650", "SM651", "SM652", "SM653", "SM660", "SM750")
class RobotsPages(SiteRule):
    """Asks the robots.txt of each host about its pages and sitemaps."""

    def __init__(self, options: CheckOptions) -> None:
        self._agents = options.agents
        self._origins = Origins()
        self._rules: dict[UrlOrigin, AgentRules] = {}
        self._failed: set[UrlOrigin] = set()
        self._unjudged: Counter[UrlOrigin] = Counter()
        self._declared = 0
        self._sitemaps = 0

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Judge each page."""
        if not facts.is_page:
            self._declared += facts.sitemap.kind is Kind.ROBOTS
            return ()
        found: list[Occurrence] = []
        for url in facts.entry.urls:
            origin = self._origins.of(url)
            rules = self._rules.get(origin) if origin else None
            if rules is not None:
                found += [facts.occurrence("SM660", why, url=url) for why in rules.refusals(url)]
            elif facts.sitemap.is_file or origin is None:
                continue  # no robots.txt belongs to a file
            elif origin in self._unjudged or len(self._unjudged) < MAX_HOSTS:
                self._unjudged[origin] += 1
        return found

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterator[Occurrence]:
        """Read a robots.txt; judge the URL of a sitemap."""
        origin = None if sitemap.is_file else origin_of(sitemap.url)
        if sitemap.kind is Kind.ROBOTS:
            read = {agent: read_robots_rules(sitemap.source, agent) for agent in self._agents}
            # One that redirects counts for its own host, too (RFC 9309 2.3.1.2).
            for own in filter(None, map(origin_of, (sitemap.url, sitemap.declared_url))):
                self._rules[own] = AgentRules(read)
            if end.document_bytes > MAX_BYTES:
                detail = f"{end.document_bytes:,} bytes; what is beyond {MAX_BYTES:,} is not read"
                yield sitemap.occurrence("SM653", detail)
        elif sitemap.kind not in _NO_FILES:
            self._sitemaps += 1
            rules = self._rules.get(origin) if origin else None
            for refusal in rules.refusals(sitemap.url) if rules else ():
                yield sitemap.occurrence("SM650", refusal)

    def add_unread(self, unread: UnreadFacts) -> Iterator[Occurrence]:
        """Say that a robots.txt fails; one that is not there allows everything."""
        origin = origin_of(unread.url)
        if unread.found_by is not FoundBy.WELL_KNOWN or origin is None:
            return
        if is_failure(unread.status):
            self._failed.add(origin)
            detail = f"HTTP {unread.status}" if unread.status else unread.reason
            yield Occurrence("SM652", unread.url, detail=detail)
        else:
            self._rules[origin] = AgentRules({})

    def finish(self) -> Iterator[Occurrence]:
        """Say what could not be judged, and whether robots.txt declares no sitemap."""
        if self._sitemaps and self._rules and not self._declared:
            yield Occurrence("SM651", None, detail="no robots.txt that was read has a Sitemap line")
        for origin, count in self._unjudged.items():
            why = "failed" if origin in self._failed else "was not read"
            detail = f"SM660: the robots.txt of {origin} {why}; undecided pages: {count:,}"
            yield Occurrence("SM750", None, detail=detail)


def is_failure(status: int | None) -> bool:
    """Tell whether engines stop crawling a site whose robots.txt has this status."""
    return (
        status is None
        or status == HTTPStatus.TOO_MANY_REQUESTS
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )
