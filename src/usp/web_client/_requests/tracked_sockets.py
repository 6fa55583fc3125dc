"""The sockets of a crawl, which another thread can cut.

Rules of this room: a socket is on the lines of the crawl that used it last, so that ending one
leaves those beside it alone, though they share their kept connections. What belongs to one request
is in its ``RequestContext``, which travels in the context of the thread that makes it.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final
from weakref import WeakSet

from usp.exceptions import CancelledFetchError
from usp.web_client._http.address_guard import Guard
from usp.web_client._http.error_responses import STOPPED

__all__ = ["REQUEST_CONTEXT", "RequestContext", "TrackedSocket", "TrackedSockets"]

_MOMENT: Final = 0.1


class TrackedSockets:
    """The open sockets of a crawl: another thread can cut them all.

    A crawl on a session of the caller's has them too, without sockets, for its ``cut``.
    """

    def __init__(self) -> None:
        self.cut = threading.Event()
        self._open: WeakSet[TrackedSocket] = WeakSet()
        self._connecting = 0
        self._lock = threading.Condition()

    def add(self, sock: "TrackedSocket") -> None:
        """Take a socket over, unless the lines are cut: then it can't be used any more."""
        if sock.lines is not None:
            sock.lines._leave(sock)
        with self._lock:
            self._admit()
            self._open.add(sock)
            sock.lines = self

    def _admit(self) -> None:
        if self.cut.is_set():
            raise ConnectionAbortedError(STOPPED)

    def _leave(self, sock: "TrackedSocket") -> None:
        with self._lock:
            if self.cut.is_set():
                raise ConnectionResetError("the connection was shut by the crawl that had it")
            self._open.discard(sock)

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Take note that a connection is being made, which can't be cut."""
        with self._lock:
            self._admit()
            self._connecting += 1
        try:
            yield
        finally:
            with self._lock:
                self._connecting -= 1
                self._lock.notify_all()

    def cancel(self) -> bool:
        """Shut all sockets: whoever waits for bytes is told at once that there are none.

        :return: whether that ends all that was under way; connections that are being made get a
            moment to come about.
        """
        with self._lock:
            self.cut.set()
            for sock in self._open:
                with suppress(OSError):
                    # Not sock.shutdown(): that of TLS sockets forgets to decrypt what follows.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
            return self._lock.wait_for(lambda: not self._connecting, _MOMENT)

    def wait(self, claim: Callable[[], float]) -> float:
        """Wait until a claim needs no more waiting, and return for how many seconds that was.

        :raises CancelledFetchError: if the lines are cut before.
        """
        waited = 0.0
        while seconds := claim():
            self.cut.wait(seconds)
            self.check()
            waited += seconds
        self.check()
        return waited

    def check(self) -> None:
        """Raise if the lines are cut."""
        if self.cut.is_set():
            raise CancelledFetchError(STOPPED)


class TrackedSocket(socket.socket):
    """A socket that knows the lines it is on."""

    lines: TrackedSockets | None = None


@dataclass(slots=True)
class RequestContext:
    """A request on its way, redirects included, for one crawl."""

    guard: Guard
    lines: TrackedSockets
    due: float | None
    """When the document has to be there, by the monotonic clock; polite waits put it off."""


REQUEST_CONTEXT: Final[ContextVar[RequestContext | None]] = ContextVar(
    "REQUEST_CONTEXT", default=None
)
