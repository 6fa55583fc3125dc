"""Replaying: requests are answered one at a time, in the order in which they were recorded.

What the crawl core decides about a host that fails depends on the order of results. So a recording
gives its results in its own order, whatever the time that each takes now. As many requests are in
flight as in any crawl; they wait for their turn.
"""

import heapq
import time
from collections.abc import Iterable, Iterator
from itertools import count

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest
from usp._drive.events import Emit
from usp._drive.fetch import Fetcher
from usp._drive.steps import advance, handle_result, idle_seconds, next_requests
from usp._drive.threads import MAX_WAIT_SECONDS
from usp._drive.time_limit import TimeLimit
from usp.web_client.abstract_aio_client import AioCrawlScope
from usp.web_client.abstract_client import CrawlScope


class InRecordedOrder:
    """The requests in flight, in the order of a recording."""

    def __init__(self, scope: CrawlScope | AioCrawlScope) -> None:
        self._scope = scope
        self._waiting: list[tuple[float, int, FetchRequest]] = []
        self._numbers = count()

    def add(self, requests: Iterable[FetchRequest]) -> None:
        """Add requests that are in flight from now on."""
        for request in requests:
            order = self._scope.order_in_recording(request.url, request.validators or None)
            heapq.heappush(self._waiting, (order, next(self._numbers), request))

    def next_one(self) -> list[FetchRequest]:
        """Return the request that is answered next; none if none is in flight."""
        return [heapq.heappop(self._waiting)[2]] if self._waiting else []


def steps(
    crawl: Crawl, fetch: Fetcher, scope: CrawlScope, ended: TimeLimit, emit: Emit
) -> Iterator[None]:
    """Run a crawl to its end, at most one result a step."""
    in_flight = InRecordedOrder(scope)
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
