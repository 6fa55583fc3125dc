"""The session that our client makes for itself. A session of the caller's is never changed.

It differs from a plain ``requests.Session``:

- its connections are those of ``connections.py``, and it keeps enough for all threads of a crawl;
- connections with the same certificates share one TLS context;
- a bug in requests or urllib3 that a server triggers is a failed request, like any other.
"""

# ruff: noqa: ANN401 -- methods of requests are extended with the arguments they have

import threading
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter

from usp.web_client._http.encodings import ACCEPTED
from usp.web_client._http.errors import LIBRARY_BUGS
from usp.web_client._requests.connections import OUR_CONNECTIONS, SharedTLSContext
from usp.web_client._requests.request_context import REQUEST_CONTEXT

__all__ = ["OwnSession"]

_MAX_KEPT: Final = 64
"""Connections kept to one host, and hosts with kept connections."""


class _SharingAdapter(HTTPAdapter):
    """Makes connections of ours, and one TLS context for each set of certificates."""

    def __init__(self) -> None:
        self._contexts: dict[object, SharedTLSContext] = {}
        self._lock = threading.Lock()
        super().__init__(pool_connections=_MAX_KEPT, pool_maxsize=_MAX_KEPT)

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        """Return a pool that makes our connections where it would make urllib3's own.

        Pools of a SOCKS proxy, or of a library that mocks the network, keep their class.
        """
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = OUR_CONNECTIONS.get(pool.ConnectionCls, pool.ConnectionCls)
        return pool

    def build_connection_pool_key_attributes(
        self, request: Any, verify: Any, cert: Any = None
    ) -> Any:
        """Add the shared TLS context to the key of a pool."""
        host, pool = super().build_connection_pool_key_attributes(request, verify, cert)
        if host["scheme"] == "https":
            with self._lock:
                key = (bool(verify), verify, cert)
                if key not in self._contexts:
                    self._contexts[key] = SharedTLSContext.create(verify=bool(verify))
                pool["ssl_context"] = self._contexts[key]
        return host, pool

    def close(self) -> None:
        """Close the kept connections now. urllib3 leaves that to the garbage collector, and its
        own errors may hold a pool until then.
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
        self.headers["Accept-Encoding"] = ACCEPTED  # whatever decoders are installed
        adapter = _SharingAdapter()
        for scheme in ("https://", "http://"):
            self.mount(scheme, adapter)

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request; a bug in the library is a failure of the request."""
        try:
            return super().send(request, **options)
        except LIBRARY_BUGS as error:
            message = f"{type(error).__name__}: {error}"
            raise requests.exceptions.RequestException(message) from error

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Keep the caller's credentials on redirects within their site."""
        super().rebuild_auth(prepared_request, response)  # type: ignore[no-untyped-call]
        context = REQUEST_CONTEXT.get()
        if context is not None:
            target = str(prepared_request.url)
            context.redirect_headers(prepared_request.headers, response.url, target)

    def __reduce__(self) -> tuple[type["OwnSession"], tuple[()]]:
        """Pickle nothing: connections and cookies stay here."""
        return type(self), ()
