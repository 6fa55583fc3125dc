"""Requests queued by host, and how many of them are in flight: per host and in all.

A host that answers 429 or 503 gets fewer concurrent requests, and slowly more again when it
responds. When a host backs off, and when it is dead, is decided in ``backoff``.

A crawl may lead to as many hosts as sitemaps, so no step looks at all of them: a queue stands in
one heap while it may send a request, in another while it waits for a time, and in none while it
waits for a response.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from usp._crawl.backoff import HostBackoff, counts_against_host, is_rate_limit
from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Origin, Resource

_TOO_MANY_REQUESTS: Final = 429


@dataclass(slots=True, eq=False)
class HostLimits:
    """The current concurrency of one host, whichever scheme is used."""

    concurrency: int
    queues: "list[HostQueue]" = field(default_factory=list)
    """Its queues, one a scheme."""
    in_flight: dict[str, int] = field(default_factory=dict)
    """The URLs that are being requested, with the number of each request."""
    responses: int = 0
    """Responses since the concurrency last changed."""
    reduced_at: int = 0
    """The number of the last request that was sent before the concurrency was last reduced."""
    paused_until: float = 0.0
    """When the host may be requested again, by the ``Retry-After`` of a 429."""
    unavailable_until: float = 0.0
    """The same for a 503. A good response shows that the host is available, and ends it."""
    interval: float = 0.0
    """The least seconds between the starts of two requests: the ``Crawl-delay`` of robots.txt."""
    started_at: float = 0.0
    """When the last request was sent."""

    @property
    def free_at(self) -> float:
        """When the host may be requested again, by its ``Retry-After`` and ``Crawl-delay``."""
        spaced = self.started_at + self.interval if self.interval else 0.0
        return max(self.paused_until, self.unavailable_until, spaced)


@dataclass(slots=True, eq=False)
class HostQueue:
    """Requests waiting for one host by one scheme: the other scheme may fail alone."""

    origin: Origin
    limits: HostLimits
    backoff: HostBackoff
    new: dict[str, Resource] = field(default_factory=dict)
    """Requests that were not sent yet, in document order."""
    retries: dict[str, Resource] = field(default_factory=dict)
    """Requests that are due again."""
    delayed: dict[str, Resource] = field(default_factory=dict)
    """Requests that are due again later; they count as neither queued nor in flight."""
    in_flight: int = 0
    turn: int = 0
    """The order among the queues that may send a request: that in which they became nonempty."""
    is_ready: bool = False
    """Whether it stands among the queues that may send a request."""
    waits_until: float | None = None
    """The time for which it waits, if it stands among the queues that wait for one."""

    @property
    def is_empty(self) -> bool:
        """Whether no request can be sent, whatever the time."""
        return not (self.new or self.retries)

    @property
    def free_at(self) -> float:
        """When the next request may be sent, as far as time decides."""
        backs_off = self.backoff.is_active
        return max(self.limits.free_at, self.backoff.next_probe_at if backs_off else 0.0)

    def next(self) -> Resource:
        """Return the request to send next: due retries go before new URLs.

        A host that backs off gets a retry and a new URL in turn: one of them may be at fault.
        """
        new_first = self.backoff.is_active and self.backoff.probes % 2 == 0
        both = (self.new, self.retries) if new_first else (self.retries, self.new)
        return next(chain.from_iterable(queued.values() for queued in both))

    def pop(self, url: str) -> bool:
        """Take a request out of the queue; tell whether it was there."""
        return (self.new.pop(url, None) or self.retries.pop(url, None)) is not None


class HostQueues:
    """All requests of a crawl that are queued or in flight."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._limits: dict[str, HostLimits] = {}
        self._queues: dict[Origin, HostQueue] = {}
        self._ready: list[tuple[int, HostQueue]] = []
        self._waiting: list[tuple[float, int, HostQueue]] = []
        self._delayed: list[tuple[float, int, Resource]] = []
        self._sequence = 0  # ties in time go to what was queued first
        self._requests = 0
        self._now = 0.0
        self.in_flight = 0
        self.queued = 0
        """The number of requests that wait, those delayed by a retry not counted."""

    def enqueue(self, resource: Resource) -> None:
        """Queue a request."""
        queue = self._queue(resource.origin)
        if queue.is_empty and not queue.is_ready:
            queue.turn = self._next_number()
        (queue.retries if resource.attempts else queue.new)[resource.url] = resource
        self.queued += 1
        self._place(queue)

    def enqueue_later(self, resource: Resource, due: float) -> None:
        """Queue a request at a later time: a retry."""
        self._queue(resource.origin).delayed[resource.url] = resource
        heapq.heappush(self._delayed, (due, self._next_number(), resource))

    def _next_number(self) -> int:
        self._sequence += 1
        return self._sequence

    def next_due(self) -> float | None:
        """Return when a request becomes possible that isn't yet, if nothing else happens."""
        while self._waiting and self._waiting[0][0] != self._waiting[0][2].waits_until:
            heapq.heappop(self._waiting)  # it was placed anew since
        times = [heap[0][0] for heap in (self._delayed, self._waiting) if heap]
        return min(times, default=None)

    def start_requests(
        self, now: float, limit: int, prefetch: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield the requests to send now, at most ``limit``.

        ``first`` is what the crawl waits for: it, or what its host must answer before it, goes
        first. Then at most ``prefetch`` of the others.
        """
        self._now = now
        self._take_due()
        if first and limit > 0 and (started := self._wanted(first)):
            limit -= 1
            yield self._start(started)
        limit = min(limit, prefetch)
        while limit > 0 and self._ready:
            queue = self._ready[0][1]
            if self._may_start(queue):
                limit -= 1
                yield self._start(queue.next())
            else:
                heapq.heappop(self._ready)
                queue.is_ready = False
                self._place(queue)

    def remove(self, resource: Resource) -> None:
        """Take a request that is no longer needed out of its queue."""
        self.queued -= self._queue(resource.origin).pop(resource.url)

    def finished(
        self, resource: Resource, failure: FetchFailed | None, now: float, jitter: float
    ) -> list[Resource]:
        """Record the end of a request; return queued requests that fail with their host."""
        self._now = now
        queue = self._queue(resource.origin)
        limits = queue.limits
        request = limits.in_flight.pop(resource.url)
        queue.in_flight -= 1
        self.in_flight -= 1
        if failure is not None and counts_against_host(failure):
            queue.backoff.failed(resource.url, failure, now, jitter, in_flight=queue.in_flight)
        else:
            queue.backoff.succeeded()
            limits.unavailable_until = 0.0
        self._adapt(queue, request, failure, now)
        abandoned = self._remove_all(queue) if queue.backoff.dead else []
        for other in limits.queues:
            self._place(other)
        return abandoned

    def keep_interval(self, origin: Origin, seconds: float) -> None:
        """Keep an interval between the starts of requests to a host."""
        self._queue(origin).limits.interval = seconds

    def known_origin(self, origin: Origin) -> Origin:
        """Return the origin as the object that is kept already, if there is one."""
        queue = self._queues.get(origin)
        return queue.origin if queue else origin

    def delay_within_time(self, origin: Origin, delay: float, now: float) -> float:
        """Return a delay, shortened if the host would be given up before it is over."""
        return self._queue(origin).backoff.within_time(delay, now)

    def dead_host(self, origin: Origin) -> FetchFailed | None:
        """Return why a host was given up, if it was."""
        queue = self._queues.get(origin)
        return queue.backoff.dead if queue else None

    def _adapt(
        self, queue: HostQueue, request: int, failure: FetchFailed | None, now: float
    ) -> None:
        """Halve the concurrency of a host that is rate limiting, and raise it step by step.

        Requests that were sent before it was halved tell nothing about the new concurrency.
        """
        limits = queue.limits
        if failure is None:
            limits.responses += 1
            if limits.responses >= limits.concurrency:
                limits.responses = 0
                limits.concurrency = min(limits.concurrency + 1, self._policy.per_host)
        elif is_rate_limit(failure):
            limits.responses = 0
            if request > limits.reduced_at:
                limits.concurrency = max(limits.concurrency // 2, 1)
                limits.reduced_at = self._requests
            pause = min(failure.retry_after or 0.0, self._policy.backoff_max)
            until = now + queue.backoff.within_time(pause, now)
            if failure.status == _TOO_MANY_REQUESTS:
                limits.paused_until = max(limits.paused_until, until)
            else:
                limits.unavailable_until = max(limits.unavailable_until, until)

    def _queue(self, origin: Origin) -> HostQueue:
        queue = self._queues.get(origin)
        if queue is None:
            limits = self._limits.setdefault(origin[1], HostLimits(self._policy.per_host))
            queue = self._queues[origin] = HostQueue(origin, limits, HostBackoff(self._policy))
            limits.queues.append(queue)
        return queue

    def _may_start(self, queue: HostQueue) -> bool:
        """Tell whether a request of this queue may be sent now."""
        if queue.is_empty or self._now < queue.free_at:
            return False
        if queue.backoff.is_active and queue.in_flight:
            return False
        return len(queue.limits.in_flight) < queue.limits.concurrency

    def _place(self, queue: HostQueue) -> None:
        """Put a queue among those that may send a request, or that wait for a time.

        One that waits for a response is placed when that comes.
        """
        free_at = queue.free_at
        if queue.is_empty:
            return
        if free_at > self._now:
            if queue.waits_until != free_at:
                queue.waits_until = free_at
                heapq.heappush(self._waiting, (free_at, self._next_number(), queue))
        elif not queue.is_ready and self._may_start(queue):
            queue.is_ready = True
            heapq.heappush(self._ready, (queue.turn, queue))

    def _take_due(self) -> None:
        """Queue the retries, and place the queues, whose time has come."""
        while self._delayed and self._delayed[0][0] <= self._now:
            resource = heapq.heappop(self._delayed)[2]
            still_delayed = self._queue(resource.origin).delayed.pop(resource.url, None)
            if still_delayed and resource.result is None:  # a redirect may have brought it
                self.enqueue(resource)
        while self._waiting and self._waiting[0][0] <= self._now:
            time, _, queue = heapq.heappop(self._waiting)
            if queue.waits_until == time:
                queue.waits_until = None
                self._place(queue)

    def _wanted(self, first: Resource) -> Resource | None:
        """Return the request to send for a resource that the crawl waits for, if it may be sent.

        A host that backs off gets the request that is next for it anyway: its response lets the
        wanted one go.
        """
        queue = self._queue(first.origin)
        is_queued = first.url in queue.new or first.url in queue.retries
        if not is_queued or not self._may_start(queue):
            return None
        return queue.next() if queue.backoff.is_active else first

    def _start(self, resource: Resource) -> Resource:
        self.remove(resource)
        queue = self._queue(resource.origin)
        self._requests += 1
        queue.limits.in_flight[resource.url] = self._requests
        queue.limits.started_at = self._now
        queue.backoff.started(self._now)
        queue.in_flight += 1
        self.in_flight += 1
        return resource

    def _remove_all(self, queue: HostQueue) -> list[Resource]:
        """Empty the queue of a dead host, delayed retries included."""
        abandoned = [*queue.new.values(), *queue.retries.values(), *queue.delayed.values()]
        self.queued -= len(queue.new) + len(queue.retries)
        for requests in (queue.new, queue.retries, queue.delayed):
            requests.clear()
        return abandoned
