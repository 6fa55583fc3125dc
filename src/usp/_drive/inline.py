"""One request at a time, on the caller's own thread: for clients that know of no other way."""

import time
from collections.abc import Callable, Iterator

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive.events import Emit
from usp._drive.steps import handle_result, idle_seconds, next_requests


def steps(crawl: Crawl, fetch: Callable[[FetchRequest], FetchResult], emit: Emit) -> Iterator[None]:
    """Carry a crawl on, an answer a step, to its end."""
    while not crawl.done:
        request = next(next_requests(crawl, emit, limit=1), None)
        if request is not None:
            handle_result(crawl, request, fetch(request), emit)
        elif not crawl.done:
            time.sleep(idle_seconds(crawl))
        yield
