"""The client on aiohttp: what a crawl in asyncio uses where the caller brings none.

Rules of this room: ``get()`` never raises on what the web did, and leaves the body to be read. One
client serves many crawls at once, so what belongs to one crawl (where its homepage is, its cookies,
the distance between its requests) lives in its ``AioCrawlScope``, and on the client what all share.
"""

import asyncio
import socket
import warnings
from base64 import b64encode
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from typing import Final
from urllib.parse import urljoin, urlsplit

import aiohttp
from requests.exceptions import InvalidSchema, TooManyRedirects
from requests.utils import (
    get_auth_from_url,
    get_environ_proxies,
    get_netrc_auth,
    select_proxy,
)
from yarl import URL

from usp._validate import check_flags, check_int
from usp.exceptions import AddressRefusedError, SitemapException
from usp.web_client._aiohttp.connector import (
    REQUEST_CONTEXT,
    Connector,
    RequestContext,
    tls_context,
)
from usp.web_client._aiohttp.response import (
    AioWebClientErrorResponse,
    AioWebClientSuccessResponse,
    drain,
    failed,
    is_begun,
    refused,
)
from usp.web_client._http import defaults as defaults
from usp.web_client._http import encodings as encodings
from usp.web_client._http import error_responses as error_responses
from usp.web_client._http import settings
from usp.web_client._http.address_guard import AddressRule, Guard, host_of, is_public
from usp.web_client._http.pacing import RequestPacing
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import AbstractWebClientResponse, RequestWaiter

__all__ = ["AioWebClient", "AioWebClientErrorResponse", "AioWebClientSuccessResponse"]

