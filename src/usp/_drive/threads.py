"""Concurrent requests in threads: workers fetch, and the caller's thread owns the crawl core.

A worker touches its own document and nothing else; results come back through one queue. So the core
needs no locks, and callbacks run on the caller's thread.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Final

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive.events import Emit
from usp._drive.fetch import CRAWL_ENDED, Fetcher
from usp._drive.steps import (
    advance,
    check_process,
    handle_result,
    idle_seconds,
    next_requests,
    seconds_until_wakeup,
)
from usp._drive.thread_start import thread_start_error
from usp._drive.time_limit import TimeLimit

MAX_WAIT_SECONDS: Final = 0.25
"""The longest single wait of the caller's thread. ``_thread.interrupt_main()``, and on some
platforms Ctrl-C, set a flag that Python looks at between two waits; they end none."""
_JOIN_SECONDS: Final = 1.0
"""Seconds to wait for workers to end after their sockets were shut down; one that parses a document
ends at its next part. A crawl ends within two seconds of its time, whatever they do."""


class Workers:
    """Threads that fetch; they are started as they are needed."""

    def __init__(self, fetch: Fetcher) -> None:
        self._fetch = fetch
        self._requests: SimpleQueue[FetchRequest | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[FetchRequest, FetchResult | BaseException]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._process = os.getpid()
        self.busy = 0

    def submit(self, request: FetchRequest) -> None:
        """Pass a request to an idle worker, or to a new one.

        :raises ThreadStartError: if there is no worker, and none can be started.
        """
        check_process(self._process)
        self.busy += 1
        if self.busy > len(self._threads):
            self._start_worker()
        self._requests.put(request)

    def _start_worker(self) -> None:
        # A daemon: a client that can't be cancelled doesn't keep the process alive. The context
        # variables of the caller are visible in the client's get().
        worker = threading.Thread(
            target=copy_context().run, args=(self._work,), name="usp-fetch", daemon=True
        )
        try:
            worker.start()
        except RuntimeError as error:
            if not self._threads:
                raise thread_start_error(error) from error
            return  # the workers that run take the request, one after the other
        self._threads.append(worker)

    def next_result(self, timeout: float | None) -> tuple[FetchRequest, FetchResult] | None:
        """Wait for a result; None if none comes in time. What a worker raised is raised here."""
        check_process(self._process)
        seconds = MAX_WAIT_SECONDS if timeout is None else min(timeout, MAX_WAIT_SECONDS)
        try:
            request, result = self._results.get(timeout=seconds)
        except Empty:
            return None
        self.busy -= 1
        if isinstance(result, BaseException):
            raise result
        return request, result

    def stop(self) -> None:
        """End the workers. Requests that can't be cancelled are not waited for."""
        if os.getpid() != self._process:
            return  # a forked process has no workers, but it shares their sockets
        self._requests.put(None)
        if self.busy and not self._fetch.cancel():
            return
        until = time.monotonic() + _JOIN_SECONDS
        for worker in self._threads:
            worker.join(max(until - time.monotonic(), 0.0))

    def _work(self) -> None:
        while (request := self._requests.get()) is not None:
            try:
                result: FetchResult | BaseException = self._fetch(request)
            except BaseException as error:  # noqa: BLE001 -- raised in next_result()
                result = error
            self._results.put((request, result))
        self._requests.put(None)  # for the next worker


def steps(crawl: Crawl, fetch: Fetcher, ended: TimeLimit, emit: Emit) -> Iterator[None]:
    """Run a crawl to its end, at most one result a step; ended early, it cancels its requests."""
    workers = Workers(fetch)
    try:
        advance(crawl, ended)
        yield
        while not crawl.done:
            for request in next_requests(crawl, emit):
                workers.submit(request)
            if crawl.stopped:
                return
            received = workers.next_result(
                seconds_until_wakeup(crawl) if workers.busy else idle_seconds(crawl)
            )
            if received:
                handle_result(crawl, *received, emit)
            advance(crawl, ended)
            yield
    finally:
        workers.stop()


def fetch_in_time(fetch: Fetcher, request: FetchRequest, ended: TimeLimit) -> FetchResult:
    """Make a request beside those of a crawl; it is left when the crawl is over."""
    workers = Workers(fetch)
    try:
        workers.submit(request)
        while not ended():
            if received := workers.next_result(None):
                return received[1]
        return CRAWL_ENDED
    finally:
        workers.stop()
