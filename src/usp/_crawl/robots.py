"""The rules of robots.txt in a crawl: what it says for an agent, and requests that wait for it.

Which URLs match is decided in ``_parse``. Here is what the status of robots.txt means (RFC 9309
2.3.1), and, with ``Policy(robots="obey")``, the gate: no URL of a host is requested before its
robots.txt has allowed it.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Final

from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Origin, Resource
from usp._crawl.urls import host_and_port
from usp._parse import (
    EVERYTHING_ALLOWED,
    EVERYTHING_DISALLOWED,
    Document,
    Pages,
    RobotsRules,
    read_robots_rules,
)
from usp.objects.robots import RobotsVerdict

DISALLOWED: Final = "SM608"
"""The code of a URL that robots.txt disallows."""
_UNAVAILABLE: Final = range(400, 500)


def robots_url(origin: Origin) -> str:
    """Return the URL of the robots.txt of a host."""
    return f"{origin[0]}://{origin[1]}/robots.txt"


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The robots.txt of a host: what came of requesting it."""

    url: str
    status: int | None
    reason: str = ""
    """Why it could not be read, if it couldn't."""
    pages: Pages | None = None
    """Its text, if it was read."""
    no_response: bool = False
    sitemaps: tuple[str, ...] = ()
    """The sitemaps that it declares at its own host."""
    known_rules: tuple[str, RobotsRules] | None = field(default=None, repr=False, compare=False)
    """An agent, and what it says to that one, if it was read already."""

    @classmethod
    def of(cls, url: str, result: Document | FetchFailed) -> "RobotsFile":
        """Return the robots.txt that a request brought, or why it brought none."""
        if isinstance(result, FetchFailed):
            return cls(url, result.status, result.message, no_response=result.no_response)
        pages = result.pages if isinstance(result.pages, Pages) else None
        host = host_and_port(url)
        same_host = tuple(c.url for c in result.children if host_and_port(c.url) == host)
        status, rules = result.fetch_info.status, result.robots_rules
        return cls(url, status, pages=pages, sitemaps=same_host, known_rules=rules)

    def __reduce__(self) -> tuple[object, ...]:
        names = {field.name for field in fields(self)} - {"known_rules"}  # they can be read again
        return restore_robots_file, ({name: getattr(self, name) for name in sorted(names)},)

    def rules(self, agent: str) -> RobotsRules:
        """Return the rules for an agent.

        Without a robots.txt (a status from 400 to 499) everything is allowed; if it can't be read
        for another reason, nothing is.
        """
        known_agent, known = self.known_rules or ("", None)
        if known is not None and known_agent == agent:
            return known
        if self.pages is not None:
            return read_robots_rules(self.pages.source, agent)
        is_absent = not self.reason or (self.status is not None and self.status in _UNAVAILABLE)
        return EVERYTHING_ALLOWED if is_absent else EVERYTHING_DISALLOWED

    def verdict(self, agent: str, homepage: str) -> RobotsVerdict:
        """Return what it says for an agent."""
        rules = self.rules(agent)
        return RobotsVerdict(
            agent,
            self.url,
            self.status,
            self.reason,
            rules.allows(homepage),
            all(map(rules.allows, self.sitemaps)),
            rules.crawl_delay,
            rules.content_signal,
            rules,
        )


def restore_robots_file(state: dict[str, Any]) -> RobotsFile:
    """Return the robots.txt of a pickled tree; fields that are unknown are ignored."""
    known = {field.name for field in fields(RobotsFile)}
    return RobotsFile(**{name: value for name, value in state.items() if name in known})


# Pickles name this function by the path of the package, which is kept.
restore_robots_file.__module__ = "usp._crawl"


class RobotsGate:
    """Holds requests back until the robots.txt of their host is known."""

    def __init__(self, policy: Policy) -> None:
        self._agent = policy.robots_agent
        self._max_delay = policy.max_crawl_delay
        self._opened: dict[Origin, tuple[RobotsFile, RobotsRules]] = {}
        self._held: dict[Origin, list[Resource]] = {}
        self._robots: dict[Origin, Resource] = {}
        self._waiting: dict[str, list[Origin]] = {}
        self.released: deque[Resource] = deque()
        """Requests that were held, and can be judged now."""

    def is_open(self, resource: Resource) -> bool:
        """Tell whether a request can be judged; robots.txt itself is always allowed."""
        return resource.origin in self._opened or resource.url == robots_url(resource.origin)

    def hold(self, resource: Resource) -> None:
        """Hold a request back."""
        self._held.setdefault(resource.origin, []).append(resource)

    def is_waiting(self, origin: Origin) -> bool:
        """Tell whether the robots.txt of a host was requested."""
        return origin in self._robots

    def wait_for(self, origin: Origin, robots: Resource) -> None:
        """Note the robots.txt that a host waits for; another spelling of the host may share it."""
        self._robots[origin] = robots
        self._waiting.setdefault(robots.url, []).append(origin)

    def blocking(self, resource: Resource) -> Resource:
        """Return what must be requested first: the robots.txt, while a request is held."""
        is_held = resource.own_result is None and not self.is_open(resource)
        return self._robots.get(resource.origin, resource) if is_held else resource

    def open(self, robots: Resource, result: Document | FetchFailed) -> dict[Origin, float]:
        """Take a robots.txt; return the delay between requests that it asks for, by host."""
        file = RobotsFile.of(robots.url, result)
        rules = file.rules(self._agent)
        origins = [robots.origin, *self._waiting.pop(robots.url, ())]
        for origin in origins:
            self._opened.setdefault(origin, (file, rules))
            self.released += self._held.pop(origin, ())
        delay = min(rules.crawl_delay or 0.0, self._max_delay)
        return dict.fromkeys(origins, delay) if delay else {}

    def refusal(self, resource: Resource) -> FetchFailed | None:
        """Return why a URL must not be requested; None if it may be."""
        found = self._opened.get(resource.origin)
        if found is None or found[1].allows(resource.url):
            return None
        file, rules = found
        if file.no_response:  # the host, not its rules: the other scheme may respond
            return FetchFailed(f"no response for robots.txt: {file.reason}", no_response=True)
        if file.reason:
            message = f"{file.url} can't be read, so nothing may be fetched: {file.reason}"
            return FetchFailed(message, code=DISALLOWED)
        rule = rules.rule_for(resource.url)
        line = f"line {rule.line}: Disallow: {rule.pattern}" if rule else ""
        message = f"robots.txt disallows it for {self._agent} ({line[:200]})"
        return FetchFailed(message, code=DISALLOWED)


def gate_for(policy: Policy) -> RobotsGate | None:
    """Return the gate of a crawl that obeys robots.txt; None for any other."""
    return RobotsGate(policy) if policy.robots == "obey" else None


def robots_file(roots: Iterable[Resource | None]) -> RobotsFile | None:
    """Return the robots.txt among the first resources of a crawl, if it was requested."""
    for resource in roots:
        if resource and resource.url == robots_url(resource.origin) and resource.own_result:
            effective = resource.effective
            result = effective.own_result
            return RobotsFile.of(effective.url, result) if result else None
    return None
