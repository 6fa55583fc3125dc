"""The steps that all drivers share, however they wait.

Time and jitter, which the crawl core takes as arguments, are read here and nowhere else.
"""

import os
import random
import time
from collections.abc import Iterator
from typing import Final

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive.events import Emit, request_event, result_events
from usp.exceptions import SitemapException, ThreadStartError

_NO_THREAD: Final = "can't start new thread"
"""What Python says if the system starts no thread; it has no error of its own for that."""


def next_requests(crawl: Crawl, emit: Emit, limit: int | None = None) -> Iterator[FetchRequest]:
    """Yield the requests to make now, and emit an event for each."""
    for request in crawl.take(time.monotonic(), limit):
        emit(request_event(request))
        yield request


def handle_result(crawl: Crawl, request: FetchRequest, result: FetchResult, emit: Emit) -> None:
    """Pass a result to the crawl core, and emit its events."""
    jitter = random.random()  # noqa: S311 -- not a secret: it keeps retries from coinciding
    delay = crawl._receive(request, result, time.monotonic(), jitter)
    for event in result_events(request, result, delay):
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


def is_thread_start(error: BaseException) -> bool:
    """Tell whether an error means that no thread could be started."""
    return isinstance(error, RuntimeError) and _NO_THREAD in str(error)


def thread_start_error(error: BaseException) -> ThreadStartError:
    """Return the error for a crawl that needs a thread, and gets none."""
    return ThreadStartError(
        f"No thread can be started for the requests of the crawl: {error}. "
        "Raise the limit of threads, or use concurrency=1."
    )
