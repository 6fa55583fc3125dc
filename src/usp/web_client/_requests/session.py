"""The sessions that our client sends with: its own, and a view of the caller's.

Both differ from a plain ``requests.Session``:

- their connections are those of ``connections.py``: address guard, deadline, tracked sockets;
- connections with the same certificates share one TLS context;
- redirects carry credentials to the site that they belong to only.

A session of the caller's is never changed: the view shares all of its attributes, and has methods
of its own. Adapters of the caller's other than a plain ``HTTPAdapter`` are used as they are.
"""

# ruff: noqa: ANN401 -- methods of requests are extended with the arguments they have

import threading
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import PoolManager

from usp._forks import renewed_in_forks
from usp.web_client._http.credentials import basic_auth
from usp.web_client._http.encodings import ACCEPTED
from usp.web_client._http.errors import LIBRARY_BUGS
from usp.web_client._http.proxies import proxy_url
from usp.web_client._http.urls import prepare_url, split_login
from usp.web_client._requests.connections import OUR_CONNECTIONS, SharedTLSContext
from usp.web_client._requests.cookie_jar import BoundedCookieJar
from usp.web_client._requests.request_context import REQUEST_CONTEXT

__all__ = ["GuardedAdapters", "OwnSession", "guarded_view"]

_MAX_KEPT: Final = 64
"""Connections kept to one host, and hosts with kept connections."""


class _SharingAdapter(HTTPAdapter):
    """Makes connections of ours, and one TLS context for each set of certificates."""

    def __init__(self, model: Any = None) -> None:
        """Make an adapter.

        :param model: a plain adapter of the caller's, whose settings hold.
        """
        self._contexts: dict[object, SharedTLSContext] = {}
        self._lock = renewed_in_forks(threading.Lock())
        if model is None:
            super().__init__(pool_connections=_MAX_KEPT, pool_maxsize=_MAX_KEPT)
            return
        blocks = model._pool_block  # then the size is a limit on concurrency
        size = model._pool_maxsize if blocks else max(model._pool_maxsize, _MAX_KEPT)
        super().__init__(model._pool_connections, size, model.max_retries, blocks)
        self.max_retries = model.max_retries
        own, theirs = self.poolmanager.connection_pool_kw, model.poolmanager.connection_pool_kw
        own.update({name: value for name, value in theirs.items() if name not in own})

    def send(self, request: Any, *args: Any, **options: Any) -> Any:
        """Send a request through the proxies of client, session and environment, as URLs."""
        if proxies := options.get("proxies"):
            options["proxies"] = {name: url and proxy_url(url) for name, url in proxies.items()}
        return super().send(request, *args, **options)

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        """Return a pool that makes our connections where it would make urllib3's own.

        Pools of a SOCKS proxy, or of a library that mocks the network, keep their class.
        """
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        if (kept := getattr(pool, "pool", None)) is not None:  # not of such a library, nor closed
            renewed_in_forks(kept.mutex)
        pool.ConnectionCls = OUR_CONNECTIONS.get(pool.ConnectionCls, pool.ConnectionCls)
        return pool

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the pools."""
        super().init_poolmanager(*args, **options)
        renewed_in_forks(self.poolmanager.pools.lock)

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        """Return the pools of a proxy."""
        manager: Any = super().proxy_manager_for(*args, **options)
        renewed_in_forks(manager.pools.lock)
        return manager

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


class GuardedAdapters:
    """Our adapters for those of a caller's session, one for each."""

    def __init__(self) -> None:
        self._ours: WeakKeyDictionary[BaseAdapter, _SharingAdapter] = WeakKeyDictionary()
        self._lock = renewed_in_forks(threading.Lock())

    def __reduce__(self) -> tuple[type["GuardedAdapters"], tuple[()]]:
        """Pickle nothing: connections stay here."""
        return type(self), ()

    def ours_for(self, adapter: BaseAdapter) -> BaseAdapter:
        """Return our adapter in place of a plain one; any other is returned as it is."""
        if not _is_plain(adapter):
            return adapter
        with self._lock:
            ours = self._ours.get(adapter)
            if ours is None:
                ours = self._ours[adapter] = _SharingAdapter(adapter)
            return ours

    def close(self) -> None:
        """Close the connections of all."""
        with self._lock:
            for adapter in self._ours.values():
                adapter.close()


_PLAIN_ATTRIBUTES: Final = frozenset(vars(HTTPAdapter()))


def _is_plain(adapter: Any) -> bool:
    """Tell whether an adapter is an ``HTTPAdapter`` and nothing more: no method is replaced."""
    if type(adapter) is not HTTPAdapter or not vars(adapter).keys() <= _PLAIN_ATTRIBUTES:
        return False
    return type(adapter.poolmanager) is PoolManager


