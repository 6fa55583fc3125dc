"""The URLs of one crawl: each is fetched once, retried where that helps, shared by redirects."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

from usp._crawl.backoff import retry_delay
from usp._crawl.host_queue import HostQueues
from usp._crawl.messages import FetchFailed, ResponseProgress, TruncatedBody
from usp._crawl.policy import Policy, without_delays
from usp._crawl.resource import Origin, Resource
from usp._crawl.robots import RobotsGate, gate_for, robots_url
from usp._crawl.traffic import CrawlTraffic
from usp._crawl.work import Work
from usp._parse import Document, Kind

_PORTS: Final = {"http": 80, "https": 443}
_NORMALIZED_URL: Final = re.compile(
    # No default port, no empty query, no fragment, no dots after a slash: as nearly all URLs are.
    r"(https?)://([a-z0-9.-]++(?::(?!(?:80|443)/)(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?)"
    r"(?:/(?!\.)[!\"$-.0-~]*+)++(?<!\?)"
)
"""URLs that are their own normalized form; taking others apart costs ten times as much."""
_KINDS_BY_URL: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})
"""Kinds that depend on the requested URL; another URL may make something else of the document."""


class ResourceTable:
    """Every URL of a crawl, by its normalized form."""

    def __init__(self, policy: Policy, *, skip_delays: bool = False) -> None:
        self._policy = policy = without_delays(policy) if skip_delays else policy
        self._hosts = HostQueues(policy)
        self._resources: dict[str, Resource] = {}
        self._abandoned: deque[Resource] = deque()
        self._gate = gate_for(policy)
        self._retry_budget_left = policy.retry_budget
        self.traffic = CrawlTraffic()
        self.prefetched = 0
        """The number of documents that arrived before the cursor reached them."""
        self.children_prefetched = 0
        """The number of sitemaps that those documents declare."""

    @property
    def in_flight(self) -> int:
        """The number of requests in flight."""
        return self._hosts.in_flight

    @property
    def queued(self) -> int:
        """The number of requests that wait."""
        return self._hosts.queued

    def find(self, url: str) -> Resource | None:
        """Return the resource of a URL, if it is known."""
        return self._resources.get(normalized(url)[0])

    def request(
        self,
        url: str,
        level: int,
        *,
        is_guess: bool = False,
        kind: Kind | None = None,
        may_fall_back: bool = True,
    ) -> Resource:
        """Return the resource of a URL, queued if it is new."""
        url = urldefrag(url).url
        key, origin = normalized(url)
        resource = self._resources.get(key)
        if resource is None:
            origin = self._hosts.known_origin(origin)  # one object for all URLs of a host
            resource = Resource(url, level, is_guess, origin, kind, may_fall_back)
            self._resources[key] = resource
            self._admit(resource)
        resource.for_rules_only = False
        resource.level = min(resource.level, level)
        if may_fall_back and not resource.may_fall_back:  # declared after all, not just a guess
            resource.may_fall_back = True
            if resource.failure:
                self._fail(resource, resource.failure)
        return resource

    def _admit(self, resource: Resource) -> None:
        """Queue a new resource, once robots.txt allows it, if the crawl obeys that."""
        gate = self._gate
        if gate and not gate.is_open(resource):
            self._request_robots(gate, resource.origin)
            if not gate.is_open(resource):  # it may be there already, or fail at once
                gate.hold(resource)
                return
        refusal = gate.refusal(resource) if gate else None
        failure = refusal or self._hosts.dead_host(resource.origin)
        if failure:
            self._fail(resource, failure)
        else:
            self._hosts.enqueue(resource)

    def _request_robots(self, gate: RobotsGate, origin: Origin) -> None:
        """Request the robots.txt of a host for its rules, unless the crawl has it anyway."""
        if gate.is_waiting(origin):
            return
        url = robots_url(origin)
        is_new = self.find(url) is None
        robots = self.request(url, 0, is_guess=True, may_fall_back=False)
        robots.for_rules_only = robots.for_rules_only or is_new
        gate.wait_for(origin, robots)
        if robots.own_result is not None:
            self._open_gate(robots, robots.own_result)

    def _open_gate(self, resource: Resource, result: Document | FetchFailed) -> None:
        """Apply the rules of a host, if this is its robots.txt."""
        if self._gate is None or resource.url != robots_url(resource.origin):
            return
        for origin, delay in self._gate.open(resource, result).items():
            self._hosts.keep_interval(origin, delay)

    def blocking(self, resource: Resource | None) -> Resource | None:
        """Return what must be requested before a resource can be: its robots.txt, or itself."""
        return self._gate.blocking(resource) if self._gate and resource else resource

    def add_document(self, url: str, level: int, document: Document) -> Resource:
        """Add a document that needs no request."""
        key, origin = normalized(url)
        resource = self._resources[key] = Resource(url, level, is_guess=False, origin=origin)
        self._settle(resource, document)
        return resource

    def start_requests(
        self, now: float, limit: int, prefetch: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield the resources to request now; see ``HostQueues.start_requests``."""
        for resource in self._hosts.start_requests(now, limit, prefetch, first):
            resource.attempts += 1
            self.traffic.requests += 1
            resource.progress = resource.progress or ResponseProgress()
            yield resource

    def next_due(self) -> float | None:
        """Return when the next delayed request is due."""
        return self._hosts.next_due()

    def receive(
        self, url: str, result: Document | TruncatedBody | FetchFailed, now: float, jitter: float
    ) -> float | Resource:
        """Record a result; return its resource, or the delay before the next attempt."""
        self.traffic.add(result)
        resource = self._resources[normalized(url)[0]]
        outcome = result.failure if isinstance(result, TruncatedBody) else result
        failure = outcome if isinstance(outcome, FetchFailed) else None
        self._abandoned += self._hosts.finished(resource, failure, now, jitter)
        if resource.own_result is not None:
            return resource  # a redirect from elsewhere brought the document already
        if failure and failure.retryable and self._may_retry(resource):
            resource.last_failure = failure
            delay = retry_delay(self._policy, resource.attempts, failure.retry_after, jitter)
            delay = self._hosts.delay_within_time(resource.origin, delay, now)
            self._hosts.enqueue_later(resource, now + delay)
            return delay
        self._settle(resource, result.document if isinstance(result, TruncatedBody) else result)
        return resource

    def fail_abandoned(self) -> Work[None]:
        """Fail the requests that were queued for a host which is dead now.

        And queue or refuse those that waited for a robots.txt which is known now.
        """
        while self._gate and self._gate.released:
            self._admit(self._gate.released.popleft())
            yield None
        while self._abandoned:
            resource = self._abandoned.popleft()
            dead = self._hosts.dead_host(resource.origin)
            if dead and resource.own_result is None:  # else a redirect from elsewhere brought it
                last = resource.last_failure
                self._fail(resource, replace(dead, fetch_info=last.fetch_info) if last else dead)
            yield None

    def _may_retry(self, resource: Resource) -> bool:
        if self._hosts.dead_host(resource.origin) or self._retry_budget_left <= 0:
            return False
        if resource.attempts >= self._policy.max_attempts:
            return False
        self._retry_budget_left -= 1
        return True

    def _settle(self, resource: Resource, result: Document | FetchFailed) -> None:
        if isinstance(result, FetchFailed):
            self._fail(resource, result)
            return
        resource.fetch_info = result.fetch_info
        redirected = normalized(result.url)[0] != normalized(resource.url)[0]
        if redirected and result.kind not in _KINDS_BY_URL:
            self._share(resource, urldefrag(result.url).url)
        if resource.shared.document is None:
            resource.shared.document = result
            self._open_gate(resource, result)
            resource.shared.reached = resource.shared.reached or resource.for_rules_only
            if not resource.shared.reached:
                self.prefetched += 1
                self.children_prefetched += len(result.children)

    def _fail(self, resource: Resource, failure: FetchFailed) -> None:
        """Record that a URL failed; where no response came, request it by the other scheme.

        Sites that moved to https often still declare http. A certificate that is not trusted is no
        reason to use http.
        """
        resource.failure = failure
        self._open_gate(resource, failure)
        no_response = failure.no_response and not failure.untrusted
        if not (no_response and resource.may_fall_back and self._policy.scheme_fallback):
            return
        url, kind, is_guess = _other_scheme(resource.url), resource.kind, resource.is_guess
        key, origin = normalized(url)
        other = self._resources.get(key)
        if not (other.failure if other else self._hosts.dead_host(origin)):
            resource.fallback = self.request(url, resource.level, is_guess=is_guess, kind=kind)

    def _share(self, resource: Resource, final_url: str) -> None:
        """Let all URLs that redirect to one URL share one document."""
        key, origin = normalized(final_url)
        new = Resource(final_url, resource.level, is_guess=False, origin=origin)
        final = self._resources.setdefault(key, new)
        if final.failure is not None:
            return  # it failed before, for whatever reason
        self._hosts.remove(final)  # if it is in flight already, its result isn't needed
        final.level = min(final.level, resource.level)
        resource.share(final)

    def mark_reached(self, resource: Resource, document: Document) -> bool:
        """Record that the cursor has reached a document; tell whether for the first time."""
        if resource.shared.reached:
            return False
        resource.shared.reached = True
        self.prefetched -= 1
        self.children_prefetched -= len(document.children)
        return True


