"""Requests side by side: workers fetch, the caller's thread owns the machine.

A worker touches its own document and nothing else; answers come back through one queue. So the
machine needs no locks, and callbacks run on the caller's thread.
"""

import threading
import time
from collections.abc import Iterator
from contextvars import Context
from queue import Empty, SimpleQueue
from typing import Final

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive.events import Emit
from usp._drive.fetch import Fetcher
from usp._drive.steps import handle_result, idle_seconds, next_requests, seconds_until_wakeup

_JOIN_SECONDS: Final = 2.0
"""Seconds to wait for workers to end after their sockets were shut."""


class Workers:
    """Threads that carry out requests; they are made as they are needed."""

    def __init__(self, fetch: Fetcher, context: Context) -> None:
        self._fetch = fetch
        self._context = context
        self._requests: SimpleQueue[FetchRequest | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[FetchRequest, FetchResult | BaseException]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.busy = 0

    def submit(self, request: FetchRequest) -> None:
        """Hand a request to a worker that has nothing to do, or to a new one."""
        self.busy += 1
        if self.busy > len(self._threads):
            # A daemon: a client that can't be stopped doesn't keep the program from ending.
            inside = self._context.copy().run
            worker = threading.Thread(
                target=inside, args=(self._work,), name="usp-fetch", daemon=True
            )
            self._threads.append(worker)
            worker.start()
        self._requests.put(request)

    def next_answer(self, timeout: float | None) -> tuple[FetchRequest, FetchResult] | None:
        """Wait for an answer; None if none comes in time. What a worker raised is raised here."""
        try:
            request, answer = self._answers.get(timeout=timeout)
        except Empty:
            return None
        self.busy -= 1
        if isinstance(answer, BaseException):
            raise answer
        return request, answer

    def stop(self) -> None:
        """End the workers; what can't be ended is not waited for, and ends by itself."""
        for _ in self._threads:
            self._requests.put(None)
        if self.busy and not self._context.run(self._fetch.stop):
            return
        until = time.monotonic() + _JOIN_SECONDS
        for worker in self._threads:
            worker.join(max(until - time.monotonic(), 0.0))

    def _work(self) -> None:
        while (request := self._requests.get()) is not None:
            try:
                answer: FetchResult | BaseException = self._fetch(request)
            except BaseException as error:  # noqa: BLE001 -- the worker's edge: raised in next_answer
                answer = error
            self._answers.put((request, answer))


def steps(crawl: Crawl, fetch: Fetcher, context: Context, emit: Emit) -> Iterator[None]:
    """Carry a crawl on, an answer a step, to its end; ended early, it shuts the sockets."""
    workers = Workers(fetch, context)
    try:
        while not crawl.done:
            for request in next_requests(crawl, emit):
                workers.submit(request)
            if crawl.stopped:
                return
            answered = workers.next_answer(
                seconds_until_wakeup(crawl) if workers.busy else idle_seconds(crawl)
            )
            if answered:
                handle_result(crawl, *answered, emit)
            yield
    finally:
        workers.stop()
