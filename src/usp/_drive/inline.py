"""One request at a time, on the caller's own thread: for clients that know of no other way."""

import random
import time
from collections.abc import Callable

from usp._crawl.machine import Crawl
from usp._crawl.messages import Answer, FetchRequest
from usp._drive import report


def run(crawl: Crawl, fetch: Callable[[FetchRequest], Answer]) -> None:
    """Carry a crawl to its end."""
    while not crawl.done:
        requests = crawl.take(time.monotonic(), limit=1)
        for request in requests:
            report.asking(request)
            answer = fetch(request)
            chance = random.random()  # noqa: S311 -- varies a pause, no secret
            final = crawl.receive(request, answer, time.monotonic(), chance)
            report.answered(request, answer, final=final)
        if not requests and not crawl.done:
            due = crawl.wakeup()
            if due is None:
                raise RuntimeError("the crawl waits for nothing")
            time.sleep(max(due - time.monotonic(), 0.0))
