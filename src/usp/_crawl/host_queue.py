"""Whom we next_requests: requests in line by host, how many at once, when a host is given up.

A host that doesn't answer, or says that it is too much, for several URLs in a row is *unwell*: then
it is asked one thing at a time, with growing pauses, now something that failed and now something
new. The first answer ends that. If none comes, the host is given up, and all that waits for it.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._parse import Document

_TOO_MUCH: Final = frozenset({429, 503})
"""Statuses by which a server asks for fewer requests."""
_PROBES_OF_STRANGERS: Final = 2
"""So often a host that has never answered is asked once more before it is given up."""


@dataclass(slots=True, eq=False)
class HostLimits:
    """How much of us a host bears, whichever scheme it is asked by."""

    concurrency: int
    in_flight: int = 0
    answers: int = 0
    free_at: float = 0.0
    """When it may be asked again, as it said."""


@dataclass(slots=True, eq=False)
class HostQueue:
    """What waits for one host by one scheme: the other may be dead alone."""

    name: tuple[str, str]
    pace: HostLimits
    waiting: dict[str, Resource] = field(default_factory=dict)
    in_flight: int = 0
    answered: bool = False
    """Whether it has ever answered."""
    failed: set[str] = field(default_factory=set)
    """The URLs that got no answer, or too much, since the last that did."""
    probes: int = 0
    """How often an unwell host was asked, all in vain."""
    probe_at: float = 0.0
    """When an unwell host may be asked again."""
    gone: FetchFailed | None = None
    """Why it was given up, if it was."""


class HostQueues:
    """The requests that are in line and in_flight."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._paces: dict[str, HostLimits] = {}
        self._lines: dict[tuple[str, str], HostQueue] = {}
        self._with_work: dict[tuple[str, str], HostQueue] = {}
        self._later: list[tuple[float, int, Resource]] = []
        self._tie = 0  # what was planned first goes first
        self._now = 0.0
        self.in_flight = 0

    @property
    def waiting(self) -> int:
        """How many requests are in line."""
        return sum(len(line.waiting) for line in self._with_work.values())

    def plan(self, resource: Resource) -> None:
        """Put a request in line."""
        line = self._line(resource.url)
        line.waiting[resource.url] = resource
        self._with_work[line.name] = line

    def plan_later(self, resource: Resource, due: float) -> None:
        """Put a request in line when it is due."""
        self._tie += 1
        heapq.heappush(self._later, (due, self._tie, resource))

    def next_due(self) -> float | None:
        """Return when something may go that may not go yet, if nothing else happens."""
        times = [self._later[0][0]] if self._later else []
        times += [self._free_at(line) for line in self._with_work.values() if not line.in_flight]
        return min((time for time in times if time > self._now), default=None)

    def launch(
        self, now: float, limit: int, for_later: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield what may go now, at most ``limit``.

        The request that is waited for goes first, or what its host has to answer before it; then at
        most ``for_later`` of those in line.
        """
        self._now = now
        while self._later and self._later[0][0] <= now:
            resource = heapq.heappop(self._later)[2]
            if resource.answer is None:  # a redirect from elsewhere may have brought it
                self.plan(resource)
        if first and limit > 0 and (sent_first := self._next(self._line(first.url), first)):
            limit -= 1
            yield self._start(sent_first)
        limit = min(limit, for_later)
        for line in list(self._with_work.values()):
            while limit > 0 and (resource_or_none := self._next(line)):
                limit -= 1
                yield self._start(resource_or_none)
            if limit <= 0:
                return

    def drop(self, resource: Resource) -> None:
        """Take a request that is no longer needed out of the line."""
        line = self._line(resource.url)
        line.waiting.pop(resource.url, None)
        if not line.waiting:
            self._with_work.pop(line.name, None)

    def landed(
        self, url: str, answer: Document | FetchFailed, now: float, jitter: float
    ) -> list[Resource]:
        """Take note of an answer; return the requests that are pointless from now on."""
        line = self._line(url)
        line.in_flight -= 1
        line.pace.in_flight -= 1
        self.in_flight -= 1
        self._adapt(line.pace, answer, now)
        if not isinstance(answer, FetchFailed) or not _is_unwell(answer):
            line.answered = True
            line.failed.clear()
            line.probes = 0
            return []
        line.failed.add(url)
        if self._is_unwell(line):
            self._consider(line, answer, now, jitter)
        return self._drop_all(line) if line.gone else []

    def dead_host(self, url: str) -> FetchFailed | None:
        """Return why a host was given up, if it was."""
        return self._line(url).gone

    def _is_unwell(self, line: HostQueue) -> bool:
        return len(line.failed) >= self._policy.host_failure_threshold

    def _consider(self, line: HostQueue, failed: FetchFailed, now: float, jitter: float) -> None:
        """Decide when to next_requests an unwell host again, or to give it up."""
        if not line.in_flight:  # what went out together came back together
            line.probes += 1
            delay = self._policy.delay(line.probes, failed.retry_after, jitter)
            line.probe_at = now + delay
        stays = failed.no_response and not failed.retryable and not line.answered
        most = self._policy.max_attempts if line.answered else _PROBES_OF_STRANGERS
        if stays or line.probes > (most if failed.no_response else 2 * self._policy.max_attempts):
            message = f"{failed.message}: the host was given up"
            line.gone = replace(failed, message=message, retryable=False)

    def _adapt(self, pace: HostLimits, answer: Document | FetchFailed, now: float) -> None:
        """Ask less of a host that says it is too much, and slowly more of one that answers."""
        if not isinstance(answer, FetchFailed):
            pace.answers += 1
            if pace.answers >= pace.concurrency:
                pace.answers = 0
                pace.concurrency = min(pace.concurrency + 1, self._policy.per_host)
        elif answer.status in _TOO_MUCH:
            pace.answers = 0
            pace.concurrency = max(pace.concurrency // 2, 1)
            wait = min(answer.retry_after or 0.0, self._policy.backoff_max)
            pace.free_at = max(pace.free_at, now + wait)

    def _line(self, url: str) -> HostQueue:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2].lower()
        name = (parts.scheme.lower(), host)
        if name not in self._lines:
            pace = self._paces.setdefault(host, HostLimits(self._policy.per_host))
            self._lines[name] = HostQueue(name, pace)
        return self._lines[name]

    def _free_at(self, line: HostQueue) -> float:
        """Return when a line may move, as far as time decides."""
        return max(line.pace.free_at, line.probe_at if self._is_unwell(line) else 0.0)

    def _next(self, line: HostQueue, wanted: Resource | None = None) -> Resource | None:
        """Return what may go to a host now, if anything may: what is wanted, if that is told.

        An unwell host is asked what it would be asked anyway: its answer lets the wanted go.
        """
        pace = line.pace
        if (
            pace.in_flight >= pace.concurrency
            or self._now < self._free_at(line)
            or not line.waiting
        ):
            return None
        if wanted and wanted.url not in line.waiting:
            return None
        if not self._is_unwell(line):
            return wanted or next(iter(line.waiting.values()))
        if line.in_flight:
            return None
        again = line.probes % 2 == 1  # something that failed, then something new, and so on
        preferred = (one for one in line.waiting.values() if bool(one.attempts) == again)
        return next(preferred, next(iter(line.waiting.values())))

    def _start(self, resource: Resource) -> Resource:
        self.drop(resource)
        line = self._line(resource.url)
        line.in_flight += 1
        line.pace.in_flight += 1
        self.in_flight += 1
        return resource

    def _drop_all(self, line: HostQueue) -> list[Resource]:
        """Take all out of the line, what was to go later too."""
        now = list(line.waiting.values())
        later = [one for *_, one in self._later if self._line(one.url) is line]
        for resource in now:
            self.drop(resource)
        self._later = [entry for entry in self._later if self._line(entry[2].url) is not line]
        heapq.heapify(self._later)
        return now + later


def _is_unwell(failed: FetchFailed) -> bool:
    return failed.no_response or failed.status in _TOO_MUCH
