"""Waiting for another thread, and the threads of crawls."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any


def wait_until(condition: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def fetchers() -> list[threading.Thread]:
    """The worker threads of crawls."""
    return [thread for thread in threading.enumerate() if thread.name == "usp-fetch"]


class Reading(threading.Thread):
    """A thread that reads changes, or differences, to their end."""

    def __init__(self, found: Iterable[Any]) -> None:
        super().__init__()
        self._found = found
        self._error: BaseException | None = None
        self.urls: list[str] = []
        self.ended_at = 0.0

    def run(self) -> None:
        try:
            for one in self._found:
                self.urls.append(one.url)
        except BaseException as error:  # noqa: BLE001 -- ``finish`` shows it
            self._error = error
        self.ended_at = time.monotonic()

    def finish(self) -> None:
        """Wait for the end, which has to come soon and without an error."""
        self.join(10)
        assert not self.is_alive()
        assert self._error is None
