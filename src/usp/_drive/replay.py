"""Replaying: requests are answered one at a time, in the order in which they were recorded.

What the crawl core decides about a host that fails depends on the order of results. So a recording
gives its results in its own order, whatever the time that each takes now. As many requests are in
flight as in any crawl; they wait for their turn.
"""

import heapq
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Generic, TypeVar

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest
from usp._drive.events import Emit
from usp._drive.fetch import Fetcher
from usp._drive.steps import advance, handle_result, idle_seconds, next_requests
from usp._drive.threads import MAX_WAIT_SECONDS
from usp._drive.time_limit import TimeLimit
from usp.web_client.abstract_aio_client import AioCrawlScope
from usp.web_client.abstract_client import CrawlScope

_Request = TypeVar("_Request")


class InRecordedOrder(Generic[_Request]):
    """The requests in flight, in the order of a recording."""

    def __init__(self, order: Callable[[_Request], float]) -> None:
        """Have no requests yet.

        :param order: returns when the response to a request comes.
        """
        self._order = order
        self._waiting: list[tuple[float, int, _Request]] = []
        self._numbers = count()

    def add(self, requests: Iterable[_Request]) -> None:
        """Add requests that are in flight from now on."""
        for request in requests:
            item = self._order(request), next(self._numbers), request
            heapq.heappush(self._waiting, item)

    def next_one(self) -> list[_Request]:
        """Return the request that is answered next; none if none is in flight."""
        return [heapq.heappop(self._waiting)[2]] if self._waiting else []


def of_crawl(scope: CrawlScope | AioCrawlScope) -> InRecordedOrder[FetchRequest]:
    """Return the requests of a crawl in the order of what its client replays."""
    return InRecordedOrder(
        lambda request: scope.order_in_recording(request.url, request.validators or None)
    )


def steps(
    crawl: Crawl, fetch: Fetcher, scope: CrawlScope, ended: TimeLimit, emit: Emit
) -> Iterator[None]:
    """Run a crawl to its end, at most one result a step."""
    in_flight = of_crawl(scope)
    advance(crawl, ended)
    yield
    while not crawl.done:
        in_flight.add(next_requests(crawl, emit))
        if crawl.stopped:
            return
        answered = in_flight.next_one()
        if not answered and not crawl.done:
            time.sleep(min(idle_seconds(crawl), MAX_WAIT_SECONDS))
        for request in answered:
            handle_result(crawl, request, fetch(request), emit)
        advance(crawl, ended)
        yield
