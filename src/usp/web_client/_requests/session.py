"""The session that a client of ours makes for itself, and what flows through its sockets.

Rules of this room: everything here is about connections, and nothing about documents. A session of
the caller's never is_transient through it. What is different from a plain ``requests.Session``:

- certificates are loaded once, not once a connection, which takes 25 ms of CPU each time;
- enough connections are kept for all threads of a crawl;
- a new connection is shown to the guard before a byte is sent over it;
- a socket knows when its document is due, however slowly the bytes drip in;
- the sockets of a crawl can be shut at once, from another thread;
- interim answers and heads that break off are known as such.

What belongs to one request is in its ``RequestContext``, in the context of the thread that makes it: one
session serves any number of crawls.
"""

# ruff: noqa: ANN401 -- methods of requests, urllib3 and ssl are extended with the arguments they have

import socket
import ssl
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import ExitStack, nullcontext
from typing import Any, Final, cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from usp.web_client._http.encodings import ACCEPTED
from usp.web_client._http.error_responses import DROPPED_AT_ONCE
from usp.web_client._requests.response_head import Answer
from usp.web_client._requests.tracked_sockets import REQUEST_CONTEXT, TrackedSocket

__all__ = ["OwnSession", "TimedSocket"]

_KEPT_CONNECTIONS: Final = 64
"""Connections kept to one host, and hosts with kept connections."""


class TimedSocket(TrackedSocket):
    """A socket that reads until its document is due, and no longer."""

    due: float | None = None

    def recv_into(self, *args: Any, **options: Any) -> int:
        """Read, within what is left of the time."""
        if self.due is None:
            return super().recv_into(*args, **options)
        left = self.due - time.monotonic()
        if left <= 0:
            raise TimeoutError("the document is deadline_response")
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
        context = REQUEST_CONTEXT.get()
        if context is not None:
            context.lines.add(self)
        super().do_handshake(block)


class _SharedContext(ssl.SSLContext):
    """A context for many connections: what urllib3 sets again for each of them is set once.

    So the certificates are read once, and nothing changes while other threads use it.
    """

    sslsocket_class = _TLSSocket
    _done: set[object]
    _lock: threading.Lock

    @classmethod
    def made(cls, *, verify: bool) -> "_SharedContext":
        """Make a context as urllib3 makes them."""
        made = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verify else ssl.CERT_NONE)
        made.__class__ = cls
        shared = cast("_SharedContext", made)
        shared._done, shared._lock = set(), threading.Lock()
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

    response_class = Answer
    _peer = ""

    def _new_conn(self) -> TimedSocket:
        context = REQUEST_CONTEXT.get()
        with context.lines.connecting() if context is not None else nullcontext():
            plain = super()._new_conn()
        timeout = plain.gettimeout()
        sock = TimedSocket(plain.family, plain.type, plain.proto, plain.detach())
        with ExitStack() as undo:
            undo.callback(sock.close)
            sock.settimeout(timeout)
            self._peer = _peer_of(sock)
            self._admit(sock)
            undo.pop_all()
        return sock

    def request(self, *args: Any, **options: Any) -> None:
        """Send a request: over a connection that was kept, only if it is still admitted."""
        if self.sock is not None:
            try:
                self._admit(self.sock)
            except ConnectionResetError:  # the crawl that had it was ended this very moment
                if self.proxy is not None:
                    raise
                self.close()  # so a new one is made
        super().request(*args, **options)

    def _admit(self, sock: socket.socket) -> None:
        """Show the address to the guard, and put the socket on the lines, of whoever asks now."""
        context = REQUEST_CONTEXT.get()
        if context is None:
            return
        if self.proxy is None:  # the address of a proxy says nothing of the host behind it
            with context.lines.connecting():  # a name may have to be looked up
                context.guard.admit(self.host, self._peer)
        if isinstance(sock, TimedSocket):  # not so in TLS through a proxy with TLS
            context.lines.add(sock)
            sock.due = context.due


class _TLSConnection(_Connection, HTTPSConnection):
    """The same, with TLS."""


_OURS: Final[dict[object, Any]] = {
    HTTPConnection: _Connection,
    HTTPSConnection: _TLSConnection,
}


def _peer_of(sock: socket.socket) -> str:
    try:
        return str(sock.getpeername()[0])
    except OSError as error:
        raise ConnectionResetError(DROPPED_AT_ONCE) from error


class _Adapter(HTTPAdapter):
    """Gives out connections of ours, and one context for all that have the same certificates."""

    def __init__(self) -> None:
        self._contexts: dict[object, _SharedContext] = {}
        self._lock = threading.Lock()
        super().__init__(pool_connections=_KEPT_CONNECTIONS, pool_maxsize=_KEPT_CONNECTIONS)

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        """Have the pool make connections of ours, where it would make urllib3's own.

        Those of a SOCKS proxy, or of a library that plays the web in tests, are left alone.
        """
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = _OURS.get(pool.ConnectionCls, pool.ConnectionCls)
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
                    context = _SharedContext.made(verify=bool(verify))
                    self._contexts[key] = context
                pool["ssl_context"] = self._contexts[key]
        return host, pool

    def close(self) -> None:
        """Close the kept connections now: urllib3 leaves that to the collector, and its own errors
        may hold a pool until then.
        """
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 -- urllib3 has no iterator of it
                pool = manager.pools.get(key)
                if pool is not None:
                    pool.close()
        super().close()


class OwnSession(requests.Session):
    """A session for several threads, and for all crawls of its client."""

    def __init__(self) -> None:
        super().__init__()
        self.headers["Accept-Encoding"] = ACCEPTED  # whatever else is installed
        adapter = _Adapter()
        for scheme in ("https://", "http://"):
            self.mount(scheme, adapter)

    def __reduce__(self) -> tuple[type["OwnSession"], tuple[()]]:
        """Travel without connections and cookies."""
        return type(self), ()
