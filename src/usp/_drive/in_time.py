"""Calls that may never return, such as reading a pipe to which nobody writes."""

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from io import IOBase
from threading import Thread
from typing import Final, TypeVar, cast

from usp._drive.thread_start import is_thread_start, thread_start_error
from usp._parse import Ended

T = TypeVar("T")

_POLL_SECONDS: Final = 0.1
"""How often a call that takes long asks whether there is time left."""


def in_time(call: Callable[[], T], ended: Ended) -> T:
    """Call a function in a thread, and wait for it as long as there is time.

    Nothing can end a call that never returns, and no other way works for the pipes of Windows. So
    its thread is left alone, and ends with the process.

    :param call: it reads: an ``OSError`` or a ``ValueError`` of it is raised here.
    :raises TimeoutError: if the time was up before.
    :raises ThreadStartError: if no thread can be started.
    """
    future: Future[T] = Future()
    # Python aborts if it closes standard input at its end while a thread still reads it. It closes
    # nothing that a thread refers to.
    thread = Thread(target=_call, args=(call, future, sys.stdin), daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        if is_thread_start(error):
            raise thread_start_error(error) from error
        raise
    while not wait([future], _POLL_SECONDS).done:
        if ended() and future.cancel():
            raise TimeoutError
    return future.result()


def _call(call: Callable[[], T], future: Future[T], _standard_input: object) -> None:
    result, failure = None, None
    try:
        result = call()
    except (OSError, ValueError) as error:
        failure = error
    if future.set_running_or_notify_cancel():
        future.set_exception(failure) if failure else future.set_result(cast("T", result))
    elif isinstance(result, IOBase):  # a pipe was opened, and nobody waits for it any more
        result.close()
