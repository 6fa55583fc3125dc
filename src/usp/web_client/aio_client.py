"""The client on aiohttp: the default of every crawl in asyncio.

``get()`` never raises on what a server does, and returns before the body is read. One client serves
many crawls at once: what belongs to one crawl is in its scope (``_aiohttp.crawl_scope``), and what
they share is here.
"""

import asyncio
import warnings
from collections.abc import Mapping
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver

from usp._validate import check_flags, check_int, check_optional_instance
from usp.exceptions import SitemapException
from usp.web_client._aiohttp.connector import Connector, Verify, tls_context
from usp.web_client._aiohttp.crawl_scope import AiohttpCrawlScope, current_scope
from usp.web_client._aiohttp.resolver import CachingResolver
from usp.web_client._aiohttp.response import AioWebClientErrorResponse, AioWebClientSuccessResponse
from usp.web_client._aiohttp.slots import RequestSlots
from usp.web_client._http import defaults, encodings, settings
from usp.web_client._http.address_guard import AddressRule, Guard, is_public
from usp.web_client._http.credentials import split_headers
from usp.web_client._http.environment import Environment
from usp.web_client._http.pacing import RequestPacing
from usp.web_client._http.proxies import ANY_SITE, check_usable, reject_socks, used_proxies
from usp.web_client.abstract_aio_client import AbstractAioWebClient, AioCrawlScope
from usp.web_client.abstract_client import AbstractWebClientResponse, RequestWaiter

__all__ = [
    "AioWebClient",
    "AioWebClientErrorResponse",
    "AioWebClientSuccessResponse",
    "CachingResolver",
]

# This is their public module.
AioWebClientErrorResponse.__module__ = __name__
AioWebClientSuccessResponse.__module__ = __name__
CachingResolver.__module__ = __name__

_HEADERS: Final = {
    "User-Agent": defaults.USER_AGENT,
    "Accept": "*/*",
    "Accept-Encoding": encodings.ACCEPTED,
}


