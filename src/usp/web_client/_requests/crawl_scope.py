"""What the client on requests keeps for one crawl, and how a request is made for it.

The client may be shared by any number of crawls and threads. A request finds its crawl in a context
variable that ``RequestsCrawlScope.get()`` sets for the time of the call, so that what a subclass of
the client does in ``get()`` still happens. A ``get()`` of the caller's own, outside of any crawl,
follows the rules of the crawl that began last, and is not cancelled with it.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

import requests
import urllib3.exceptions
from requests.auth import HTTPBasicAuth
from requests.utils import default_user_agent, select_proxy

from usp._display import redact_argument
from usp._forks import renewed_in_forks
from usp.exceptions import AddressRefusedError, CancelledFetchError, DeadlineError
from usp.objects.fetch_info import Validators
from usp.web_client._http import error_responses
from usp.web_client._http.address_guard import AddressRule, Guard
from usp.web_client._http.ca_bundle import named_bundle, trusting_context
from usp.web_client._http.credentials import OUTSIDE, Homepage, is_credential
from usp.web_client._http.defaults import SUCCESS_STATUSES
from usp.web_client._http.environment import Environment
from usp.web_client._http.errors import LIBRARY_BUGS
from usp.web_client._http.first_response import FirstResponses, ResponseWait
from usp.web_client._http.proxies import check_proxy, check_socks_library, check_usable
from usp.web_client._http.signals import interruption
from usp.web_client._http.urls import Login, is_web_url, split_login
from usp.web_client._requests.identity import RequestAuth, invalid_header
from usp.web_client._requests.request_context import REQUEST_CONTEXT, RequestContext
from usp.web_client._requests.response import (
    RequestsWebClientErrorResponse,
    RequestsWebClientSuccessResponse,
    encoding_response,
    failure_response,
    is_not_modified,
    malformed_response,
    not_modified_response,
    status_response,
)
from usp.web_client._requests.response_hook import ResponseHook
from usp.web_client._requests.tracked_sockets import TrackedSockets
from usp.web_client.abstract_client import AbstractWebClientResponse, CrawlScope

if TYPE_CHECKING:
    from usp.web_client.requests_client import RequestsWebClient

__all__ = ["CrawlScopes", "RequestsCrawlScope", "check_ca_bundle"]

_FAILURES: Final = (
    OSError,  # also all of requests' own
    ValueError,  # invalid URLs that requests lets through
    urllib3.exceptions.HTTPError,
    AddressRefusedError,
    DeadlineError,
    CancelledFetchError,
)


class RequestsCrawlScope(CrawlScope):
    """The client for one crawl: address guard, credentials and open sockets of that crawl."""

    client: "RequestsWebClient"

    def __init__(
        self,
        client: "RequestsWebClient",
        homepage: Homepage,
        guard: Guard,
        first_response_timeout: float | None = None,
        environment: Environment | None = None,
    ) -> None:
        """Make a scope.

        :param environment: that of the crawl; outside of one, each request reads it anew.
        """
        super().__init__(client)
        self._environment = environment
        self._first_responses = FirstResponses(first_response_timeout)
        self._homepage = homepage
        self._guard = guard
        self._sockets = TrackedSockets()

    def outside(self) -> "RequestsCrawlScope":
        """Return a scope with the same rules for requests outside of any crawl."""
        return RequestsCrawlScope(self.client, self._homepage, self._guard)

    @property
    def is_cancelled(self) -> bool:
        """Whether the crawl was cancelled: it makes no more requests."""
        return self._sockets.cancelled.is_set()

    def get(self, url: str, validators: Validators | None = None) -> AbstractWebClientResponse:
        """Fetch a URL for this crawl, with ``get()`` of the client."""
        token = _CURRENT.set(_Call(self, url, validators))
        try:
            return self.client.get(url)
        finally:
            _CURRENT.reset(token)

    def cancel(self) -> bool:
        """Shut down the sockets of this crawl; it makes no more requests.

        A thread that waits for bytes ends within milliseconds, one that waits for a name or for a
        connection as soon as it has it. With a session of the caller's, a body ends after the chunk
        that is being read.
        """
        return self._sockets.cancel() and self.client._can_cancel_at_once

    def fetch(self, url: str, validators: Validators | None) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; the body is not read yet."""
        client = self.client
        try:
            self._sockets.wait(client._waiter.claim)
        except CancelledFetchError as error:
            return failure_response(error)
        seconds = client._document_deadline
        deadline = None if seconds is None else time.monotonic() + seconds
        wait = ResponseWait(self._first_responses)
        context = RequestContext(
            self._guard,
            self._sockets,
            self._homepage,
            client._adapters,
            deadline,
            self._environment or Environment(),
            wait,
            client._proxies,
            netrc=client._netrc,
            trust_env=getattr(client._sending_session, "trust_env", True),
        )
        token = REQUEST_CONTEXT.set(context)
        try:
            return self._response(url, context, validators)
        except _FAILURES as error:
            if interrupted := interruption(error):
                raise interrupted from None
            return self._failed(error, url, context)
        except LIBRARY_BUGS:
            # requests itself fails over some proxies
            if malformed := self._proxy_error(url, context.environment):
                return failure_response(malformed)
            raise
        finally:
            wait.end()
            REQUEST_CONTEXT.reset(token)

    def _failed(
        self, error: Exception, url: str, context: RequestContext
    ) -> AbstractWebClientResponse:
        """Return the error response of a request that failed."""
        made = RequestsWebClientErrorResponse
        if self.is_cancelled:
            return failure_response(CancelledFetchError(error_responses.CANCELLED_MESSAGE))
        if context.wait.is_over:
            return error_responses.silent_response(made, context.wait.message)
        if context.deadline is not None and time.monotonic() >= context.deadline:
            return error_responses.deadline_response(made)
        if isinstance(error, requests.exceptions.InvalidHeader):
            return failure_response(malformed_response(error) or invalid_header())
        return failure_response(self._proxy_error(url, context.environment) or error)

    def _response(
        self, url: str, context: RequestContext, validators: Validators | None
    ) -> AbstractWebClientResponse:
        if not is_web_url(url):
            raise requests.exceptions.InvalidSchema(f"not an HTTP(S) URL: {redact_argument(url)}")
        context.wait.start(url)
        response = self._send(url, context, validators)
        if is_not_modified(response, validators):
            return not_modified_response(response)
        if response.status_code not in SUCCESS_STATUSES:
            return status_response(response)
        success = RequestsWebClientSuccessResponse(
            response,
            self.client._max_response_data_length,
            deadline=context.deadline,
            _sockets=self._sockets,
        )
        if encoding := success.undecodable():
            return encoding_response(response, encoding)
        return success

    def _send(
        self, url: str, context: RequestContext, validators: Validators | None
    ) -> requests.Response:
        client = self.client
        session: Any = client._sending_session
        hook = ResponseHook(context, client._waiter)
        options: dict[str, Any] = {
            "timeout": client._timeout,
            "stream": True,
            "proxies": dict(client._proxies),  # requests adds those of the environment to it
            "verify": client._verify,
        }
        if not client._has_requests_session:  # 1.8.1 passes these options and no others
            headers = self._headers(url, context, validators)
            response: requests.Response = session.get(url, headers=headers, **options)
            if isinstance(response, requests.Response):
                hook.check_address(response)
                hook(response)
            return response
        bare, login = split_login(url)
        options["headers"] = self._headers(bare, context, validators)
        options["auth"] = self._auth(bare, login, session, context)
        if client._verify is True:  # then the session decides, or REQUESTS_CA_BUNDLE
            options["verify"] = None
        hooks = session.hooks.get("response") or []
        theirs = [hooks] if callable(hooks) else hooks
        # The address is checked first: a hook of the caller's may read the response.
        options["hooks"] = {"response": [hook.check_address, *theirs, hook]}
        response = session.get(bare, **options)
        return response  # noqa: RET504 -- typed

    def _proxy_error(self, url: str, environment: Environment) -> Exception | None:
        """Return the error for a malformed proxy; that of requests may quote its password."""
        if not self.client._has_requests_session or not is_web_url(url):
            return None
        try:
            if proxy := _proxy_for(self.client, url, environment):
                check_proxy(proxy)
        except requests.exceptions.InvalidProxyURL as error:
            return error
        except ValueError:  # the URL itself is malformed
            pass
        return None

    def _headers(
        self, url: str, context: RequestContext, validators: Validators | None
    ) -> dict[str, str | None]:
        """Return the headers of a request; None removes one of the session's."""
        client = self.client
        headers: dict[str, str | None] = dict(client._headers)
        if agent := client._user_agent_for(_user_agent_of(client._session)):
            headers["User-Agent"] = agent
        headers |= validators.headers() if validators else {}
        if self._homepage.is_trusted(url):
            context.credentials = client._credentials
            headers |= client._credentials
        elif client._has_requests_session:
            headers |= dict.fromkeys(_credentials_of(client._session))
        return headers

    def _auth(
        self,
        url: str,
        login: Login | None,
        session: Any,  # noqa: ANN401 -- any session
        context: RequestContext,
    ) -> RequestAuth:
        """Return the credentials of a request: those of its URL go before all others."""
        # Its characters are those that its URL encodes, in UTF-8; requests would send Latin-1.
        auth: Any = HTTPBasicAuth(*(part.encode() for part in login)) if login else None
        if auth is None and self._homepage.is_trusted(url):
            if "Authorization" in self.client._credentials:
                return RequestAuth(None, self._homepage)
            auth = session.auth
        return RequestAuth(auth or context.netrc_login(url), self._homepage)


