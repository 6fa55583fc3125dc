"""The connections of our own session: address guard, deadline, tracked sockets, shared TLS context.

Everything here is about connections and nothing about documents. What belongs to one request is in
its ``RequestContext``.
"""

# ruff: noqa: ANN401 -- methods of urllib3 and ssl are extended with the arguments they have

import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import ExitStack, nullcontext
from typing import Any, Final, cast

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from usp._forks import renewed_in_forks
from usp.web_client._http.defaults import MAX_WAIT_SECONDS
from usp.web_client._http.error_responses import DROPPED_AT_ONCE
from usp.web_client._http.first_response import ResponseWait
from usp.web_client._http.signals import interruption
from usp.web_client._requests.request_context import REQUEST_CONTEXT
from usp.web_client._requests.response_head import CheckedResponse
from usp.web_client._requests.tracked_sockets import TrackedSocket

__all__ = ["OUR_CONNECTIONS", "SharedTLSContext", "TimedSocket"]


class TimedSocket(TrackedSocket):
    """A socket that reads until the deadline of its document, and no longer."""

    deadline: float | None = None
    wait: ResponseWait | None = None
    """The waiting of the current request for a first response, which has a deadline of its own."""

    @property
    def _read_deadline(self) -> float:
        until = self.wait.until if self.wait else None
        return min(math.inf if end is None else end for end in (self.deadline, until))

    def recv_into(self, *args: Any, **options: Any) -> int:
        """Read, within the socket's timeout and before the deadline."""
        usual = self.gettimeout()
        now = time.monotonic()
        deadline = self._read_deadline
        if now >= deadline:
            raise TimeoutError("the deadline of the document has passed")
        timeout = math.inf if usual is None else usual
        if threading.current_thread() is threading.main_thread():
            return self._read_in_short_waits(min(now + timeout, deadline), *args, **options)
        if timeout <= deadline - now:
            return super().recv_into(*args, **options)
        self.settimeout(deadline - now)
        try:
            return super().recv_into(*args, **options)
        finally:
            self.settimeout(usual)

    def _read_in_short_waits(self, end: float, *args: Any, **options: Any) -> int:
        """Read on the main thread, which has to notice ``_thread.interrupt_main()``."""
        usual = self.gettimeout()
        try:
            while True:
                left = end - time.monotonic()
                self.settimeout(max(min(left, MAX_WAIT_SECONDS), 0.001))
                try:
                    return super().recv_into(*args, **options)
                except TimeoutError as error:
                    if left <= MAX_WAIT_SECONDS or interruption(error):
                        raise
        finally:
            self.settimeout(usual)


class _TLSSocket(TimedSocket, ssl.SSLSocket):
    def do_handshake(self, block: bool = False) -> None:
        context = REQUEST_CONTEXT.get()
        if context is not None:
            context.sockets.add(self)
            self.settimeout(_shorter(self.gettimeout(), context.wait.seconds))
        super().do_handshake(block)


class SharedTLSContext(ssl.SSLContext):
    """A TLS context for many connections: what urllib3 sets again for each of them is set once.

    So certificates are loaded once, which takes 25 ms of CPU, and nothing changes while other
    threads use the context.
    """

    sslsocket_class = _TLSSocket
    _done: set[object]
    _lock: threading.Lock

    @classmethod
    def create(cls, *, verify: bool) -> "SharedTLSContext":
        """Return a context with the settings of urllib3."""
        made = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verify else ssl.CERT_NONE)
        made.__class__ = cls
        shared = cast("SharedTLSContext", made)
        shared._done, shared._lock = set(), renewed_in_forks(threading.Lock())
        return shared

    def load_verify_locations(
        self, cafile: Any = None, capath: Any = None, cadata: Any = None
    ) -> None:
        """Load a CA bundle, once."""
        self._once(super().load_verify_locations, cafile, capath, cadata)

    def load_cert_chain(self, certfile: Any, keyfile: Any = None, password: Any = None) -> None:
        """Load a client certificate, once."""
        self._once(super().load_cert_chain, certfile, keyfile, password)

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Set the protocols, once: OpenSSL frees the old list while other threads may use it."""
        self._once(super().set_alpn_protocols, tuple(alpn_protocols))

    def _once(self, method: Callable[..., None], *args: Hashable) -> None:
        with self._lock:
            if (method.__name__, args) not in self._done:
                method(*args)
                self._done.add((method.__name__, args))


class _GuardedConnection(HTTPConnection):
    """A connection whose address the guard has admitted, with a tracked socket."""

    response_class = CheckedResponse
    _peer = ""
    _process = 0
    """The process that connected."""

    @property
    def is_connected(self) -> bool:
        """Whether the connection can be used again: not after a fork, since the parent has it.

        Two processes that write to one socket get parts of each other's responses.
        """
        return super().is_connected and self._process == os.getpid()

    def _new_conn(self) -> TimedSocket:
        context = REQUEST_CONTEXT.get()
        usual = self.timeout
        if context is not None:
            self.timeout = _shorter(usual, context.wait.seconds)
        try:
            with context.sockets.connecting() if context is not None else nullcontext():
                plain = super()._new_conn()
        finally:
            self.timeout = usual
        timeout = plain.gettimeout()
        sock = TimedSocket(plain.family, plain.type, plain.proto, plain.detach())
        with ExitStack() as undo:
            undo.callback(sock.close)
            sock.settimeout(timeout)
            self._peer = _peer_address(sock)
            self._process = os.getpid()
            self._admit(sock)
            undo.pop_all()
        return sock

    def request(self, *args: Any, **options: Any) -> None:
        """Send a request; a kept connection is checked by the address guard again."""
        if self.sock is not None:
            try:
                self._admit(self.sock)
            except ConnectionResetError:  # its last crawl was cancelled at this moment
                if self.proxy is not None:
                    raise
                self.close()  # so urllib3 connects again
        super().request(*args, **options)

    def _admit(self, sock: socket.socket) -> None:
        """Show the address to the guard of the current request, and have its crawl track it."""
        context = REQUEST_CONTEXT.get()
        if context is None:
            return
        if self.proxy is None:  # the address of a proxy says nothing about the host behind it
            with context.sockets.connecting():  # a name may have to be looked up
                context.guard.admit(self.host, self._peer)
        if isinstance(sock, TimedSocket):  # TLS inside TLS, through a proxy, has another class
            context.sockets.add(sock)
            sock.deadline = context.deadline
            sock.wait = context.wait


class _GuardedTLSConnection(_GuardedConnection, HTTPSConnection):
    """The same with TLS."""


OUR_CONNECTIONS: Final[dict[object, Any]] = {
    HTTPConnection: _GuardedConnection,
    HTTPSConnection: _GuardedTLSConnection,
}
"""Our class of connections for each of urllib3's."""


def _shorter(timeout: float | None, seconds: float | None) -> float | None:
    """Return the shorter of two times; zero would mean not to wait at all."""
    times = [time for time in (timeout, seconds) if time is not None]
    return max(min(times), 0.001) if times else None


def _peer_address(sock: socket.socket) -> str:
    try:
        return str(sock.getpeername()[0])
    except OSError as error:
        raise ConnectionResetError(DROPPED_AT_ONCE) from error
