"""Waiting for another thread, and the threads of crawls."""

import threading
import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def fetchers() -> list[threading.Thread]:
    """The worker threads of crawls."""
    return [thread for thread in threading.enumerate() if thread.name == "usp-fetch"]