def _user_agent_of(session: object) -> str | None:
    """Return the user agent that a session of the caller's sets, if it sets one."""
    headers = getattr(session, "headers", None)
    agent = headers.get("User-Agent") if isinstance(headers, Mapping) else None
    return str(agent) if agent and agent != default_user_agent() else None


def _credentials_of(session: object) -> list[str]:
    """Return the names of the headers for credentials that a session of the caller's sets."""
    headers = getattr(session, "headers", None)
    return [name for name in headers if is_credential(name)] if isinstance(headers, Mapping) else []


def check_ca_bundle(client: "RequestsWebClient", environment: Environment) -> None:
    """Raise if the CA bundle that requests will use can't be loaded; certifi's is not looked at."""
    session: Any = client._session
    trusts_env = client._has_requests_session and session.trust_env
    bundle = named_bundle(client._verify, environment if trusts_env else None)
    if bundle is None and client._verify is True:  # then the session decides
        bundle = named_bundle(getattr(session, "verify", None), None)
    if bundle is not None:
        trusting_context(bundle)


def _proxy_for(client: "RequestsWebClient", url: str, environment: Environment) -> str | None:
    """Return the proxy that a session of requests uses for a URL."""
    session: Any = client._session
    outer = environment.proxies_for(url) if session.trust_env else {}
    proxy: str | None = select_proxy(url, {**session.proxies, **outer, **client._proxies})
    return proxy


