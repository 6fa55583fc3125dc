"""When requests of the asyncio client may start, if it keeps an interval between them.

Nothing here waits, and time is an argument: the caller waits and asks again, so that it holds
nothing that others need in the meantime.
"""

from collections.abc import Hashable

from usp.web_client.abstract_client import RequestWaiter

__all__ = ["RequestPacing"]


class RequestPacing:
    """Knows when each crawl and each host is free for its next request."""

    def __init__(self, waiter: RequestWaiter) -> None:
        self._waiter = waiter
        self._free_at: dict[Hashable, float] = {}

    def seconds(self, now: float, *queues: Hashable) -> float:
        """Return the seconds until a request in these queues may start."""
        if not self._free_at:
            return 0.0
        return max(0.0, *(self._free_at.get(queue, now) - now for queue in queues))

    def start(self, now: float, *queues: Hashable) -> None:
        """Record that a request starts now; entries in the past are dropped."""
        interval = self._waiter.interval()
        if not interval:
            return
        free_at = now + interval
        self._free_at = {queue: at for queue, at in self._free_at.items() if at > now}
        self._free_at |= dict.fromkeys(queues, free_at)

    def forget(self, queue: Hashable) -> None:
        """Forget a queue that has ended."""
        self._free_at.pop(queue, None)
