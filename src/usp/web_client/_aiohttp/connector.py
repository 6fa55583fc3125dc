"""The connections of the asyncio client: shared by all crawls, each shown to the guard of the crawl
that wants to use it.

Rules of this room: everything here is about connections, and nothing about documents. What belongs
to one request is in its ``RequestContext``, which travels in the context of the task that makes it.
"""

import os
import socket
import ssl
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.util.ssl_ import create_urllib3_context

from usp.exceptions import AddressRefusedError, SitemapException
from usp.web_client._http.address_guard import Guard
from usp.web_client._http.error_responses import DROPPED_AT_ONCE
from usp.web_client._http.settings import Verify

__all__ = ["REQUEST_CONTEXT", "Connector", "RequestContext", "tls_context"]

_END_OF_HEADERS: Final = b"\r\n\r\n"
_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(slots=True)
class RequestContext:
    """A request on its way to a host, for one crawl."""

    crawl: object
    guard: Guard
    host: str
    is_home: bool
    refused: AddressRefusedError | None = None
    over_kept: bool = False
    """The connection was kept from another request, so the host may have closed it since."""

    def admit(self, address: str) -> None:
        """Let a connection to an address be used, or raise."""
        self.guard.admit(self.host, address)

    def admit_attempt(self, address: str) -> None:
        """Let a connection to an address be tried; an ``OSError`` has the next address tried.

        Where it isn't known yet where the crawl is, the first connection that stands will tell.
        """
        if self.is_home and not self.guard.decided:
            return
        try:
            self.admit(address)
        except AddressRefusedError as error:
            self.refused = error
            raise OSError(str(error)) from error


REQUEST_CONTEXT: Final[ContextVar[RequestContext | None]] = ContextVar(
    "REQUEST_CONTEXT", default=None
)


class _Handler(ResponseHandler):
    """One connection, as we need it."""

    def data_received(self, data: bytes) -> None:
        """Take what has come; an answer may run on past the length that it names.

        aiohttp takes what follows for another answer. Where it comes in one piece with the headers,
        the first answer is lost with it; so the headers go ahead.
        """
        end = data.find(_END_OF_HEADERS) + len(_END_OF_HEADERS)
        if len(_END_OF_HEADERS) <= end < len(data):
            super().data_received(data[:end])
            data = data[end:]
        super().data_received(data)
        self._end_payload()

    def _end_payload(self) -> None:
        """Tell whoever reads the body of a fault in it: aiohttp tells who waits for headers."""
        fault, payload = self.exception(), self._payload
        if fault is None or payload is None or payload.is_eof():
            return
        if payload.exception() is None:
            words = " ".join(str(fault).split())
            payload.set_exception(aiohttp.ClientPayloadError(f"the body is garbled: {words}"))

    def close(self) -> None:
        """Close the connection now: with TLS, asyncio would wait for the other side's good-bye."""
        if self.transport is not None:
            self.transport.abort()
        super().close()


class Connector(aiohttp.TCPConnector):
    """Makes connections, and keeps them for the next request.

    Nobody is connected to before the guard of the crawl has admitted the address, and a connection
    that was kept is shown to the guard again: another crawl may have made it.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        # The client bounds what is under way; here a request would wait while its time runs.
        super().__init__(ssl=context, limit=0, socket_factory=_socket_for)
        self._factory = partial(_Handler, loop=self._loop)  # type: ignore[assignment]  # it is one
        self._users: WeakKeyDictionary[ResponseHandler, object] = WeakKeyDictionary()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 -- as aiohttp has it
    ) -> Connection:
        """Return a connection for a request; the address of a proxy says nothing, and is_transient."""
        context = REQUEST_CONTEXT.get()
        checked = context if req.proxy is None else None
        token = REQUEST_CONTEXT.set(checked)
        try:
            connection = await super().connect(req, traces, timeout)
        except aiohttp.ClientConnectorError as error:
            raise (checked and checked.refused) or error from error
        finally:
            REQUEST_CONTEXT.reset(token)
        if checked is not None:
            _check(checked, connection)
        if context is not None and connection.protocol is not None:
            context.over_kept = connection.protocol in self._users
            self._users[connection.protocol] = context.crawl
        return connection

    def leave(self, crawl: object) -> None:
        """Close the kept connections that a crawl was the last to use: no other has its hosts."""
        for protocol in [each for each, user in self._users.items() if user is crawl]:
            protocol.close()


def _check(context: RequestContext, connection: Connection) -> None:
    with ExitStack() as undo:
        undo.callback(connection.close)
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        if not peer:
            raise ConnectionResetError(DROPPED_AT_ONCE)
        context.admit(str(peer[0]))
        undo.pop_all()


def _socket_for(address: aiohttp.AddrInfoType) -> socket.socket:
    """Make the socket for one attempt to connect, if it may be made."""
    family, kind, protocol, _, where = address
    context = REQUEST_CONTEXT.get()
    if context is not None:
        context.admit_attempt(str(where[0]))
    return socket.socket(family, kind, protocol)


def tls_context(verify: Verify, *, trust_env: bool) -> ssl.SSLContext:
    """Return the settings of TLS for all connections of a client, authorities loaded once.

    With True, the authorities are those that requests uses, named by the environment or certifi's.

    :raises SitemapException: if the authorities can't be loaded.
    """
    if isinstance(verify, ssl.SSLContext):
        return verify
    if verify is False:
        return _new_context(ssl.CERT_NONE)
    named = [os.environ[name] for name in _BUNDLES if os.environ.get(name)] if trust_env else []
    bundle = [*named, DEFAULT_CA_BUNDLE_PATH][0] if verify is True else str(verify)
    try:
        return _context_with(bundle)
    except OSError as error:  # also what TLS says of a file that is none
        raise SitemapException(f"No authorities can be loaded from {bundle}: {error}") from error


@lru_cache(maxsize=4)  # clients that are made for one crawl each need not load them each
def _context_with(bundle: str) -> ssl.SSLContext:
    context = _new_context(ssl.CERT_REQUIRED)
    is_folder = Path(bundle).is_dir()
    context.load_verify_locations(None if is_folder else bundle, bundle if is_folder else None)
    return context


def _new_context(check: ssl.VerifyMode) -> ssl.SSLContext:
    context = create_urllib3_context(cert_reqs=check)
    context.set_alpn_protocols(["http/1.1"])
    return context