_HEADERS: Final = {
    "User-Agent": defaults.USER_AGENT,
    "Accept": "*/*",
    "Accept-Encoding": encodings.ACCEPTED,
}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 30
_LONGEST_LINE: Final = 64 * 1024
"""As long as a line of headers may be for the client on requests, too."""
_FAILURES: Final = (
    aiohttp.ClientError,
    OSError,  # also what requests raises
    ValueError,  # URLs that can't be read
    AddressRefusedError,
)
_LOST: Final = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class AioWebClient(AbstractAioWebClient):
    """Fetches with aiohttp, for any number of crawls at once.

    A client belongs to the event loop in which it is first used, and has to be closed in it:
    ``async with AioWebClient() as client``.
    """

    _is_public = staticmethod(is_public)
    _connector: Connector | None = None

    def __init__(
        self,
        *,
        concurrency: int = 100,
        verify: settings.Verify = True,
        wait: float | None = None,
        random_wait: bool = False,
        timeout: float | tuple[float | None, float | None] | None = defaults.TIMEOUT,
        document_deadline: float | None = defaults.DEADLINE,
        headers: Mapping[str, str] | None = None,
        proxies: Mapping[str, str | None] | None = None,
        trust_env: bool = True,
        private_addresses: AddressRule = "auto",
    ) -> None:
        """Make a client; nothing is opened yet.

        :param concurrency: how many requests may be under way, over all crawls.
        :param verify: False to accept any certificate, the path of a file or folder of authorities,
            or an ``ssl.SSLContext``.
        :param wait: seconds between the starts of the requests of one crawl, and of those to one
            host, whichever crawls make them.
        :param random_wait: vary that by half, up and down.
        :param timeout: seconds to wait, or (to connect, for bytes); None waits for ever.
        :param document_deadline: seconds that a whole document may take, redirects included.
        :param headers: headers to send besides, or instead of, the usual ones. ``Authorization``
            and ``Cookie`` go to the domain of the homepage only.
        :param proxies: proxies by scheme, as for requests; they go before the environment's.
        :param trust_env: whether to use the proxies, the authorities and the ``.netrc`` that the
            environment names.
        :param private_addresses: as for ``RequestsWebClient``.
        """
        Guard(private_addresses)  # raises at once on what is no rule
        check_flags(trust_env=trust_env)
        self._concurrency = check_int("concurrency", concurrency, 1)
        self._tls = tls_context(settings.verify_or_context(verify), trust_env=trust_env)
        self._pacing = RequestPacing(RequestWaiter(wait, random_wait))
        connect, read = settings.timeout(timeout)
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read)
        self._deadline = settings.limit("document_deadline", document_deadline)
        sent = _HEADERS | {name.title(): text for name, text in settings.headers(headers).items()}
        self._credentials: dict[str, str] = {
            name: sent.pop(name) for name in defaults.CREDENTIALS if name in sent
        }
        self._headers = sent
        self._proxies = settings.proxies(proxies)
        self._trust_env = trust_env
        self._rule: AddressRule = private_addresses
        self._own_scope: AioCrawlScope | None = None
        self._closed = False

    async def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; read or close the response.

        A crawl calls it too, so that what a subclass does here holds.
        """
        url = settings.url(url)
        connector = self._opened()
        scope = _SCOPE.get()
        if scope is None or scope.client is not self:  # outside of any crawl
            scope = self._own_scope = self._own_scope or AioCrawlScope(self, connector, None)
        return await scope.fetch(url)

    def for_crawl(self, homepage_url: str) -> "AioCrawlScope":
        """Return the client for one crawl: with cookies and a guard of its own.

        :raises SitemapException: if the client is closed, or was used in another event loop.
        """
        return AioCrawlScope(self, self._opened(), homepage_url)

    async def close(self) -> None:
        """Close all connections; the client is of no use any more."""
        self._closed = True
        if self._own_scope is not None:
            await self._own_scope.close()
        if self._connector is not None:
            await self._connector.close()

    def __del__(self) -> None:
        if self._connector is not None and not self._closed:
            warnings.warn(
                "an AioWebClient was not closed", ResourceWarning, stacklevel=1, source=self
            )

    def _opened(self) -> Connector:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise SitemapException("The client is closed.")
        if self._connector is None:
            self._connector = Connector(self._tls)
            self._slots = asyncio.Semaphore(self._concurrency)
            self._loop = loop
        if self._loop is not loop:
            raise SitemapException(
                "The client was used in another event loop; make one in each, and close it there."
            )
        return self._connector


class AioCrawlScope(AbstractAioWebClient):
    """The client for one crawl: ``get()`` is that of the client, with what belongs to the crawl."""

    def __init__(self, client: AioWebClient, connector: Connector, homepage: str | None) -> None:
        self.client = client
        self._connector = connector
        self._home = defaults.host_of_homepage(homepage) if homepage else None
        self._homepage_url = homepage
        self._home_addresses: list[str] = []
        self._guard = Guard(client._rule, client._is_public, lambda _: self._home_addresses)
        if homepage is not None:
            self._guard.start(self._home)
        self._logins: dict[str, str | None] = {}
        self._session = aiohttp.ClientSession(
            connector=connector,
            connector_owner=False,
            headers=client._headers,
            cookie_jar=aiohttp.CookieJar(unsafe=True),  # hosts may be named by their address
            auto_decompress=False,
            timeout=client._timeout,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        # What is asked for again, the crawl decides, and ``_ask``: aiohttp asks again for anything.
        self._session._retry_connection = False

    async def close(self) -> None:
        """Forget the crawl, and close the connections that only it used."""
        self._session.detach()
        self._connector.leave(self)
        self.client._pacing.forget(self)

    async def get(self, url: str) -> AbstractWebClientResponse:
        """Have the client fetch a URL for this crawl."""
        token = _SCOPE.set(self)
        try:
            return await self.client.get(url)
        finally:
            _SCOPE.reset(token)

    async def fetch(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; the body is left to be read."""
        try:
            url = _web_url(url)
        except _FAILURES as error:
            return failed(error)
        await self._take_slot(host_of(url))
        with ExitStack() as undo:
            give_back = self.client._slots.release
            undo.callback(give_back)
            seconds = self.client._deadline
            due = None if seconds is None else asyncio.get_running_loop().time() + seconds
            deadline = asyncio.timeout_at(due)
            try:
                async with deadline:
                    response, passed = await self._follow(url, deadline)
            except _FAILURES as error:
                late = deadline.expired()
                return (
                    error_responses.deadline_response(AioWebClientErrorResponse)
                    if late
                    else failed(error)
                )
            if response.status not in defaults.SUCCESS:
                return await refused(response)
            undo.pop_all()
        answer = AioWebClientSuccessResponse(response, passed, deadline.when(), give_back)
        foreign = await answer.foreign_packing()
        return error_responses.foreign(AioWebClientErrorResponse, foreign) if foreign else answer

    async def _take_slot(self, host: str) -> None:
        """Wait until a request may start: at its distance from the last, and among all others.

        Nobody keeps a place while he waits for a host: what waits for a place may be ahead of him
        there, and what is on its way through redirects has one already.
        """
        slots = self.client._slots
        await slots.acquire()
        while seconds := self._distance(host):
            slots.release()
            await asyncio.sleep(seconds)
            await slots.acquire()
        self._start(host)

    async def _next_hop(self, host: str, deadline: asyncio.Timeout) -> None:
        """Wait until a redirect may be followed; that is no time of the document's."""
        while seconds := self._distance(host):
            due = deadline.when()
            deadline.reschedule(None if due is None else due + seconds)
            await asyncio.sleep(seconds)
        self._start(host)

    def _distance(self, host: str) -> float:
        now = asyncio.get_running_loop().time()
        return self.client._pacing.seconds(now, self, host)

    def _start(self, host: str) -> None:
        self.client._pacing.start(asyncio.get_running_loop().time(), self, host)

    async def _follow(
        self, url: str, deadline: asyncio.Timeout
    ) -> tuple[aiohttp.ClientResponse, tuple[str, ...]]:
        """Ask for a URL and all that it leads to; return the answer and the URLs on the way."""
        passed = [url]
        credentials = {**self._login_of(url), **self._given_for(url), **_userinfo(url)}
        for _ in range(_MOST_REDIRECTS + 1):
            response = await self._ask(url, credentials)
            location = response.headers.get("Location")
            if response.status not in _REDIRECTS or not location:
                return response, tuple(passed)
            await drain(response)
            target = _web_url(urljoin(url, location))
            if not _is_same_place(url, target):
                credentials = {**self._login_of(target), **_userinfo(target)}
            url = target
            passed.append(url)
            await self._next_hop(host_of(url), deadline)
        raise TooManyRedirects(f"Exceeded {_MOST_REDIRECTS} redirects.")

    async def _ask(self, url: str, credentials: Mapping[str, str]) -> aiohttp.ClientResponse:
        host = host_of(url)
        if not self._guard.decided and host != self._home:
            await self._find_home()
        context = RequestContext(self, self._guard, host, host == self._home)
        try:
            return await self._send(url, credentials, context)
        except _LOST as error:
            # A kept connection that turns out dead is nobody's fault, and is replaced once.
            if not context.over_kept or is_begun(error):
                raise
        return await self._send(url, credentials, context)

    async def _send(
        self, url: str, credentials: Mapping[str, str], context: RequestContext
    ) -> aiohttp.ClientResponse:
        token = REQUEST_CONTEXT.set(context)
        try:
            return await self._session.get(
                URL(url, encoded=True).with_user(None),
                headers=credentials,
                allow_redirects=False,
                proxy=self._proxy_for(url),
            )
        finally:
            REQUEST_CONTEXT.reset(token)

    async def _find_home(self) -> None:
        """Look the homepage up for the guard, which can't wait for it."""
        if self._home is None:
            return
        loop = asyncio.get_running_loop()
        with suppress(OSError, UnicodeError):
            found = await loop.getaddrinfo(self._home, None, type=socket.SOCK_STREAM)
            self._home_addresses = [str(address[0]) for *_, address in found]

    def _given_for(self, url: str) -> dict[str, str]:
        """Return the credentials that the caller gave, where a URL is in the homepage's domain."""
        stranger = defaults.is_foreign_host(url, self._home, self._homepage_url)
        return {} if stranger else self.client._credentials

    def _login_of(self, url: str) -> dict[str, str]:
        """Return what ``.netrc`` has for a host."""
        host = host_of(url)
        if host not in self._logins:
            login = get_netrc_auth(url) if self.client._trust_env else None
            self._logins[host] = _basic(*login) if login else None
        known = self._logins[host]
        return {"Authorization": known} if known else {}

    def _proxy_for(self, url: str) -> str | None:
        environment = get_environ_proxies(url) if self.client._trust_env else {}
        proxy: str | None = select_proxy(url, {**environment, **self.client._proxies})
        if not proxy:
            return None
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        if not defaults.is_web_url(proxy):
            raise InvalidSchema(f"not an HTTP(S) proxy: {urlsplit(proxy).scheme}")
        return proxy


_SCOPE: Final[ContextVar[AioCrawlScope | None]] = ContextVar("_SCOPE", default=None)
"""The crawl for which this task asks."""


def _web_url(url: str) -> str:
    """Return a URL as it is sent, if it is one of the web."""
    if not defaults.is_web_url(url):
        raise InvalidSchema(f"not an HTTP(S) URL: {url}")
    return defaults.prepared(url)


def _basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def _userinfo(url: str) -> dict[str, str]:
    user, password = get_auth_from_url(url)
    return {"Authorization": _basic(user, password)} if user or password else {}


def _is_same_place(url: str, target: str) -> bool:
    """Tell whether what is meant for one URL may be told to the other: same host, no less safe."""
    is_downgrade = url.startswith("https:") and not target.startswith("https:")
    return host_of(url) == host_of(target) and not is_downgrade