def check_proxy_of_site(client: "RequestsWebClient", url: str, environment: Environment) -> None:
    """Raise if the site is behind what can't be a proxy, or needs a library which isn't there."""
    proxy = None
    if client._has_requests_session:
        with suppress(ValueError):  # the URL itself is malformed
            proxy = _proxy_for(client, url, environment)
    check_usable(proxy, url)
    check_socks_library([proxy])


class CrawlScopes:
    """The scopes of one client."""

    def __init__(self, rule: AddressRule, is_public: Callable[[str], bool]) -> None:
        self._made_of = (rule, is_public)
        self._rules = Guard(rule, is_public)
        self._outside: RequestsCrawlScope | None = None
        self._all: WeakSet[RequestsCrawlScope] = WeakSet()
        self._lock = renewed_in_forks(threading.Lock())

    def __reduce__(self) -> tuple[type["CrawlScopes"], tuple[AddressRule, Callable[[str], bool]]]:
        """Pickle the settings only: crawls stay here."""
        return type(self), self._made_of

    def begin(self, client: "RequestsWebClient", homepage_url: str) -> RequestsCrawlScope:
        """Return the scope of a new crawl.

        :raises UsageError: if its CA bundle can't be loaded, or its proxy can't be used.
        """
        homepage = Homepage.of(homepage_url)
        guard = Guard(*self._made_of)
        guard.start(homepage.host)
        first_response_timeout, environment = client._first_response_timeout, Environment()
        if homepage_url:  # a crawl of a file may do without any request
            check_ca_bundle(client, environment)
            check_proxy_of_site(client, homepage_url, environment)
        scope = RequestsCrawlScope(client, homepage, guard, first_response_timeout, environment)
        with self._lock:
            self._all.add(scope)
            self._set_outside(scope)
        return scope

    def current(
        self, client: "RequestsWebClient", url: str
    ) -> tuple[RequestsCrawlScope, Validators | None]:
        """Return the scope of the current request, and the validators for its URL."""
        call = _CURRENT.get()
        if call is not None and call.scope.client is client:
            # Validators belong to one document: a subclass may fetch others in its get().
            return call.scope, call.validators if call.url == url else None
        with self._lock:
            outside = self._outside or RequestsCrawlScope(client, OUTSIDE, self._rules)
            if outside is not self._outside or outside.is_cancelled:
                outside = self._set_outside(outside)
            return outside, None

    def _set_outside(self, model: RequestsCrawlScope) -> RequestsCrawlScope:
        """Have requests outside of any crawl follow the rules of a scope."""
        self._outside = model.outside()
        self._all.add(self._outside)
        return self._outside

    def cancel_all(self) -> bool:
        """Cancel all scopes.

        :return: whether that ends everything in flight in a moment.
        """
        with self._lock:
            ended = [scope.cancel() for scope in self._all]
        return all(ended)


@dataclass(frozen=True, slots=True)
class _Call:
    """A ``get()`` of a scope, for the time that it takes."""

    scope: RequestsCrawlScope
    url: str
    validators: Validators | None


_CURRENT: Final[ContextVar[_Call | None]] = ContextVar("_CURRENT", default=None)
