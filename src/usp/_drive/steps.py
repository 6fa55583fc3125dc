"""What every driver does in its turn, whichever way it waits.

Time and chance, which the machine takes as arguments, come in here and nowhere else.
"""

import random
import time
from collections.abc import Iterator

from usp._crawl.core import Crawl
from usp._crawl.messages import Answer, FetchRequest
from usp._drive import events as report


def ask(crawl: Crawl, tell: report.Tell, limit: int | None = None) -> Iterator[FetchRequest]:
    """Yield what is to be fetched now, and tell of each."""
    for request in crawl.take(time.monotonic(), limit):
        tell(report.asked(request))
        yield request


def take_up(crawl: Crawl, request: FetchRequest, answer: Answer, tell: report.Tell) -> None:
    """Hand an answer to the machine, and tell what came of it."""
    chance = random.random()  # noqa: S311 -- no secret: so that pauses don't march in step
    pause = crawl.receive(request, answer, time.monotonic(), chance)
    for event in report.answered(request, answer, pause):
        tell(event)


def patience(crawl: Crawl) -> float | None:
    """Return for how many seconds to wait for an answer at most; None for as long as it takes."""
    due = crawl.wakeup()
    return None if due is None else max(due - time.monotonic(), 0.0)


def idle(crawl: Crawl) -> float:
    """Return for how many seconds there is nothing to do, when no request is under way."""
    seconds = patience(crawl)
    if seconds is None:
        raise RuntimeError("the crawl waits for nothing")
    return seconds
