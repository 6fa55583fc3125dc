"""What the client on requests keeps for one crawl, and how a request is made for it.

The client may be shared by any number of crawls and threads. A request finds its crawl in a context
variable that ``RequestsCrawlScope.get()`` sets for the time of the call, so that what a subclass of
the client does in ``get()`` still happens. A ``get()`` of the caller's own, outside of any crawl,
follows the rules of the crawl that began last, and is not cancelled with it.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

import requests
import urllib3.exceptions
from requests.utils import default_user_agent, get_auth_from_url, get_netrc_auth

from usp.exceptions import AddressRefusedError, CancelledFetchError, DeadlineError
from usp.objects.fetch_info import Validators
from usp.web_client._http import error_responses
from usp.web_client._http.address_guard import AddressRule, Guard
from usp.web_client._http.credentials import CREDENTIAL_HEADERS, Homepage
from usp.web_client._http.defaults import SUCCESS_STATUSES
from usp.web_client._http.first_response import FirstResponses, ResponseWait
from usp.web_client._http.signals import interruption
from usp.web_client._http.urls import is_web_url
from usp.web_client._requests.request_context import REQUEST_CONTEXT, RequestContext
from usp.web_client._requests.response import (
    RequestsWebClientErrorResponse,
    RequestsWebClientSuccessResponse,
    failure_response,
    is_not_modified,
    not_modified_response,
    status_response,
)
from usp.web_client._requests.response_hook import ResponseHook
from usp.web_client._requests.tracked_sockets import TrackedSockets
from usp.web_client.abstract_client import AbstractWebClientResponse, CrawlScope

if TYPE_CHECKING:
    from usp.web_client.requests_client import RequestsWebClient

__all__ = ["CrawlScopes", "RequestsCrawlScope"]

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
    ) -> None:
        super().__init__(client)
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
        context = RequestContext(self._guard, self._sockets, deadline, wait)
        token = REQUEST_CONTEXT.set(context)
        try:
            return self._response(url, context, validators)
        except _FAILURES as error:
            if interrupted := interruption(error):
                raise interrupted from None
            if self.is_cancelled:
                return failure_response(CancelledFetchError(error_responses.CANCELLED_MESSAGE))
            if wait.is_over:
                made = RequestsWebClientErrorResponse
                return error_responses.silent_response(made, wait.message)
            if context.deadline is not None and time.monotonic() >= context.deadline:
                return error_responses.deadline_response(RequestsWebClientErrorResponse)
            return failure_response(error)
        finally:
            wait.end()
            REQUEST_CONTEXT.reset(token)

    def _response(
        self, url: str, context: RequestContext, validators: Validators | None
    ) -> AbstractWebClientResponse:
        if not is_web_url(url):
            raise requests.exceptions.InvalidSchema(f"not an HTTP(S) URL: {url}")
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
            return error_responses.encoding_response(RequestsWebClientErrorResponse, encoding)
        return success

    def _send(
        self, url: str, context: RequestContext, validators: Validators | None
    ) -> requests.Response:
        client = self.client
        session: Any = client._session
        hook = ResponseHook(context, client._waiter)
        options: dict[str, Any] = {
            "timeout": client._timeout,
            "stream": True,
            "proxies": dict(client._proxies),  # requests adds those of the environment to it
            "verify": client._verify,
            **self._identity(url, context, validators),
        }
        if not client._has_requests_session:  # 1.8.1 passes these options and no others
            response: requests.Response = session.get(url, **options)
            if isinstance(response, requests.Response):
                hook(response)
            return response
        if client._verify is True:  # then the session decides, or REQUESTS_CA_BUNDLE
            options["verify"] = None
        hooks = session.hooks.get("response") or []
        options["hooks"] = {"response": [*([hooks] if callable(hooks) else hooks), hook]}
        response = session.get(url, **options)
        return response  # noqa: RET504 -- typed

    def _identity(
        self, url: str, context: RequestContext, validators: Validators | None
    ) -> dict[str, Any]:
        """Return the headers and the credentials of a request."""
        client = self.client
        session: Any = client._session
        headers: dict[str, str | None] = dict(client._headers)
        if agent := client._user_agent_for(_user_agent_of(session)):
            headers["User-Agent"] = agent
        headers |= validators.headers() if validators else {}
        if self._homepage.is_trusted(url):
            context.credentials = client._credentials
            headers |= client._credentials
            if "Authorization" in client._credentials and not any(get_auth_from_url(url)):
                return {"headers": headers, "auth": _keep_header}
            return {"headers": headers}
        if client._owns_session or not client._has_requests_session:
            return {"headers": headers}
        headers |= dict.fromkeys(CREDENTIAL_HEADERS)  # None removes those of the session
        own = get_netrc_auth(url) if session.trust_env else None
        return {"headers": headers, "auth": own or _keep_header}


def _user_agent_of(session: object) -> str | None:
    """Return the user agent that a session of the caller's sets, if it sets one."""
    headers = getattr(session, "headers", None)
    agent = headers.get("User-Agent") if isinstance(headers, Mapping) else None
    return str(agent) if agent and agent != default_user_agent() else None


def _keep_header(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Authenticate with the headers that are there: neither the session nor .netrc adds any."""
    return request


class CrawlScopes:
    """The scopes of one client."""

    def __init__(self, rule: AddressRule, is_public: Callable[[str], bool]) -> None:
        self._made_of = (rule, is_public)
        self._rules = Guard(rule, is_public)
        self._outside: RequestsCrawlScope | None = None
        self._all: WeakSet[RequestsCrawlScope] = WeakSet()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type["CrawlScopes"], tuple[AddressRule, Callable[[str], bool]]]:
        """Pickle the settings only: crawls stay here."""
        return type(self), self._made_of

    def begin(self, client: "RequestsWebClient", homepage_url: str) -> RequestsCrawlScope:
        """Return the scope of a new crawl."""
        homepage = Homepage.of(homepage_url)
        guard = Guard(*self._made_of)
        guard.start(homepage.host)
        scope = RequestsCrawlScope(client, homepage, guard, client._first_response_timeout)
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
            outside = self._outside or RequestsCrawlScope(client, Homepage(), self._rules)
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
