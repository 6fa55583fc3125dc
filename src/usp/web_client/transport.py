"""The session that a client of ours makes for itself, and what flows through its sockets.

Rules of this room: everything here is about connections, and nothing about documents. A session of
the caller's never passes through it. What is different from a plain ``requests.Session``:

- certificates are loaded once, not once a connection, which takes 25 ms of CPU each time;
- enough connections are kept for all threads of a crawl;
- a new connection is shown to the guard before a byte is sent over it;
- a socket knows when its document is due, however slowly the bytes drip in;
- all sockets can be shut at once, from another thread.
"""

# ruff: noqa: ANN401 -- methods of requests, urllib3 and ssl are extended with the arguments they have

import socket
import ssl
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, Final, cast
from weakref import WeakSet

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from usp.web_client.addresses import Guard
from usp.web_client.failures import StoppedError

__all__ = ["Lines", "OwnSession", "TimedSocket"]

_KEPT_CONNECTIONS: Final = 64
"""Connections kept to one host, and hosts with kept connections."""


class Lines:
    """The open sockets of a client: another thread can cut them all.

    A client with a session of the caller's has one too, without sockets, for its ``cut``.
    """

    def __init__(self) -> None:
        self.cut = threading.Event()
        self.mine = threading.local()
        """``mine.due``: when the document that this thread fetches has to be there."""
        self._open: WeakSet[socket.socket] = WeakSet()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type["Lines"], tuple[()]]:
        """Travel without sockets."""
        return type(self), ()

    def add(self, sock: socket.socket) -> None:
        """Take note of a socket, unless the lines are cut: then it can't be used any more."""
        with self._lock:
            if self.cut.is_set():
                raise ConnectionAbortedError("the client was stopped")
            self._open.add(sock)

    def cut_all(self) -> None:
        """Shut all sockets: whoever waits for bytes is told at once that there are none."""
        with self._lock:
            self.cut.set()
            for sock in self._open:
                with suppress(OSError):
                    # Not sock.shutdown(): that of TLS sockets forgets to decrypt what follows.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise if the lines are cut."""
        if self.cut.is_set():
            raise StoppedError("the client was stopped")


class TimedSocket(socket.socket):
    """A socket that reads until its document is due, and no longer."""

    due: float | None = None

    def recv_into(self, *args: Any, **options: Any) -> int:
        """Read, within what is left of the time."""
        if self.due is None:
            return super().recv_into(*args, **options)
        left = self.due - time.monotonic()
        if left <= 0:
            raise TimeoutError("the document is overdue")
        usual = self.gettimeout()
        if usual is not None and usual <= left:
            return super().recv_into(*args, **options)
        self.settimeout(left)
        try:
            return super().recv_into(*args, **options)
        finally:
            self.settimeout(usual)


class _TLSSocket(TimedSocket, ssl.SSLSocket):
    def do_handshake(self, block: bool = False) -> None:
        if isinstance(self.context, _SharedContext):
            self.context.lines.add(self)
        super().do_handshake(block)


