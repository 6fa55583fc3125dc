"""Threads that can't be started: the system or a limit refuses them."""

from typing import Final

from usp.exceptions import ThreadStartError

_NO_THREAD: Final = "can't start new thread"
"""What Python says if the system starts no thread; it has no error of its own for that."""


def is_thread_start(error: BaseException) -> bool:
    """Tell whether an error means that no thread could be started."""
    return isinstance(error, RuntimeError) and _NO_THREAD in str(error)


def thread_start_error(error: BaseException) -> ThreadStartError:
    """Return the error for a crawl that needs a thread, and gets none."""
    return ThreadStartError(
        f"No thread can be started for the requests of the crawl: {error}. "
        "Raise the limit of threads, or use concurrency=1 without max_seconds."
    )
