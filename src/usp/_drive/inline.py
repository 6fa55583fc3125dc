"""One request at a time, on the caller's thread: for clients that are not thread-safe, and where
nobody else needs a thread.
"""

import os
import time
from collections.abc import Callable, Iterator

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive.events import Emit
from usp._drive.steps import (
    advance,
    check_process,
    handle_result,
    idle_seconds,
    next_requests,
)
from usp._drive.threads import MAX_WAIT_SECONDS
from usp._drive.time_limit import TimeLimit


def steps(
    crawl: Crawl, fetch: Callable[[FetchRequest], FetchResult], ended: TimeLimit, emit: Emit
) -> Iterator[None]:
    """Run a crawl to its end, at most one result a step."""
    process = os.getpid()
    advance(crawl, ended)
    yield
    while not crawl.done:
        check_process(process)
        request = next(next_requests(crawl, emit, limit=1), None)
        if request is not None:
            handle_result(crawl, request, fetch(request), emit)
        elif not crawl.done:
            time.sleep(min(idle_seconds(crawl), MAX_WAIT_SECONDS))
        advance(crawl, ended)
        yield
