"""When requests may start in asyncio, where a client is to keep a distance between them.

Rules of this room: nothing here waits, and the time is an argument; whoever asks waits, and asks
again. So nobody holds anything while he waits that another needs.
"""

from collections.abc import Hashable

from usp.web_client.abstract_client import RequestWaiter

__all__ = ["RequestPacing"]


class RequestPacing:
    """The moments at which crawls and hosts are free for the next request."""

    def __init__(self, waiter: RequestWaiter) -> None:
        self._waiter = waiter
        self._free_at: dict[Hashable, float] = {}

    def seconds(self, now: float, *queues: Hashable) -> float:
        """Return how long it is until a request that stands in these queues may start."""
        return max(0.0, *(self._free_at.get(queue, now) - now for queue in queues))

    def start(self, now: float, *queues: Hashable) -> None:
        """Take note that a request starts; what is past is forgotten."""
        free_at = now + self._waiter.distance()
        self._free_at = {queue: at for queue, at in self._free_at.items() if at > now}
        self._free_at |= dict.fromkeys(queues, free_at)

    def forget(self, queue: Hashable) -> None:
        """Forget a queue that nothing will stand in any more."""
        self._free_at.pop(queue, None)