class _GuardedSession(requests.Session):
    """A session whose requests keep the rules of their crawl."""

    def get_adapter(self, url: Any) -> Any:
        """Return the adapter for a URL: ours in place of a plain one."""
        adapter = super().get_adapter(url)
        context = REQUEST_CONTEXT.get()
        if context is None:
            return adapter
        context.redirects_are_ours = True
        return context.adapters.ours_for(adapter)

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Keep credentials on redirects within their server, and use those of the new URL.

        requests adds those of ``.netrc`` whatever scheme and port, and its default to any host; and
        it ignores those in the URL.
        """
        headers = prepared_request.headers
        context = REQUEST_CONTEXT.get()
        if context is None:
            super().rebuild_auth(prepared_request, response)  # type: ignore[no-untyped-call]
            return
        target, login = split_login(str(prepared_request.url))
        prepared_request.url = target
        if self.should_strip_auth(response.url, target):  # type: ignore[no-untyped-call]
            headers.pop("Authorization", None)
        if from_netrc := context.netrc_login(target, is_redirect=True):
            prepared_request.prepare_auth(from_netrc)
        if login:
            headers["Authorization"] = basic_auth(*login)
        context.redirect_headers(headers, response.url, target)

    def rebuild_proxies(self, prepared_request: Any, proxies: Any) -> Any:
        """Return the proxies of a redirect: those that a request for its URL would have.

        requests keeps those of the first URL, also where ``NO_PROXY`` names the next host.
        """
        context = REQUEST_CONTEXT.get()
        if context is not None:
            had_none = not proxies
            given: dict[str, Any] = dict(context.proxies)  # requests adds to it
            settings = self.merge_environment_settings(
                prepared_request.url, given, None, None, None
            )
            proxies = settings["proxies"]
            if had_none and not proxies:
                return {}
        # This also removes the login of a proxy from the headers, or sets it.
        return super().rebuild_proxies(prepared_request, proxies)  # type: ignore[no-untyped-call]


class OwnSession(_GuardedSession):
    """A session for several threads, and for all crawls of its client.

    A bug in requests or urllib3 that a server triggers is a failed request, like any other.
    """

    def __init__(self) -> None:
        super().__init__()
        self.headers["Accept-Encoding"] = ACCEPTED  # whatever decoders are installed
        self.cookies = BoundedCookieJar()
        adapter = _SharingAdapter()
        for scheme in ("https://", "http://"):
            self.mount(scheme, adapter)

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """Return a request as it is sent: headers, cookies and hooks, and never a body.

        requests itself merges every setting of the session with every one of the request, which
        takes a tenth of the time of a small crawl.
        """
        url = prepare_url(str(request.url))
        prepared = requests.PreparedRequest()
        prepared.prepare_method(request.method)
        prepared.url = url
        headers: CaseInsensitiveDict[Any] = CaseInsensitiveDict(self.headers)
        headers.update(request.headers or {})  # a later name counts, in whatever case
        prepared.prepare_headers(
            {name: value for name, value in headers.items() if value is not None}
        )
        prepared.prepare_cookies(self.cookies.copy())
        prepared.prepare_auth(request.auth, url)
        prepared.prepare_hooks(request.hooks)
        return prepared

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        """Return the settings of a request, with what the environment says to its crawl."""
        context = REQUEST_CONTEXT.get()
        if context is None or not self.trust_env or "no_proxy" in proxies:
            return super().merge_environment_settings(url, proxies, stream, verify, cert)
        environment = context.environment
        if verify is None or verify is True:
            verify = environment.ca_bundle or verify
        return {
            "proxies": {**self.proxies, **environment.proxies_for(url), **proxies},
            "stream": stream,
            "verify": self.verify if verify is None else verify,
            "cert": self.cert if cert is None else cert,
        }

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request; a bug in the library is a failure of the request."""
        try:
            return super().send(request, **options)
        except LIBRARY_BUGS as error:
            message = f"{type(error).__name__}: {error}"
            raise requests.exceptions.RequestException(message) from error

    def __reduce__(self) -> tuple[type["OwnSession"], tuple[()]]:
        """Pickle nothing: connections and cookies stay here."""
        return type(self), ()


def guarded_view(session: requests.Session) -> requests.Session:
    """Return a session of the caller's with our methods: it has the same attributes.

    One whose class has slots or a finalizer can't be viewed so, and is returned as it is.
    """
    kind: Any = type(session)
    has_slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    if issubclass(kind, _GuardedSession) or has_slots or hasattr(kind, "__del__"):
        return session
    view: requests.Session = object.__new__(_view_of(kind))
    object.__setattr__(view, "__dict__", session.__dict__)
    return view


@cache
def _view_of(kind: Any) -> Any:
    return type(kind)(f"_Guarded{kind.__name__}", (_GuardedSession, kind), {})
