"""The open sockets of a crawl, which another thread can shut down at once.

A socket belongs to the crawl that used it last. So cancelling one crawl leaves the others alone,
though they share the connection pool.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final
from weakref import WeakSet

from usp._forks import renewed_in_forks
from usp.exceptions import CancelledFetchError
from usp.web_client._http.defaults import MAX_WAIT_SECONDS
from usp.web_client._http.error_responses import CANCELLED_MESSAGE

__all__ = ["TrackedSocket", "TrackedSockets"]

_MOMENT: Final = 0.1


class TrackedSockets:
    """The open sockets of a crawl.

    A crawl on a session of the caller's has no sockets here, only the ``cancelled`` flag.
    """

    def __init__(self) -> None:
        self.cancelled = renewed_in_forks(threading.Event())
        self._open: WeakSet[TrackedSocket] = WeakSet()
        self._connecting = 0
        self._lock = renewed_in_forks(threading.Condition())

    def add(self, sock: "TrackedSocket") -> None:
        """Take a socket over from the crawl that had it.

        :raises OSError: if either of the two is cancelled.
        """
        if sock.tracked_by is not None:
            sock.tracked_by._discard(sock)
        with self._lock:
            self._reject_if_cancelled()
            self._open.add(sock)
            sock.tracked_by = self

    def _reject_if_cancelled(self) -> None:
        if self.cancelled.is_set():
            raise ConnectionAbortedError(CANCELLED_MESSAGE)

    def _discard(self, sock: "TrackedSocket") -> None:
        with self._lock:
            if self.cancelled.is_set():
                raise ConnectionResetError("the crawl that used the connection was cancelled")
            self._open.discard(sock)

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Count a connection that is being established: it can't be shut down yet."""
        with self._lock:
            self._reject_if_cancelled()
            self._connecting += 1
        try:
            yield
        finally:
            with self._lock:
                self._connecting -= 1
                self._lock.notify_all()

    def cancel(self) -> bool:
        """Shut down all sockets: a thread that waits for bytes continues at once.

        :return: whether that ends everything in flight; connections that are being established
            get a moment to finish.
        """
        with self._lock:
            self.cancelled.set()
            for sock in self._open:
                with suppress(OSError):
                    # Not sock.shutdown(): a TLS socket stops decrypting after that.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
            return self._lock.wait_for(lambda: not self._connecting, _MOMENT)

    def wait(self, claim: Callable[[], float]) -> float:
        """Wait until a claim returns zero seconds, and return the seconds waited.

        :raises CancelledFetchError: if the crawl is cancelled before.
        """
        waited = 0.0
        while seconds := min(claim(), MAX_WAIT_SECONDS):
            self.cancelled.wait(seconds)
            self.check()
            waited += seconds
        self.check()
        return waited

    def check(self) -> None:
        """Raise ``CancelledFetchError`` if the crawl is cancelled."""
        if self.cancelled.is_set():
            raise CancelledFetchError(CANCELLED_MESSAGE)


class TrackedSocket(socket.socket):
    """A socket that knows which crawl uses it."""

    tracked_by: TrackedSockets | None = None
