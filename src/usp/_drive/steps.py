"""What every driver does in its turn, whichever way it waits.

Time and jitter, which the machine takes as arguments, come in here and nowhere else.
"""

import random
import time
from collections.abc import Iterator

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive import events as report


def next_requests(
    crawl: Crawl, emit: report.Emit, limit: int | None = None
) -> Iterator[FetchRequest]:
    """Yield what is to be fetched now, and emit of each."""
    for request in crawl.take(time.monotonic(), limit):
        emit(report.asked(request))
        yield request


def handle_result(
    crawl: Crawl, request: FetchRequest, answer: FetchResult, emit: report.Emit
) -> None:
    """Hand an answer to the machine, and emit what came of it."""
    jitter = random.random()  # noqa: S311 -- no secret: so that pauses don't march in step
    delay = crawl.receive(request, answer, time.monotonic(), jitter)
    for event in report.answered(request, answer, delay):
        emit(event)


def seconds_until_wakeup(crawl: Crawl) -> float | None:
    """Return for how many seconds to wait for an answer at most; None for as long as it takes."""
    due = crawl.wakeup()
    return None if due is None else max(due - time.monotonic(), 0.0)


def idle_seconds(crawl: Crawl) -> float:
    """Return for how many seconds there is nothing to do, when no request is under way."""
    seconds = seconds_until_wakeup(crawl)
    if seconds is None:
        raise RuntimeError("the crawl waits for nothing")
    return seconds
