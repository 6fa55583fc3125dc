"""The client on requests: the default of every crawl outside asyncio.

``get()`` never raises on what a server does, and returns before the body is read. Several threads
may use one client; what they share has a lock. How a request is made is in ``_requests``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests

from usp._validate import argument_error, check_flags
from usp._version import __version__
from usp.web_client._http import defaults, settings
from usp.web_client._http.address_guard import AddressRule, is_public
from usp.web_client._http.credentials import split_headers
from usp.web_client._http.environment import Environment
from usp.web_client._http.proxies import check_socks_library, used_proxies
from usp.web_client._requests.crawl_scope import CrawlScopes, check_ca_bundle
from usp.web_client._requests.response import (
    RequestsWebClientErrorResponse,
    RequestsWebClientSuccessResponse,
)
from usp.web_client._requests.session import GuardedAdapters, OwnSession, guarded_view
from usp.web_client.abstract_client import (
    RETRYABLE_HTTP_STATUS_CODES,
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    CrawlScope,
    RequestWaiter,
    WebClientErrorResponse,
)

__all__ = [
    "RETRYABLE_HTTP_STATUS_CODES",
    "AbstractWebClient",
    "AbstractWebClientResponse",
    "AbstractWebClientSuccessResponse",
    "RequestWaiter",
    "RequestsWebClient",
    "RequestsWebClientErrorResponse",
    "RequestsWebClientSuccessResponse",
    "WebClientErrorResponse",
    "__version__",
]

# This is their public module, as in 1.8.1.
RequestsWebClientErrorResponse.__module__ = __name__
RequestsWebClientSuccessResponse.__module__ = __name__


class RequestsWebClient(AbstractWebClient):
    """Fetches with requests, through one session: its own, or the caller's, which it never changes.

    Several threads may use it, with its own session or a plain ``requests.Session``. For a subclass
    of the client, or of the session, that isn't known: set ``thread_safe`` if it holds.
    """

    # Programs for 1.8.1 replace this one, by assignment or in a class _RequestsWebClient.
    __USER_AGENT = defaults.USER_AGENT
    _is_public = staticmethod(is_public)

    def __init__(
        self,
        verify: bool | str | Path = True,
        wait: float | None = None,
        random_wait: bool = False,
        session: requests.Session | None = None,
        *,
        timeout: settings.GivenTimeout = defaults.TIMEOUT,
        first_response_timeout: float | None = defaults.FIRST_RESPONSE_TIMEOUT,
        document_deadline: float | None = defaults.DOCUMENT_DEADLINE,
        headers: Mapping[str, str] | None = None,
        user_agent: str | None = None,
        proxies: Mapping[str, str | None] | None = None,
        private_addresses: AddressRule = "auto",
        netrc: bool = True,
    ) -> None:
        """Make a client; nothing is opened yet.

        :param verify: False to accept any certificate, or the path of a CA bundle (file or folder).
        :param wait: seconds between the starts of two requests.
        :param random_wait: vary that by half, up and down.
        :param session: a session to use as it is. Its credentials go to the site of the homepage
            only. Its user agent is sent, if it sets one.
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
        :param private_addresses: whether to connect to private, loopback and other addresses that
            are not on the public internet (SSRF): ``allow``, ``refuse``, or ``auto``, which refuses
            them in a crawl whose homepage has a public address.
        :param netrc: whether to use the logins of ``.netrc``, each for its host. A session that
            ignores the environment (``trust_env``) uses none.
        """
        check_flags(netrc=netrc)
        # A subclass that has a limit of its own is told ours, as 1.8.1 tells it.
        ours = RequestsWebClient.set_max_response_data_length
        self.streams = type(self).set_max_response_data_length is ours
        self._verify = settings.verify(verify)
        self._waiter = RequestWaiter(wait, random_wait)
        self._scopes = CrawlScopes(private_addresses, self._is_public)
        self._owns_session = session is None
        self._session: Any = OwnSession() if session is None else _checked_session(session)
        self._adapters = GuardedAdapters()
        if type(self) is RequestsWebClient:
            self.thread_safe = type(self._session) in {OwnSession, requests.Session}
        self._timeout: settings.Timeout = settings.timeout(timeout)
        first = settings.limit("first_response_timeout", first_response_timeout)
        self._first_response_timeout = first
        self._document_deadline = settings.limit("document_deadline", document_deadline)
        self._headers, self._credentials = split_headers(settings.headers(headers))
        self._user_agent = settings.user_agent(user_agent)
        self._proxies: dict[str, str] = settings.proxies(proxies)
        self._netrc = netrc
        self._max_response_data_length: int | None = None

    def set_timeout(self, timeout: settings.GivenTimeout) -> None:
        """Set the seconds to wait, or (to connect, to wait for bytes); None for no limit."""
        self._timeout = settings.timeout(timeout)

    def set_document_deadline(self, seconds: float | None) -> None:
        """Set the seconds for a whole document, redirects included; None for no limit."""
        self._document_deadline = settings.limit("seconds", seconds)

    def set_proxies(self, proxies: Mapping[str, str | None] | None) -> None:
        """Set proxies by scheme, such as ``{"https": "http://user:pass@10.10.1.10:3128/"}``."""
        self._proxies = settings.proxies(proxies)

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set the maximum number of bytes read from a body; None or 0 for no limit."""
        self._max_response_data_length = settings.length(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; read the response or close it.

        A crawl calls this, too, so what a subclass does here happens for every request.
        """
        url = settings.url(url)
        scope, validators = self._scopes.current(self, url)
        return scope.fetch(url, validators)

    def for_crawl(self, homepage_url: str) -> CrawlScope:
        """Return the scope of a crawl, with an address guard and credentials for its homepage.

        :raises UsageError: if the CA bundle can't be loaded, or the proxy can't be one.
        :raises MissingExtraError: if the proxy needs a library that is not installed.
        """
        return self._scopes.begin(self, homepage_url)

    def check_settings(self) -> None:
        """Raise if the CA bundle can't be loaded, or a proxy needs a library that isn't there.

        :raises UsageError: if it can't.
        :raises MissingExtraError: if it isn't.
        """
        check_ca_bundle(self, Environment())
        check_socks_library(used_proxies(self._proxies))

    def abort(self) -> bool:
        """Cancel everything that the client has in flight; it can be used again afterwards.

        Crawls that were running make no more requests.
        """
        return self._scopes.cancel_all() and self._can_cancel_at_once

    def close(self) -> None:
        """Close the connections that the client made; a session of the caller's stays open."""
        self._adapters.close()
        if self._owns_session:
            self._session.close()

    @property
    def _has_requests_session(self) -> bool:
        """Whether the session is one of requests; else only its ``get()`` is used."""
        return issubclass(type(self._session), requests.Session)

    @property
    def _sending_session(self) -> Any:  # noqa: ANN401 -- any object with a get()
        """The session with the rules of the crawl, if it is one of requests."""
        return guarded_view(self._session) if self._has_requests_session else self._session

    @property
    def _can_cancel_at_once(self) -> bool:
        """Whether requests end within a moment when they are cancelled."""
        return self._owns_session and type(self).get is RequestsWebClient.get

    def _user_agent_for(self, session_agent: str | None) -> str | None:
        """Return the user agent to send; None to leave it to the headers or the session.

        :param session_agent: the one that the session sets, if it sets one.
        """
        if self._user_agent is not None:
            return self._user_agent
        if any(name.lower() == "user-agent" for name in self._headers):
            return None
        is_overridden = self.__USER_AGENT != defaults.USER_AGENT
        return self.__USER_AGENT if is_overridden or session_agent is None else None


def _checked_session(session: object) -> object:
    """Return an object with a ``get()``; 1.8.1 needs no more of a session."""
    if isinstance(session, type) or not callable(getattr(session, "get", None)):
        raise argument_error("session", "a requests.Session, or an object with get()", session)
    return session