class AioWebClient(AbstractAioWebClient):
    """Fetches with aiohttp, for any number of crawls at once.

    A client belongs to the event loop in which it is first used, and has to be closed in it:
    ``async with AioWebClient() as client``.

    :param concurrency: the number of requests in flight, over all crawls.
    :param verify: False to accept any certificate, the path of a CA bundle (file or folder), or
        an ``ssl.SSLContext``.
    :param wait: seconds between the starts of two requests of one crawl, and of two requests to
        one host, over all crawls.
    :param random_wait: vary that by half, up and down.
    :param timeout: seconds to wait, or (to connect, to wait for bytes); None for no limit.
    :param first_response_timeout: seconds that a host has for its first response in a crawl,
        over all attempts; None for no limit.
    :param document_deadline: seconds for a whole document, redirects included; None for no
        limit.
    :param headers: headers to send in addition to, or instead of, the usual ones.
        Those for credentials, such as ``X-Api-Key``, go to the site of the homepage only.
    :param user_agent: the ``User-Agent`` header.
    :param proxies: proxies by scheme, such as ``{"https": "http://user:pass@10.10.1.10:3128/"}``;
        they take precedence over those of the environment.
    :param trust_env: whether to use the proxies, the CA bundle and the ``.netrc`` that the
        environment names.
    :param private_addresses: whether to connect to private, loopback and other addresses that
        are not on the public internet (SSRF): ``allow``, ``refuse``, or ``auto``, which refuses
        them in a crawl whose homepage has a public address.
    :param netrc: whether to use the logins of ``.netrc``, if ``trust_env`` is set.
    :param per_domain: the number of requests in flight to one registered domain, over all
        crawls; None for no limit.
    :param per_address: the number of requests in flight to one IP address, over all crawls;
        None for no limit. A host with several counts as one of them.
    :param resolver: what looks up the addresses of hosts, such as a ``CachingResolver``; the
        caller closes it. By default, that of aiohttp.
    """

    _is_public = staticmethod(is_public)
    _connector: Connector | None = None

    def __init__(
        self,
        *,
        concurrency: int = 100,
        verify: Verify = True,
        wait: float | None = None,
        random_wait: bool = False,
        timeout: settings.GivenTimeout = defaults.TIMEOUT,
        first_response_timeout: float | None = defaults.FIRST_RESPONSE_TIMEOUT,
        document_deadline: float | None = defaults.DOCUMENT_DEADLINE,
        headers: Mapping[str, str] | None = None,
        user_agent: str | None = None,
        proxies: Mapping[str, str | None] | None = None,
        trust_env: bool = True,
        private_addresses: AddressRule = "auto",
        netrc: bool = True,
        per_domain: int | None = None,
        per_address: int | None = None,
        resolver: AbstractResolver | None = None,
    ) -> None:
        """Make a client; nothing is opened yet."""
        Guard(private_addresses)  # raises if it is not a rule
        check_flags(trust_env=trust_env, netrc=netrc)
        self._concurrency = check_int("concurrency", concurrency, 1)
        self._tls = tls_context(settings.verify_or_context(verify), trust_env=trust_env)
        self._pacing = RequestPacing(RequestWaiter(wait, random_wait))
        self._timeout = _timeout(timeout)
        first = settings.limit("first_response_timeout", first_response_timeout)
        self._first_response_timeout = first
        self._document_deadline = settings.limit("document_deadline", document_deadline)
        given, self._credentials = split_headers(settings.headers(headers))
        self._headers = _with_usual_headers(given, settings.user_agent(user_agent))
        self._proxies = settings.proxies(proxies)
        reject_socks(used_proxies(self._proxies))
        self._trust_env = trust_env
        self._netrc = netrc and trust_env
        self._private_addresses: AddressRule = private_addresses
        self._per_domain = _optional_count("per_domain", per_domain)
        self._per_address = _optional_count("per_address", per_address)
        self._resolver = check_optional_instance("resolver", resolver, AbstractResolver)
        self._outside: AiohttpCrawlScope | None = None
        self._closed = False

    async def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; read the response or close it.

        A crawl calls this, too, so what a subclass does here happens for every request.
        """
        url = settings.url(url)
        connector = self._opened()
        scope, validators = current_scope(self, url)
        if scope is None:  # outside of any crawl
            scope = self._outside = self._outside or AiohttpCrawlScope(self, connector, None)
        return await scope.fetch(url, validators)

    def for_crawl(self, homepage_url: str) -> AioCrawlScope:
        """Return the scope of a crawl, with cookies, an address guard and credentials of its own.

        :raises SitemapException: if the client is closed, or was used in another event loop.
        :raises UsageError: if the homepage is behind a SOCKS proxy, or what can't be a proxy.
        """
        return AiohttpCrawlScope(self, self._opened(), homepage_url)

    def check_settings(self) -> None:
        """Raise if the environment has proxies with which most crawls would fail.

        One that is not used, such as that for all schemes beside those for http and https, is not
        looked at.

        :raises UsageError: if a proxy is SOCKS, which aiohttp doesn't know, or can't be one.
        """
        if self._trust_env:
            outer = Environment().proxies_for(ANY_SITE[0])
            used = used_proxies({**outer, **self._proxies})
            for proxy, url in zip(used, ANY_SITE, strict=True):
                check_usable(proxy, url)
            reject_socks(used)

    async def close(self) -> None:
        """Close all connections; the client can't be used any more."""
        self._closed = True
        if self._outside is not None:
            await self._outside.close()
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
            self._connector = connector = Connector(self._tls, self._resolver)
            self._slots = RequestSlots(
                self._concurrency, self._per_domain, self._per_address, connector.addresses
            )
            self._loop = loop
        if self._loop is not loop:
            raise SitemapException(
                "The client was used in another event loop; make one in each, and close it there."
            )
        return self._connector


def _optional_count(name: str, given: int | None) -> int | None:
    return None if given is None else check_int(name, given, 1)


def _timeout(given: settings.GivenTimeout) -> aiohttp.ClientTimeout:
    connect, read = settings.timeout(given)
    return aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read)


def _with_usual_headers(given: Mapping[str, str], user_agent: str | None) -> dict[str, str]:
    """Return the caller's headers with the usual ones that they don't replace."""
    agent = {} if user_agent is None else {"User-Agent": user_agent}
    given = {
        name: value for name, value in given.items() if not agent or name.lower() != "user-agent"
    }
    names = {name.lower() for name in {**given, **agent}}
    usual = {name: value for name, value in _HEADERS.items() if name.lower() not in names}
    return {**usual, **given, **agent}
