"""Backoff: how long to wait before a retry, and when a host that fails is given up as dead.

A host that gives no response, or answers 429 or 503, for several URLs in a row backs off: it gets
one request at a time, with growing delays. The first good response ends that. If none comes, the
host is dead, and its queued requests fail. One that has answered nothing but 429 or 503 is dead
when its time is over: like one that stays silent, it costs less than a minute.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp.objects.fetch_info import NOT_FETCHED

_RATE_LIMITED: Final = frozenset({429, 503})
"""Statuses by which a server asks for fewer requests."""
_MAX_PROBES_WITHOUT_RESPONSE: Final = 2
"""How often a host that has never responded is tried again before it is dead."""
_MAX_SECONDS_REFUSED: Final = 55.0
"""How long a host is tried that has answered nothing but 429 or 503; longer only if ``backoff_max``
is more than a minute. Some seconds remain for its last request."""
_LAST_REQUEST_SECONDS: Final = 5.0


def retry_delay(policy: Policy, attempts: int, retry_after: float | None, jitter: float) -> float:
    """Return the seconds to wait before the next attempt; ``jitter`` (0 to 1) varies them."""
    delay = _grown_delay(policy, attempts - 1) * (0.75 + jitter / 2)
    return float(min(max(delay, retry_after or 0.0), policy.backoff_max))


def _grown_delay(policy: Policy, times: int) -> float:
    """Return the initial delay times the factor, this often; a float overflows at some point."""
    try:
        return policy.backoff_initial * float(policy.backoff_factor) ** times
    except OverflowError:
        return policy.backoff_max if policy.backoff_initial else 0.0


@dataclass(slots=True, eq=False)
class HostBackoff:
    """Whether a host backs off, since when, and whether it is dead."""

    policy: Policy
    responded: bool = False
    """Whether the host has ever responded."""
    failed_urls: set[str] = field(default_factory=set)
    """The URLs that failed since the last good response."""
    burst: int = 0
    """How many requests were in flight beside the first of those."""
    probes: int = 0
    """How many requests failed while the host was backing off."""
    next_probe_at: float = 0.0
    """When a host that backs off may be requested again."""
    refused_until: float | None = None
    """When a host that has answered nothing but 429 or 503 is given up, counted from its first
    request, since the answers may be late, too."""
    first_request_at: float | None = None
    """When the host was first requested."""
    dead: FetchFailed | None = None
    """Why the host was given up, if it was."""

    @property
    def is_active(self) -> bool:
        """Whether the host gets one request at a time."""
        return len(self.failed_urls) >= self.policy.host_failure_threshold + self.burst

    def started(self, now: float) -> None:
        """Record that a request is sent."""
        if self.first_request_at is None:
            self.first_request_at = now

    def succeeded(self) -> None:
        """Record a response that was not rate limited; it ends the backoff."""
        self.responded = True
        self.refused_until = None
        self.failed_urls.clear()
        self.probes = 0

    def within_time(self, delay: float, now: float) -> float:
        """Return a delay, shortened if the host would be given up before it is over."""
        return delay if self.refused_until is None else min(delay, self.refused_until - now)

    def failed(
        self, url: str, failure: FetchFailed, now: float, jitter: float, *, in_flight: int
    ) -> None:
        """Record a failure: it may delay the next request, or show that the host is dead.

        What is in flight at the first failure may fail of the same cause, such as a server that
        restarts. For a host that has responded before, all of that counts as one failure.
        """
        if not self.failed_urls:
            self.burst = in_flight if self.responded else 0
        self.failed_urls.add(url)
        if self._is_refused_too_long(failure, now):
            self._give_up(failure)
        if not self.is_active:
            return
        if not in_flight:  # requests that were sent together count as one probe
            self.probes += 1
            delay = retry_delay(self.policy, self.probes, failure.retry_after, jitter)
            self.next_probe_at = now + self.within_time(delay, now)
        permanent = failure.no_response and not failure.retryable and not self.responded
        if permanent or self.probes > self._max_probes(failure):
            self._give_up(failure)

    def _is_refused_too_long(self, failure: FetchFailed, now: float) -> bool:
        """Tell whether a host has had its time that answers nothing but 429 or 503."""
        if self.responded or not is_rate_limit(failure):
            return False
        if self.refused_until is None:
            longest = self.policy.backoff_max - _LAST_REQUEST_SECONDS
            began = now if self.first_request_at is None else self.first_request_at
            self.refused_until = began + max(_MAX_SECONDS_REFUSED, longest)
        return now >= self.refused_until

    def _give_up(self, failure: FetchFailed) -> None:
        message = f"{failure.message}: the host was given up"
        self.dead = replace(failure, message=message, retryable=False, fetch_info=NOT_FETCHED)

    def _max_probes(self, failure: FetchFailed) -> int:
        if not failure.no_response:
            return 2 * self.policy.max_attempts
        return self.policy.max_attempts if self.responded else _MAX_PROBES_WITHOUT_RESPONSE


def counts_against_host(failure: FetchFailed) -> bool:
    """Tell whether a failure says something about the host, not just about one URL."""
    return failure.no_response or is_rate_limit(failure)


def is_rate_limit(failure: FetchFailed) -> bool:
    """Tell whether a server asks for fewer requests; by a bot challenge it asks for none."""
    return failure.status in _RATE_LIMITED and not failure.challenged
