"""The robots.txt files of all hosts that a check meets: their rules, and the sitemaps they declare.

Those that the crawl reads come here anyway. That of another host is fetched when the first page or
sitemap there is met, for as many hosts as ``MAX_ASKED``: it may prove that a sitemap may list pages
of the host, and it says who may fetch them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from usp._check.origins import UrlOrigin, origin_of
from usp._crawl.messages import FetchFailed
from usp._parse import Document, Pages, RobotsRules, compared_path, read_robots_rules
from usp._parse.checking import Audit, AuditEntry
from usp.objects.robots import RobotsRule

MAX_ASKED: Final = 100
"""How many robots.txt files are fetched beside those of the crawl."""
FetchRobots = Callable[[str], Document | FetchFailed | None]
"""Fetches the robots.txt at a URL; None if nobody knows what is there."""
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
        if not self._groups:
            return []
        path = compared_path(url)
        found = []
        for agents, rules in self._groups:
            rule = rules.rule_for_path(path)
            if rule is not None and not rule.allows:
                found.append(f"{agents}: line {rule.line}, Disallow: {rule.pattern}")
        return found


@dataclass(frozen=True, slots=True)
class RobotsTxt:
    """What is known of one robots.txt. One that is not there allows everything."""

    rules: AgentRules = field(default_factory=lambda: AgentRules({}))
    declared: frozenset[str] = frozenset()
    """The sitemaps that it declares."""
    failed: bool = False
    """Whether it could not be read, so that nothing is known."""
    pages: Pages | None = None
    """Its text, if it was read."""


ABSENT: Final = RobotsTxt()
FAILED: Final = RobotsTxt(failed=True)


class SiteRobots:
    """Looks up the robots.txt of a host."""

    def __init__(self, agents: tuple[str, ...], fetch: FetchRobots | None = None) -> None:
        """Know nothing yet.

        :param fetch: fetches what the crawl does not; None where there is no network.
        """
        self._agents = agents
        self._fetch = fetch
        self._asked: set[UrlOrigin] = set()
        self._known: dict[UrlOrigin, RobotsTxt] = {}
        self._parents: dict[str, tuple[str, str | None]] = {}

    def add(self, pages: Pages, *urls: str) -> None:
        """Take a robots.txt that was read, with its URLs before redirects and after.

        One that redirects counts for its own host, too (RFC 9309 2.3.1.2).
        """
        found = self._read(pages)
        for origin in filter(None, map(origin_of, urls)):
            self._known[origin] = found

    def add_unread(self, url: str, status: int | None) -> None:
        """Take a robots.txt that could not be read."""
        origin = origin_of(url)
        if origin:
            self._known.setdefault(origin, FAILED if is_failure(status) else ABSENT)

    def add_index(self, url: str, declared_url: str, parent_url: str | None) -> None:
        """Take an index: what proves it proves its sitemaps."""
        self._parents[url] = declared_url, parent_url

    @property
    def any_read(self) -> bool:
        """Whether some robots.txt is known to be there, or not to be there."""
        return any(not txt.failed for txt in self._known.values())

    @property
    def declared(self) -> int:
        """How many sitemaps are declared in all."""
        return sum(len(txt.declared) for txt in self._known.values())

    def all_known(self) -> Iterable[tuple[UrlOrigin, RobotsTxt]]:
        """Return every robots.txt that is known, with the host that it belongs to."""
        return self._known.items()

    def known(self, origin: UrlOrigin) -> RobotsTxt | None:
        """Return the robots.txt of a host, if the crawl has it."""
        return self._known.get(origin)

    def of(self, origin: UrlOrigin) -> RobotsTxt | None:
        """Return the robots.txt of a host; it is fetched if need be.

        :return: None if it can't be known: there is no network, or too many were fetched.
        :raises TimeoutError: if the time of the check is up.
        """
        found = self._known.get(origin)
        if found is None and origin not in self._asked and len(self._asked) < MAX_ASKED:
            found = self._fetched(f"{origin}/robots.txt")
            self._asked.add(origin)
            if found is not None:
                self._known[origin] = found
        return found

    def proves(self, origin: UrlOrigin, *urls: str) -> bool | None:
        """Tell whether the robots.txt of a host declares one of these URLs, or an index with it.

        :return: None if that can't be known.
        """
        same_host = [txt for known, txt in self._known.items() if known.host == origin.host]
        if any(not txt.failed and self._leads_to(txt.declared, urls) for txt in same_host):
            return True
        txt = self.of(origin)
        return None if txt is None or txt.failed else self._leads_to(txt.declared, urls)

    def names(self, urls: set[str]) -> bool:
        """Tell whether some robots.txt declares one of these URLs."""
        return any(urls & txt.declared for txt in self._known.values())

    def _leads_to(self, declared: frozenset[str], urls: tuple[str, ...]) -> bool:
        """Tell whether one of some URLs is declared, or an index above it."""
        names: set[str] = set(urls)
        seen: set[str] = set()
        while names and not names & declared:
            seen |= names
            above: set[str] = set()
            for declared_url, parent in filter(None, map(self._parents.get, names)):
                above |= {declared_url, *([parent] if parent else [])}
            names = above - seen
        return bool(names)

    def _fetched(self, url: str) -> RobotsTxt | None:
        result = self._fetch(url) if self._fetch else None
        if result is None:
            return None
        if isinstance(result, FetchFailed):
            return FAILED if is_failure(result.status) else ABSENT
        return self._read(result.pages) if isinstance(result.pages, Pages) else ABSENT

    def _read(self, pages: Pages) -> RobotsTxt:
        rules = {agent: read_robots_rules(pages.source, agent) for agent in self._agents}
        entries = (entry for entry in Audit(pages) if isinstance(entry, AuditEntry))
        declared = frozenset(url for entry in entries for url in entry.urls)
        return RobotsTxt(AgentRules(rules), declared, pages=pages)


def is_failure(status: int | None) -> bool:
    """Tell whether engines stop crawling a site whose robots.txt has this status."""
    return (
        status is None
        or status == HTTPStatus.TOO_MANY_REQUESTS
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )
