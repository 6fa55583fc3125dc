"""Requests queued by host, and how many of them are in flight: per host and in all.

A host that answers 429 or 503 gets fewer concurrent requests, and slowly more again when it
responds. When a host backs off, and when it is dead, is decided in ``backoff``.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from usp._crawl.backoff import RATE_LIMITED, HostBackoff, counts_against_host
from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._parse import Document


@dataclass(slots=True, eq=False)
class HostLimits:
    """The current concurrency of one host, whichever scheme is used."""

    concurrency: int
    in_flight: int = 0
    responses: int = 0
    """Responses since the concurrency last changed."""
    free_at: float = 0.0
    """When the host may be requested again, by its ``Retry-After``."""


@dataclass(slots=True, eq=False)
class HostQueue:
    """Requests waiting for one host by one scheme: the other scheme may fail alone."""

    name: tuple[str, str]
    limits: HostLimits
    backoff: HostBackoff
    queued: dict[str, Resource] = field(default_factory=dict)
    in_flight: int = 0

    @property
    def free_at(self) -> float:
        """When the next request may be sent, as far as time decides."""
        return max(self.limits.free_at, self.backoff.next_probe_at if self.backoff.is_active else 0)


class HostQueues:
    """All requests of a crawl that are queued or in flight."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._limits: dict[str, HostLimits] = {}
        self._queues: dict[tuple[str, str], HostQueue] = {}
        self._nonempty: dict[tuple[str, str], HostQueue] = {}
        self._delayed: list[tuple[float, int, Resource]] = []
        self._sequence = 0  # ties in time go to what was queued first
        self._now = 0.0
        self.in_flight = 0

    @property
    def queued(self) -> int:
        """The number of requests that wait, those delayed by a retry not counted."""
        return sum(len(queue.queued) for queue in self._nonempty.values())

    def enqueue(self, resource: Resource) -> None:
        """Queue a request."""
        queue = self._queue(resource.url)
        queue.queued[resource.url] = resource
        self._nonempty[queue.name] = queue

    def enqueue_later(self, resource: Resource, due: float) -> None:
        """Queue a request at a later time: a retry."""
        self._sequence += 1
        heapq.heappush(self._delayed, (due, self._sequence, resource))

    def next_due(self) -> float | None:
        """Return when a request becomes possible that isn't yet, if nothing else happens."""
        times = [self._delayed[0][0]] if self._delayed else []
        times += [queue.free_at for queue in self._nonempty.values() if not queue.in_flight]
        return min((time for time in times if time > self._now), default=None)

    def start_requests(
        self, now: float, limit: int, prefetch: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield the requests to send now, at most ``limit``.

        ``first`` is what the crawl waits for: it, or what its host must answer before it, goes
        first. Then at most ``prefetch`` of the others.
        """
        self._now = now
        while self._delayed and self._delayed[0][0] <= now:
            resource = heapq.heappop(self._delayed)[2]
            if resource.result is None:  # a redirect from elsewhere may have brought it
                self.enqueue(resource)
        if first and limit > 0 and (started := self._next(self._queue(first.url), first)):
            limit -= 1
            yield self._start(started)
        limit = min(limit, prefetch)
        for queue in list(self._nonempty.values()):
            while limit > 0 and (following := self._next(queue)):
                limit -= 1
                yield self._start(following)
            if limit <= 0:
                return

    def remove(self, resource: Resource) -> None:
        """Take a request that is no longer needed out of its queue."""
        queue = self._queue(resource.url)
        queue.queued.pop(resource.url, None)
        if not queue.queued:
            self._nonempty.pop(queue.name, None)

    def finished(
        self, url: str, result: Document | FetchFailed, now: float, jitter: float
    ) -> list[Resource]:
        """Record the result of a request; return queued requests that fail with their host."""
        queue = self._queue(url)
        queue.in_flight -= 1
        queue.limits.in_flight -= 1
        self.in_flight -= 1
        self._adapt(queue.limits, result, now)
        if not isinstance(result, FetchFailed) or not counts_against_host(result):
            queue.backoff.succeeded()
            return []
        queue.backoff.failed(url, result, now, jitter, in_flight=queue.in_flight)
        return self._remove_all(queue) if queue.backoff.dead else []

    def dead_host(self, url: str) -> FetchFailed | None:
        """Return why the host of a URL was given up, if it was."""
        return self._queue(url).backoff.dead

    def _adapt(self, limits: HostLimits, result: Document | FetchFailed, now: float) -> None:
        """Halve the concurrency of a host that is rate limiting, and raise it step by step."""
        if not isinstance(result, FetchFailed):
            limits.responses += 1
            if limits.responses >= limits.concurrency:
                limits.responses = 0
                limits.concurrency = min(limits.concurrency + 1, self._policy.per_host)
        elif result.status in RATE_LIMITED:
            limits.responses = 0
            limits.concurrency = max(limits.concurrency // 2, 1)
            wait = min(result.retry_after or 0.0, self._policy.backoff_max)
            limits.free_at = max(limits.free_at, now + wait)

    def _queue(self, url: str) -> HostQueue:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2].lower()
        name = (parts.scheme.lower(), host)
        if name not in self._queues:
            limits = self._limits.setdefault(host, HostLimits(self._policy.per_host))
            self._queues[name] = HostQueue(name, limits, HostBackoff(self._policy))
        return self._queues[name]

    def _next(self, queue: HostQueue, wanted: Resource | None = None) -> Resource | None:
        """Return the request that may be sent to a host now: ``wanted``, if that is given.

        A host that backs off gets the request that is next for it anyway: its response lets the
        wanted one go.
        """
        limits = queue.limits
        if limits.in_flight >= limits.concurrency or self._now < queue.free_at or not queue.queued:
            return None
        if wanted and wanted.url not in queue.queued:
            return None
        if not queue.backoff.is_active:
            return wanted or next(iter(queue.queued.values()))
        if queue.in_flight:
            return None
        retry = queue.backoff.probes % 2 == 1  # a retry and a new URL in turn
        preferred = (one for one in queue.queued.values() if bool(one.attempts) == retry)
        return next(preferred, next(iter(queue.queued.values())))

    def _start(self, resource: Resource) -> Resource:
        self.remove(resource)
        queue = self._queue(resource.url)
        queue.in_flight += 1
        queue.limits.in_flight += 1
        self.in_flight += 1
        return resource

    def _remove_all(self, queue: HostQueue) -> list[Resource]:
        """Empty the queue of a dead host, delayed retries included."""
        queued = list(queue.queued.values())
        delayed = [one for *_, one in self._delayed if self._queue(one.url) is queue]
        for resource in queued:
            self.remove(resource)
        self._delayed = [entry for entry in self._delayed if self._queue(entry[2].url) is not queue]
        heapq.heapify(self._delayed)
        return queued + delayed
