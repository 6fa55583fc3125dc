"""Requests for single pages, which lead to no others: their order, their limits, their retries.

Hosts get as many requests, and as much rest, as in a crawl (``host_queue``, ``backoff``). Like the
core of a crawl this has no clock: the time is an argument.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from usp._crawl.backoff import retry_delay
from usp._crawl.host_queue import HostQueues
from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Origin, Resource
from usp._crawl.resource_table import normalized


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A URL to request. A URL is requested once at a time."""

    url: str
    needs_body: bool = True
    """Whether HEAD would not do."""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "GET" if self.needs_body else "HEAD"


@dataclass(slots=True)
class _Queued:
    request: PageRequest
    resource: Resource


@dataclass(frozen=True, slots=True)
class PageFailed:
    """Why a URL could not be requested, or brought no response, after all attempts."""

    request: PageRequest
    failure: FetchFailed
    was_requested: bool


class PageQueue:
    """The requests that wait, or are in flight."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._hosts = HostQueues(policy)
        self._queued: dict[str, _Queued] = {}
        self._retries_left = policy.retry_budget

    def __len__(self) -> int:
        return len(self._queued)

    def add(self, request: PageRequest) -> PageFailed | None:
        """Queue a request; return why it fails, if its host was given up already."""
        origin = self._hosts.known_origin(normalized(request.url)[1])
        dead = self._hosts.dead_host(origin)
        if dead:
            return PageFailed(request, dead, was_requested=False)
        resource = Resource(request.url, 0, is_guess=False, origin=origin)
        self._queued[request.url] = _Queued(request, resource)
        self._hosts.enqueue(resource)
        return None

    def keep_interval(self, origin: Origin, seconds: float) -> None:
        """Keep an interval between the requests to a host: its ``Crawl-delay``."""
        self._hosts.keep_interval(origin, seconds)

    def start_requests(self, now: float) -> Iterator[PageRequest]:
        """Yield the requests to send now."""
        room = self._policy.concurrency - self._hosts.in_flight
        for resource in self._hosts.start_requests(now, room, room, None):
            resource.attempts += 1
            yield self._queued[resource.url].request

    def next_due(self) -> float | None:
        """Return when the next request may be sent that may not yet."""
        return self._hosts.next_due()

    def finished(
        self, request: PageRequest, failure: FetchFailed | None, now: float, jitter: float
    ) -> tuple[bool, list[PageFailed]]:
        """Record the end of a request.

        :return: whether its result is final, and not retried; and what fails with its host.
        """
        resource = self._queued[request.url].resource
        abandoned = self._hosts.finished(resource, failure, now, jitter)
        dead = self._hosts.dead_host(resource.origin)
        is_final = failure is None or not self._may_retry(resource, failure, dead)
        if is_final:
            del self._queued[request.url]
        elif failure:
            delay = retry_delay(self._policy, resource.attempts, failure.retry_after, jitter)
            delay = self._hosts.delay_within_time(resource.origin, delay, now)
            self._hosts.enqueue_later(resource, now + delay)
        return is_final, [self._abandoned_request(one, dead) for one in abandoned if dead]

    def _abandoned_request(self, resource: Resource, dead: FetchFailed) -> PageFailed:
        request = self._queued.pop(resource.url).request
        return PageFailed(request, dead, was_requested=bool(resource.attempts))

    def _may_retry(
        self, resource: Resource, failure: FetchFailed, dead: FetchFailed | None
    ) -> bool:
        if not failure.retryable or dead or self._retries_left <= 0:
            return False
        if resource.attempts >= self._policy.max_attempts:
            return False
        self._retries_left -= 1
        return True
