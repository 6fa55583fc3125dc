"""The steps that all drivers share, however they wait.

Time and jitter, which the crawl core takes as arguments, are read here and in ``aio``.
"""

import os
import random
import time
from collections.abc import Iterator

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive.events import Emit, request_event, result_events
from usp._drive.fetch import CRAWL_ENDED
from usp._drive.time_limit import TimeLimit
from usp.exceptions import SitemapException
from usp.objects.page import SitemapPage


def next_requests(crawl: Crawl, emit: Emit, limit: int | None = None) -> Iterator[FetchRequest]:
    """Yield the requests to make now, and emit an event for each."""
    room = crawl.policy.concurrency if limit is None else limit
    for request in crawl._take(time.monotonic(), room):
        if not request._options.is_fresh:
            emit(request_event(request))
        yield request


def advance(crawl: Crawl, ended: TimeLimit) -> None:
    """Have the crawl core process the results that have arrived, as long as there is time."""
    work = crawl._advance()
    pages: list[SitemapPage] | None = None
    try:
        while True:
            crawl._check_time(time.monotonic())
            batch = work.send(pages)
            pages = batch(ended.for_pages) if batch else None
    except StopIteration:
        return


def handle_result(crawl: Crawl, request: FetchRequest, result: FetchResult, emit: Emit) -> None:
    """Pass a result to the crawl core, and emit its events."""
    if result is CRAWL_ENDED:
        return  # what came of the request is not known
    jitter = random.random()  # noqa: S311 -- not a secret: it keeps retries from coinciding
    delay = crawl._record(request, result, time.monotonic(), jitter)
    for event in () if request._options.is_fresh else result_events(request, result, delay):
        emit(event)


def seconds_until_wakeup(crawl: Crawl) -> float | None:
    """Return how long to wait for a result at most; None for as long as it takes."""
    due = crawl.wakeup()
    return None if due is None else max(due - time.monotonic(), 0.0)


def idle_seconds(crawl: Crawl) -> float:
    """Return how long there is nothing to do, when no request is in flight."""
    seconds = seconds_until_wakeup(crawl)
    if seconds is None:
        raise RuntimeError("the crawl has neither a request in flight nor one that is due later")
    return seconds


def check_process(owner: int) -> None:
    """Raise if this is a fork of the process that a crawl belongs to: its threads are not here."""
    if os.getpid() != owner:
        raise SitemapException(
            "This crawl was started by another process, before a fork; start a new one here."
        )
