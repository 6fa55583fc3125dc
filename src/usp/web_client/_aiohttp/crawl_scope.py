"""What the client on aiohttp keeps for one crawl, and how a request is made for it.

Any number of crawls may share the client. A request finds its crawl in a context variable that
``AiohttpCrawlScope.get()`` sets for the time of the call, so that what a subclass of the client
does in ``get()`` still happens.
"""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import aiohttp
from requests.exceptions import InvalidSchema
from requests.utils import select_proxy
from yarl import URL

from usp._display import redact_argument
from usp.exceptions import AddressRefusedError, DeadlineError
from usp.objects.fetch_info import Validators
from usp.web_client._aiohttp.connector import AIO_REQUEST_CONTEXT, AioRequestContext, Connector
from usp.web_client._aiohttp.cookie_jar import CrawlCookieJar
from usp.web_client._aiohttp.head import header_bytes, received_headers, sent_conditions
from usp.web_client._aiohttp.response import (
    AioWebClientErrorResponse,
    AioWebClientSuccessResponse,
    EndlessRedirects,
    drain,
    failure_response,
    has_begun,
    not_modified_response,
    status_response,
)
from usp.web_client._aiohttp.slots import Release
from usp.web_client._aiohttp.transcript import add_to_transcript
from usp.web_client._http import error_responses
from usp.web_client._http.address_guard import Guard
from usp.web_client._http.credentials import (
    OUTSIDE,
    Homepage,
    basic_auth,
    is_same_server,
)
from usp.web_client._http.defaults import MAX_HEADER_LINE, MAX_REDIRECTS, SUCCESS_STATUSES
from usp.web_client._http.environment import Environment
from usp.web_client._http.errors import LIBRARY_BUGS
from usp.web_client._http.first_response import FirstResponses, ResponseWait
from usp.web_client._http.proxies import check_proxy, check_usable, proxy_url, reject_socks
from usp.web_client._http.urls import (
    Login,
    host_of,
    is_web_url,
    location_text,
    prepare_url,
    split_login,
)
from usp.web_client.abstract_aio_client import AioCrawlScope
from usp.web_client.abstract_client import AbstractWebClientResponse, WebClientErrorResponse

if TYPE_CHECKING:
    from usp.web_client.aio_client import AioWebClient

__all__ = ["AiohttpCrawlScope", "current_scope"]

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NO_HEAD: Final = frozenset({HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED})
_FAILURES: Final = (
    aiohttp.ClientError,
    OSError,  # also what requests raises
    ValueError,  # invalid URLs
    AddressRefusedError,
    DeadlineError,
)
_LOST: Final = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


@dataclass(frozen=True, slots=True)
class _Hops:
    """What all requests on the way through redirects share."""

    method: str
    deadline: asyncio.Timeout
    wait: ResponseWait


@dataclass(frozen=True, slots=True)
class _LastHop:
    """The response to a request after all redirects."""

    response: aiohttp.ClientResponse
    urls: tuple[str, ...]
    """The URLs that were requested, in order."""
    is_conditional: bool
    """Whether validators were sent with the last one."""


