"""How long a crawl waits for a host that has never responded: over all attempts, not for each.

A server that accepts connections and stays silent costs every request its whole timeout, and a
crawl has many requests, stages and retries. So a host gets a time for its first response. When that
is over, requests for it fail at once. As soon as it has responded, only the timeouts of single
requests count.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from usp._forks import renewed_in_forks
from usp.exceptions import DeadlineError

__all__ = ["FirstResponses", "ResponseWait"]

BOTH_SCHEMES: Final = 1.5
"""How much longer both schemes of a host get together: http is tried where https is silent."""
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_PAUSE: Final = 10.0
"""Seconds between two attempts that count, too: the delay before a retry."""


@dataclass(slots=True)
class _Host:
    """One host by one scheme."""

    responded: bool = False
    waiting: int = 0
    """Requests that wait for a response."""
    since: float = 0.0
    """Since when there are any, or since when there are none."""
    waited: float | None = None
    """The time that was waited before; None if there was no request yet."""

    def waited_until(self, now: float) -> float:
        """Return the time that was waited in all."""
        if self.waited is None:
            return 0.0
        elapsed = now - self.since
        return self.waited + (elapsed if self.waiting or elapsed <= _PAUSE else 0.0)


class FirstResponses:
    """The hosts of one crawl, and how long it waited for each of them."""

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Set the time that a host has for its first response; None for no limit."""
        self.seconds = seconds
        self.clock = clock
        self._hosts: defaultdict[str, defaultdict[str, _Host]] = defaultdict(
            lambda: defaultdict(_Host)
        )
        self._lock = renewed_in_forks(threading.Lock())

    def started(self, url: str) -> float | None:
        """Record that a request waits for a host; return until when, None for no limit."""
        scheme, name = _host(url)
        now = self.clock()
        with self._lock:
            by_scheme = self._hosts[name]
            host = by_scheme[scheme]
            left = self._left(by_scheme, host, now)
            host.waited = host.waited_until(now)
            host.since = now
            host.waiting += 1
        return None if left is None else now + left

    def _left(self, by_scheme: dict[str, _Host], host: _Host, now: float) -> float | None:
        if self.seconds is None or host.responded:
            return None
        left = self.seconds - host.waited_until(now)
        if any(one.responded for one in by_scheme.values()):
            return left
        waited = sum(one.waited_until(now) for one in by_scheme.values())
        return min(left, BOTH_SCHEMES * self.seconds - waited)

    def ended(self, url: str, *, responded: bool) -> None:
        """Record that a request waits no longer for a host."""
        scheme, name = _host(url)
        now = self.clock()
        with self._lock:
            host = self._hosts[name][scheme]
            host.waited = host.waited_until(now)
            host.since = now
            host.waiting -= 1
            host.responded = host.responded or responded


class ResponseWait:
    """The waiting of one request: for one host, then for those that it is redirected to."""

    def __init__(self, hosts: FirstResponses) -> None:
        self._hosts = hosts
        self._url = ""
        self._is_waiting = False
        self.until: float | None = None
        """When to give up, by the monotonic clock; None for no limit, and once a response came."""

    @property
    def seconds(self) -> float | None:
        """The seconds until then."""
        return None if self.until is None else max(self.until - self._hosts.clock(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether the time for a first response is over."""
        return self.until is not None and self._hosts.clock() >= self.until

    @property
    def message(self) -> str:
        """What to say then."""
        return f"no response from {_host(self._url)[1]} within {self._hosts.seconds:g} seconds"

    def start(self, url: str) -> None:
        """Wait for the host of a URL from now on.

        :raises DeadlineError: if its time is over.
        """
        self._url = url
        self.until = self._hosts.started(url)
        self._is_waiting = True
        if self.is_over:
            raise DeadlineError(self.message)

    def end(self, *, responded: bool = False) -> None:
        """Wait no longer."""
        if self._is_waiting:
            self._hosts.ended(self._url, responded=responded)
        self._is_waiting = False
        if responded:
            self.until = None


@lru_cache(maxsize=512)  # asked when a request starts, and when it ends
def _host(url: str) -> tuple[str, str]:
    """Return the scheme and the host of a URL, with its port unless that is the usual one."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    host = parts.netloc.rpartition("@")[2].lower()
    return scheme, host.removesuffix(_DEFAULT_PORTS.get(scheme, ":"))