class _SharedContext(ssl.SSLContext):
    """A context for many connections: what urllib3 sets again for each of them is set once.

    So the certificates are read once, and nothing changes while other threads use it.
    """

    sslsocket_class = _TLSSocket
    lines: Lines
    _done: set[object]
    _lock: threading.Lock

    @classmethod
    def for_lines(cls, lines: Lines, *, verify: bool) -> "_SharedContext":
        """Make a context as urllib3 makes them."""
        made = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verify else ssl.CERT_NONE)
        made.__class__ = cls
        shared = cast("_SharedContext", made)
        shared.lines, shared._done, shared._lock = lines, set(), threading.Lock()
        return shared

    def load_verify_locations(
        self, cafile: Any = None, capath: Any = None, cadata: Any = None
    ) -> None:
        """Load authorities, once."""
        self._once(super().load_verify_locations, cafile, capath, cadata)

    def load_cert_chain(self, certfile: Any, keyfile: Any = None, password: Any = None) -> None:
        """Load the certificate to show, once."""
        self._once(super().load_cert_chain, certfile, keyfile, password)

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Set what is spoken, once: OpenSSL frees the old list under the hands of others."""
        self._once(super().set_alpn_protocols, tuple(alpn_protocols))

    def _once(self, method: Callable[..., None], *args: Hashable) -> None:
        with self._lock:
            if (method.__name__, args) not in self._done:
                method(*args)
                self._done.add((method.__name__, args))


class _Connection(HTTPConnection):
    """A connection whose address the guard admits, and whose socket is on the lines."""

    def __init__(self, *args: Any, guard: Guard, lines: Lines, **options: Any) -> None:
        super().__init__(*args, **options)
        self._guard = guard
        self._lines = lines
        self._peer = ""

    def _new_conn(self) -> TimedSocket:
        plain = super()._new_conn()
        timeout = plain.gettimeout()
        sock = TimedSocket(plain.family, plain.type, plain.proto, plain.detach())
        with ExitStack() as undo:
            undo.callback(sock.close)
            sock.settimeout(timeout)
            self._peer = _peer_of(sock)
            self._admit()
            self._lines.add(sock)
            undo.pop_all()
        sock.due = self._due
        return sock

    def request(self, *args: Any, **options: Any) -> None:
        """Send a request: over a connection that was kept, only if it is still admitted."""
        if self.sock is not None:
            self._admit()
            if isinstance(self.sock, TimedSocket):  # not so in TLS through a proxy with TLS
                self.sock.due = self._due
        super().request(*args, **options)

    @property
    def _due(self) -> float | None:
        due: float | None = getattr(self._lines.mine, "due", None)
        return due

    def _admit(self) -> None:
        if self.proxy is None:  # the address of a proxy says nothing of the host behind it
            self._guard.admit(self.host, self._peer)


class _TLSConnection(_Connection, HTTPSConnection):
    """The same, with TLS."""


def _peer_of(sock: socket.socket) -> str:
    try:
        return str(sock.getpeername()[0])
    except OSError as error:
        raise ConnectionResetError("the connection was dropped as soon as it stood") from error


class _Adapter(HTTPAdapter):
    """Gives out connections of ours, and one context for all that have the same certificates."""

    def __init__(self, guard: Guard, lines: Lines) -> None:
        self._lines = lines
        self._contexts: dict[object, _SharedContext] = {}
        self._lock = threading.Lock()
        self._ours: Final[dict[object, Any]] = {
            HTTPConnection: partial(_Connection, guard=guard, lines=lines),
            HTTPSConnection: partial(_TLSConnection, guard=guard, lines=lines),
        }
        super().__init__(pool_connections=_KEPT_CONNECTIONS, pool_maxsize=_KEPT_CONNECTIONS)

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        """Have the pool make connections of ours, where it would make urllib3's own.

        Those of a SOCKS proxy, or of a library that plays the web in tests, are left alone.
        """
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = self._ours.get(pool.ConnectionCls, pool.ConnectionCls)
        return pool

    def build_connection_pool_key_attributes(
        self, request: Any, verify: Any, cert: Any = None
    ) -> Any:
        """Add the shared context to what identifies a pool."""
        host, pool = super().build_connection_pool_key_attributes(request, verify, cert)
        if host["scheme"] == "https":
            with self._lock:
                key = (bool(verify), verify, cert)
                if key not in self._contexts:
                    context = _SharedContext.for_lines(self._lines, verify=bool(verify))
                    self._contexts[key] = context
                pool["ssl_context"] = self._contexts[key]
        return host, pool


class OwnSession(requests.Session):
    """A session for several threads, on the lines of its client."""

    def __init__(self, guard: Guard, lines: Lines) -> None:
        super().__init__()
        self._made_of = (guard, lines)
        adapter = _Adapter(guard, lines)
        for scheme in ("https://", "http://"):
            self.mount(scheme, adapter)

    def __reduce__(self) -> tuple[type["OwnSession"], tuple[Guard, Lines]]:
        """Travel without connections and cookies."""
        return type(self), self._made_of
