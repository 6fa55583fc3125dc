"""Whom we ask: requests in line by host, how many at once, when a host is given up."""

import heapq
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from usp._crawl.messages import Answer, FetchFailed
from usp._crawl.policy import Policy
from usp._parse.document import Document
from usp._parse.sniff import Kind
from usp.objects.origin import Arrival

_TOO_MUCH: Final = frozenset({429, 503})
"""Statuses by which a server asks for fewer requests."""


@dataclass(slots=True, eq=False)
class Standing:
    """A document and where it stands in the tree: shared by all URLs that redirect to it."""

    document: Document | None = None
    opened_at: int | None = None
    """The lowest level at which it stands open as an index."""
    judged: bool = False
    """Whether the cursor has come to it."""


@dataclass(slots=True, eq=False)
class Resource:
    """A URL that is asked for once, however often it is declared."""

    url: str
    level: int
    probing: bool
    kind: Kind | None = None
    """What to read it as, where that isn't left to its first bytes."""
    two_ways: bool = True
    """Whether its other scheme is worth trying, where this one is dead."""
    tries: int = 0
    placed_at: int | None = None
    """The lowest level at which the tree declares it."""
    failure: FetchFailed | None = None
    arrival: Arrival | None = None
    """How the document came by this very URL."""
    standing: Standing = field(default_factory=Standing)
    twin: "Resource | None" = None
    """The same URL with the other scheme, asked for since this one is dead."""

    @property
    def own_answer(self) -> Answer | None:
        """What came of asking for it and nothing else."""
        return self.failure or self.standing.document

    @property
    def answer(self) -> Answer | None:
        """What came of asking for it, one way or the other, if anything has."""
        return self.in_its_stead.own_answer

    @property
    def in_its_stead(self) -> "Resource":
        """What to wait for, and what stands in the tree: the twin, unless that is dead as well."""
        return self if self.twin is None or self.twin.failure else self.twin


def _sets() -> dict[str, set[str]]:
    return defaultdict(set)


@dataclass(slots=True, eq=False)
class Host:
    """One host: what waits for it, and how much of us it bears."""

    name: str
    at_once: int
    flying: int = 0
    silent: dict[str, set[str]] = field(default_factory=_sets)
    """The URLs that got no answer since the last that did, by scheme: one may be dead alone."""
    answers: int = 0
    waiting: dict[str, Resource] = field(default_factory=dict)


class Hosts:
    """The requests that are in line and flying."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._hosts: dict[str, Host] = {}
        self._with_work: dict[str, Host] = {}
        self._later: list[tuple[float, int, Resource]] = []
        self._tie = 0  # what was planned first goes first
        self.flying = 0

    def plan(self, resource: Resource) -> None:
        """Put a request in line."""
        host = self._host(resource.url)
        host.waiting[resource.url] = resource
        self._with_work[host.name] = host

    def plan_later(self, resource: Resource, due: float) -> None:
        """Put a request in line when it is due."""
        self._tie += 1
        heapq.heappush(self._later, (due, self._tie, resource))

    def next_due(self) -> float | None:
        """Return when the first of the delayed requests is due."""
        return self._later[0][0] if self._later else None

    def launch(
        self, now: float, limit: int, for_later: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield what may go now, at most ``limit``.

        The request that is waited for goes first, then at most ``for_later`` of those in line.
        """
        while self._later and self._later[0][0] <= now:
            resource = heapq.heappop(self._later)[2]
            if resource.answer is None:  # a redirect from elsewhere may have brought it
                self.plan(resource)
        if first is not None and limit > 0 and self._may_go(first):
            limit -= 1
            yield self._start(first)
        limit = min(limit, for_later)
        for host in list(self._with_work.values()):
            while limit > 0 and host.waiting and host.flying < host.at_once:
                limit -= 1
                yield self._start(next(iter(host.waiting.values())))
            if limit <= 0:
                return

    def drop(self, resource: Resource) -> None:
        """Take a request that is no longer needed out of the line."""
        host = self._host(resource.url)
        host.waiting.pop(resource.url, None)
        if not host.waiting:
            self._with_work.pop(host.name, None)

    def landed(self, url: str, answer: Answer) -> list[Resource]:
        """Take note of an answer; return the requests that are pointless from now on."""
        host = self._host(url)
        host.flying -= 1
        self.flying -= 1
        self._adapt(host, answer)
        silent = host.silent[_scheme(url)]
        if isinstance(answer, FetchFailed) and answer.silent:
            silent.add(url)
        else:
            silent.clear()
        return self._drop_all(host, _scheme(url)) if self.given_up(url) else []

    def given_up(self, url: str) -> bool:
        """Tell whether a host has been silent too often in a row."""
        return len(self._host(url).silent[_scheme(url)]) >= self._policy.host_strikes

    def is_worth_retrying(self, url: str) -> bool:
        """Tell whether to try a URL again: not where the host was silent for another one too."""
        return self._host(url).silent[_scheme(url)] <= {url}

    def _adapt(self, host: Host, answer: Answer) -> None:
        """Ask less of a host that says it is too much, and slowly more of one that answers."""
        if not isinstance(answer, FetchFailed):
            host.answers += 1
            if host.answers >= host.at_once:
                host.answers = 0
                host.at_once = min(host.at_once + 1, self._policy.per_host)
        elif answer.status in _TOO_MUCH:
            host.answers = 0
            host.at_once = max(host.at_once // 2, 1)

    def _host(self, url: str) -> Host:
        name = urlsplit(url).netloc.lower()
        if name not in self._hosts:
            self._hosts[name] = Host(name, self._policy.per_host)
        return self._hosts[name]

    def _may_go(self, resource: Resource) -> bool:
        host = self._host(resource.url)
        return resource.url in host.waiting and host.flying < host.at_once

    def _start(self, resource: Resource) -> Resource:
        host = self._host(resource.url)
        del host.waiting[resource.url]
        if not host.waiting:
            del self._with_work[host.name]
        host.flying += 1
        self.flying += 1
        return resource

    def _drop_all(self, host: Host, scheme: str) -> list[Resource]:
        """Take all out of the line that would go to a host by a scheme, now or later."""

        def goes_there(resource: Resource) -> bool:
            return _scheme(resource.url) == scheme and self._host(resource.url) is host

        now = [resource for resource in host.waiting.values() if goes_there(resource)]
        later = [resource for *_, resource in self._later if goes_there(resource)]
        for resource in now:
            self.drop(resource)
        self._later = [entry for entry in self._later if not goes_there(entry[2])]
        heapq.heapify(self._later)
        return now + later


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()