def _other_scheme(url: str) -> str:
    """Return an http URL as https or the reverse; a port other than the default stays."""
    parts = urlsplit(url)
    current, other = ("http", "https") if parts.scheme == "http" else ("https", "http")
    netloc = parts.netloc.removesuffix(f":{_PORTS[current]}")
    return urlunsplit(parts._replace(scheme=other, netloc=netloc))


def normalized(url: str) -> tuple[str, Origin]:
    """Return the same text for all spellings of a URL (RFC 3986, 6.2.2 and 6.2.3), and its origin.

    A fragment is never sent. The case of scheme and host, a default port and single dots in the
    path make no difference.
    """
    plain = _NORMALIZED_URL.fullmatch(url)
    return (url, (plain[1], plain[2])) if plain else _normalize(url)


def _normalize(url: str) -> tuple[str, Origin]:
    url = urldefrag(url).url
    try:
        parts = urlsplit(url)
        default = _PORTS.get(parts.scheme) == parts.port
    except ValueError:  # not a URL: a file
        return url, ("", url)
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower()
    origin = (parts.scheme.lower(), host)
    host = host.removesuffix(f":{parts.port}") if default else host
    path = urljoin("/", parts.path) if "/." in parts.path else parts.path or "/"
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}", path=path)), origin
