"""One request at a time, on the caller's own thread: for clients that know of no other way."""

import time
from collections.abc import Callable, Iterator

from usp._crawl.machine import Crawl
from usp._crawl.messages import Answer, FetchRequest
from usp._drive import report
from usp._drive.chance import chance


def steps(
    crawl: Crawl, fetch: Callable[[FetchRequest], Answer], tell: report.Tell
) -> Iterator[None]:
    """Carry a crawl on, an answer a step, to its end."""
    while not crawl.done:
        requests = crawl.take(time.monotonic(), limit=1)
        for request in requests:
            tell(report.asked(request))
            answer = fetch(request)
            pause = crawl.receive(request, answer, time.monotonic(), chance())
            for event in report.answered(request, answer, pause):
                tell(event)
        if not requests and not crawl.done:
            due = crawl.wakeup()
            if due is None:
                raise RuntimeError("the crawl waits for nothing")
            time.sleep(max(due - time.monotonic(), 0.0))
        yield
