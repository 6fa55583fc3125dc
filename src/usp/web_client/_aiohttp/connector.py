"""The connections of the asyncio client: shared by all crawls, checked by the guard of each.

Everything here is about connections and nothing about documents. What belongs to one request is in
its ``AioRequestContext``, which is stored in a context variable of the task that makes it.
"""

import asyncio
import socket
import ssl
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from usp.exceptions import AddressRefusedError
from usp.web_client._http.address_guard import Guard
from usp.web_client._http.ca_bundle import CERTIFI, named_bundle, new_context, trusting_context
from usp.web_client._http.environment import Environment
from usp.web_client._http.error_responses import DROPPED_AT_ONCE

__all__ = ["AIO_REQUEST_CONTEXT", "AioRequestContext", "Connector", "Verify", "tls_context"]

Verify = bool | str | Path | ssl.SSLContext
"""Whether certificates are checked, the CA bundle (file or folder), or all settings of TLS."""
_END_OF_HEADERS: Final = b"\r\n\r\n"


@dataclass(slots=True)
class AioRequestContext:
    """The state of one request to one host, for its connections."""

    crawl: object
    guard: Guard
    host: str
    is_home: bool
    refused: AddressRefusedError | None = None
    is_reused: bool = False
    """The connection was kept from another request, so the host may have closed it since."""

    def admit(self, address: str) -> None:
        """Admit a connection to an address, or raise."""
        self.guard.admit(self.host, address)

    def admit_attempt(self, address: str) -> None:
        """Admit an attempt to connect to an address; an ``OSError`` makes asyncio try the next.

        While it is not known whether the site is public, any address of the homepage is tried.
        """
        if self.is_home and not self.guard.decided:
            return
        try:
            self.admit(address)
        except AddressRefusedError as error:
            self.refused = error
            raise OSError(str(error)) from error


AIO_REQUEST_CONTEXT: Final[ContextVar[AioRequestContext | None]] = ContextVar(
    "AIO_REQUEST_CONTEXT", default=None
)


class _TolerantHandler(ResponseHandler):
    """A connection that tolerates bytes after a response, and tells the reader of a body its end.

    aiohttp tells the reader of headers of a malformed body, and nobody of a connection that was
    reset in a body without ``Content-Length``: the end of the connection is the end of the body
    only if the host closed it (RFC 9112, 8).
    """

    _closed_by_host = False

    def data_received(self, data: bytes) -> None:
        """Take received bytes; a body may be longer than its ``Content-Length``.

        aiohttp takes the excess for another response. If it arrives together with the headers, the
        first response is lost, too; so the headers are passed on separately.
        """
        end = data.find(_END_OF_HEADERS) + len(_END_OF_HEADERS)
        if len(_END_OF_HEADERS) <= end < len(data):
            super().data_received(data[:end])
            data = data[end:]
        super().data_received(data)
        self._fail_body("the body is malformed", self.exception())

    def eof_received(self) -> None:
        """Take the end that the host sent; TLS may report an error of the connection after it."""
        self._closed_by_host = True
        super().eof_received()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Take the end of the connection, with an error unless one of the two sides closed it."""
        if not self._closed_by_host:
            self._fail_body("the connection was lost", exc)
        super().connection_lost(exc)

    def _fail_body(self, what: str, error: BaseException | None) -> None:
        """Pass an error on to the reader of a body that is not read to its end."""
        payload = self._payload
        if error is None or payload is None or payload.is_eof():
            return
        if payload.exception() is None:
            words = " ".join(str(error).split())
            payload.set_exception(aiohttp.ClientPayloadError(f"{what}: {words}"))

    def close(self) -> None:
        """Close the connection now: with TLS, asyncio would wait for the other side."""
        if self.transport is not None:
            self.transport.abort()
        super().close()


class Connector(aiohttp.TCPConnector):
    """Makes connections, and keeps them for the next request.

    The guard of the crawl admits an address before anything connects to it, and again when a
    connection is reused: another crawl may have made it.
    """

    def __init__(self, context: ssl.SSLContext, resolver: AbstractResolver | None = None) -> None:
        # The client limits concurrency; a wait here would count towards the deadline.
        super().__init__(
            ssl=context,
            limit=0,
            socket_factory=_admitted_socket,
            resolver=resolver,
            use_dns_cache=resolver is None,  # one that is given decides on what is kept
        )
        self._names = resolver
        self._factory = partial(_TolerantHandler, loop=self._loop)  # type: ignore[assignment]  # it is one
        self._users: WeakKeyDictionary[ResponseHandler, object] = WeakKeyDictionary()
        self._used: WeakKeyDictionary[object, WeakSet[ResponseHandler]] = WeakKeyDictionary()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 -- as aiohttp has it
    ) -> Connection:
        """Return a connection for a request. The address of a proxy is not checked."""
        context = AIO_REQUEST_CONTEXT.get()
        checked = context if req.proxy is None else None
        token = AIO_REQUEST_CONTEXT.set(checked)
        try:
            connection = await super().connect(req, traces, timeout)
        except aiohttp.ClientConnectorError as error:
            raise (checked and checked.refused) or error from error
        finally:
            AIO_REQUEST_CONTEXT.reset(token)
        if checked is not None:
            _check(checked, connection)
        if context is not None and connection.protocol is not None:
            context.is_reused = connection.protocol in self._users
            self._users[connection.protocol] = context.crawl
            self._used.setdefault(context.crawl, WeakSet()).add(connection.protocol)
        return connection

    async def addresses(self, host: str) -> list[str]:
        """Return the addresses of a host.

        :raises OSError: if there are none.
        """
        if self._names is None:
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            return [str(address[0]) for *_, address in found]
        return [one["host"] for one in await self._names.resolve(host, 0, socket.AF_UNSPEC)]

    def leave(self, crawl: object) -> None:
        """Close the kept connections that a crawl used last: other crawls have other hosts."""
        for protocol in list(self._used.pop(crawl, ())):
            if self._users.get(protocol) is crawl:
                protocol.close()


def _check(context: AioRequestContext, connection: Connection) -> None:
    with ExitStack() as undo:
        undo.callback(connection.close)
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        if not peer:
            raise ConnectionResetError(DROPPED_AT_ONCE)
        context.admit(str(peer[0]))
        undo.pop_all()


def _admitted_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return the socket for one attempt to connect, if the guard admits its address."""
    family, kind, protocol, _, where = address
    context = AIO_REQUEST_CONTEXT.get()
    if context is not None:
        context.admit_attempt(str(where[0]))
    return socket.socket(family, kind, protocol)


def tls_context(verify: Verify, *, trust_env: bool) -> ssl.SSLContext:
    """Return the TLS context for all connections of a client; certificates are loaded once.

    With True, the CA bundle is the one that requests uses: the environment's, or certifi's.

    :raises UsageError: if the CA bundle can't be loaded.
    """
    if isinstance(verify, ssl.SSLContext):
        return verify
    if verify is False:
        return new_context(ssl.CERT_NONE)
    named = named_bundle(verify, Environment() if trust_env else None)
    return trusting_context(named or CERTIFI)
