"""Exceptions that the caller's signal handler raises in the middle of a request.

A handler for ``SIGALRM`` often raises to end what the program is doing. On the main thread that can
happen inside a client, where any exception looks like a failed request. So it is recognised by its
traceback, and raised on to the caller.
"""

import signal
import threading
from collections.abc import Iterator
from types import CodeType

__all__ = ["interruption"]


def interruption(error: BaseException) -> BaseException | None:
    """Return the exception of a signal handler that led to this error; None if there is none."""
    if threading.current_thread() is not threading.main_thread():
        return None  # Python runs handlers on the main thread only
    handlers = set(filter(None, map(_code_of, map(signal.getsignal, signal.valid_signals()))))
    for layer in _layers(error, set()):
        traceback = layer.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code in handlers:
                return layer
            traceback = traceback.tb_next
    return None


def _code_of(handler: object) -> CodeType | None:
    """Return the code of a function, a method, or an object that can be called."""
    function = getattr(handler, "__func__", handler)
    if not hasattr(function, "__code__"):
        function = getattr(type(handler), "__call__", None)  # noqa: B004 -- its code is wanted
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _layers(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    """Yield the errors that led to an error, the first one first: libraries wrap them."""
    if id(error) in seen:
        return
    seen.add(id(error))
    for part in (error.__cause__, error.__context__, *error.args):
        if isinstance(part, BaseException):
            yield from _layers(part, seen)
    yield error