class AiohttpCrawlScope(AioCrawlScope):
    """The client for one crawl: address guard, credentials and cookies of that crawl."""

    client: "AioWebClient"

    def __init__(
        self, client: "AioWebClient", connector: Connector, homepage_url: str | None
    ) -> None:
        super().__init__(client)
        self._connector = connector
        self._homepage = OUTSIDE if homepage_url is None else Homepage.of(homepage_url)
        self._home_addresses: list[str] = []
        self._guard = Guard(
            client._private_addresses, client._is_public, lambda _: self._home_addresses
        )
        in_crawl = homepage_url is not None
        self._first_responses = FirstResponses(client._first_response_timeout if in_crawl else None)
        if in_crawl:
            self._guard.start(self._homepage.host)
        # Outside of a crawl, each request reads it anew.
        self._crawl_environment = Environment() if in_crawl else None
        if homepage_url:
            self._check_proxy(homepage_url)
        self._session = aiohttp.ClientSession(
            connector=connector,
            connector_owner=False,
            headers=client._headers,
            cookie_jar=CrawlCookieJar(self._homepage),
            auto_decompress=False,
            timeout=client._timeout,
            max_line_size=MAX_HEADER_LINE,
            max_field_size=MAX_HEADER_LINE,
        )
        # The crawl decides on retries, and ``_request()``; aiohttp would repeat any request.
        self._session._retry_connection = False

    async def close(self) -> None:
        """Release what belongs to the crawl, and close the connections that only it used."""
        self._session.detach()
        self._connector.leave(self)
        self.client._pacing.forget(self)

    async def get(
        self, url: str, validators: Validators | None = None
    ) -> AbstractWebClientResponse:
        """Fetch a URL for this crawl, with ``get()`` of the client."""
        token = _CURRENT.set(_AioCall(self, url, validators))
        try:
            return await self.client.get(url)
        finally:
            _CURRENT.reset(token)

    async def head(self, url: str) -> AbstractWebClientResponse:
        """Request only the head of a URL; with GET, if the server doesn't know HEAD."""
        response = await self.fetch(url, None, "HEAD")
        if isinstance(response, WebClientErrorResponse) and response.status_code() in _NO_HEAD:
            return await self.fetch(url, None)
        return response

    async def fetch(
        self, url: str, validators: Validators | None, method: str = "GET"
    ) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; the body is not read yet."""
        try:
            url, login = _sent_url(url)
        except _FAILURES as error:
            return failure_response(error)
        release = await self._take_slot(url)
        with ExitStack() as undo:
            undo.callback(release)
            seconds = self.client._document_deadline
            due = None if seconds is None else asyncio.get_running_loop().time() + seconds
            deadline = asyncio.timeout_at(due)
            wait = ResponseWait(self._first_responses)
            undo.callback(wait.end)
            try:
                async with deadline:
                    hops = _Hops(method, deadline, wait)
                    last = await self._follow(url, login, validators, hops)
            except _FAILURES as error:
                return _failed(error, deadline, wait)
            if last.response.status not in SUCCESS_STATUSES:
                return await _without_document(last)
            undo.pop_all()
        success = AioWebClientSuccessResponse(last.response, last.urls, deadline.when(), release)
        if encoding := await success.undecodable():
            return error_responses.encoding_response(
                AioWebClientErrorResponse,
                encoding,
                last.response.status,
                received_headers(last.response),
                last.urls[:-1],
            )
        return success

    async def _take_slot(self, url: str) -> Release:
        """Wait until a request may start: its interval has passed, and a slot is free.

        A request that waits for its host holds no slot: one that waits for a slot may be due
        before it at that host, and one on its way through redirects has a slot already.
        """
        host, is_direct = host_of(url), self._is_direct(url)
        release = await self.client._slots.acquire(host, is_direct=is_direct)
        while seconds := self._seconds_to_wait(host):
            release()
            await asyncio.sleep(seconds)
            release = await self.client._slots.acquire(host, is_direct=is_direct)
        self._start(host)
        return release

    def _is_direct(self, url: str) -> bool:
        """Tell whether a request connects to the host itself; what is wrong is told by that."""
        with suppress(*_FAILURES):
            return self._proxy_for(url) is None
        return False

    async def _wait_for_hop(self, host: str, deadline: asyncio.Timeout) -> None:
        """Wait until a redirect may be followed; the deadline is extended by that."""
        while seconds := self._seconds_to_wait(host):
            due = deadline.when()
            deadline.reschedule(None if due is None else due + seconds)
            await asyncio.sleep(seconds)
        self._start(host)

    def _seconds_to_wait(self, host: str) -> float:
        now = asyncio.get_running_loop().time()
        return self.client._pacing.seconds(now, self, host)

    def _start(self, host: str) -> None:
        self.client._pacing.start(asyncio.get_running_loop().time(), self, host)

    async def _follow(
        self,
        url: str,
        login: Login | None,
        validators: Validators | None,
        hops: _Hops,
    ) -> _LastHop:
        """Request a URL and follow its redirects.

        Credentials stay on their server, and validators on their host.
        """
        urls = [url]
        credentials = {**self._netrc_auth(url), **self._given_for(url)}
        of_url = _basic(login)
        conditions = sent_conditions(validators.headers()) if validators else {}
        for _ in range(MAX_REDIRECTS + 1):
            hops.wait.start(url)
            headers = {**credentials, **of_url, **conditions}
            async with asyncio.timeout(hops.wait.seconds):
                response = await self._request(hops.method, url, headers)
            hops.wait.end(responded=True)
            add_to_transcript(response, url)
            location = response.headers.get("Location")
            if response.status not in _REDIRECTS or not location:
                return _LastHop(response, tuple(urls), bool(conditions))
            await drain(response)
            location = location_text(header_bytes(location))
            target, login = _sent_url(urljoin(url, location))
            if not is_same_server(url, target):
                credentials, of_url = self._netrc_auth(target, is_redirect=True), {}
            of_url = _basic(login) or of_url
            if host_of(url) != host_of(target):
                conditions = {}
            url = target
            urls.append(url)
            await self._wait_for_hop(host_of(url), hops.deadline)
        raise EndlessRedirects(urls[:MAX_REDIRECTS])

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str]
    ) -> aiohttp.ClientResponse:
        host = host_of(url)
        is_home = host == self._homepage.host
        if not self._guard.decided and not is_home:
            await self._look_up_homepage()
        context = AioRequestContext(self, self._guard, host, is_home)
        try:
            return await self._send(method, url, headers, context)
        except _LOST as error:
            # A kept connection may be dead without a fault of the server: it is replaced once.
            if not context.is_reused or has_begun(error):
                raise
        return await self._send(method, url, headers, context)

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], context: AioRequestContext
    ) -> aiohttp.ClientResponse:
        proxy = self._proxy_for(url)
        sent_url = URL(url, encoded=True)
        token = AIO_REQUEST_CONTEXT.set(context)
        try:
            return await self._session.request(
                method, sent_url, headers=headers, allow_redirects=False, proxy=proxy
            )
        except LIBRARY_BUGS as error:
            raise aiohttp.ClientError(f"{type(error).__name__}: {error}") from error
        finally:
            AIO_REQUEST_CONTEXT.reset(token)

    async def _look_up_homepage(self) -> None:
        """Look up the homepage for the guard, which can't wait for it."""
        if self._homepage.host is None:
            return
        with suppress(OSError, UnicodeError):
            self._home_addresses = await self._connector.addresses(self._homepage.host)

    def _given_for(self, url: str) -> dict[str, str]:
        """Return the caller's credentials for a URL."""
        return self.client._credentials if self._homepage.is_trusted(url) else {}

    def _netrc_auth(self, url: str, *, is_redirect: bool = False) -> dict[str, str]:
        """Return the credentials that ``.netrc`` has for a host, if they may be sent there."""
        if not self.client._netrc:
            return {}
        login = self._environment.login_for(url, self._homepage, is_redirect=is_redirect)
        return _basic(login)

    @property
    def _environment(self) -> Environment:
        return self._crawl_environment or Environment()

    def _check_proxy(self, homepage_url: str) -> None:
        proxy = None
        with suppress(*_FAILURES):  # those of one request, which tells them
            proxy = self._selected_proxy(homepage_url)
        check_usable(proxy, homepage_url)
        reject_socks([proxy])

    def _selected_proxy(self, url: str) -> str | None:
        environment = self._environment.proxies_for(url) if self.client._trust_env else {}
        if not environment and not self.client._proxies:
            return None
        proxy: str | None = select_proxy(url, {**environment, **self.client._proxies})
        return proxy

    def _proxy_for(self, url: str) -> str | None:
        proxy = self._selected_proxy(url)
        if not proxy:
            return None
        check_proxy(proxy)
        proxy = proxy_url(proxy)
        if not is_web_url(proxy):
            raise InvalidSchema(f"not an HTTP(S) proxy: {urlsplit(proxy).scheme}")
        return proxy


