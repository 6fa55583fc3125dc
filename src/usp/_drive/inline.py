"""One request at a time, on the caller's own thread: for clients that know of no other way."""

import time
from collections.abc import Callable, Iterator

from usp._crawl.core import Crawl
from usp._crawl.messages import Answer, FetchRequest
from usp._drive.events import Tell
from usp._drive.steps import ask, idle, take_up


def steps(crawl: Crawl, fetch: Callable[[FetchRequest], Answer], tell: Tell) -> Iterator[None]:
    """Carry a crawl on, an answer a step, to its end."""
    while not crawl.done:
        request = next(ask(crawl, tell, limit=1), None)
        if request is not None:
            take_up(crawl, request, fetch(request), tell)
        elif not crawl.done:
            time.sleep(idle(crawl))
        yield