def _failed(
    error: Exception, deadline: asyncio.Timeout, wait: ResponseWait
) -> WebClientErrorResponse:
    """Return the response for a request that failed, or took too long."""
    if wait.is_over:
        return error_responses.silent_response(AioWebClientErrorResponse, wait.message)
    if deadline.expired():
        return error_responses.deadline_response(AioWebClientErrorResponse)
    return failure_response(error)


async def _without_document(last: _LastHop) -> AbstractWebClientResponse:
    """Return the response for a status that is not a success: not modified, or an error."""
    if last.is_conditional and last.response.status == HTTPStatus.NOT_MODIFIED:
        return await not_modified_response(last.response, last.urls)
    return await status_response(last.response, last.urls)


@dataclass(frozen=True, slots=True)
class _AioCall:
    """A ``get()`` of a scope, for the time that it takes."""

    scope: AiohttpCrawlScope
    url: str
    validators: Validators | None


_CURRENT: Final[ContextVar[_AioCall | None]] = ContextVar("_CURRENT", default=None)


def current_scope(
    client: "AioWebClient", url: str
) -> tuple[AiohttpCrawlScope | None, Validators | None]:
    """Return the scope of the current request, if it has one, and the validators for its URL."""
    call = _CURRENT.get()
    if call is None or call.scope.client is not client:
        return None, None
    # Validators belong to one document: a subclass may fetch others in its get().
    return call.scope, call.validators if call.url == url else None


def _sent_url(url: str) -> tuple[str, Login | None]:
    """Return a URL as it is sent, if it is an HTTP(S) one, and its user and password."""
    if not is_web_url(url):
        raise InvalidSchema(f"not an HTTP(S) URL: {redact_argument(url)}")
    bare, login = split_login(url)
    return prepare_url(bare), login


def _basic(login: Login | None) -> dict[str, str]:
    return {"Authorization": basic_auth(*login)} if login else {}
