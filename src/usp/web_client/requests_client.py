"""The client on requests: what a crawl uses where the caller brings none.

Rules of this room: ``get()`` never raises on what the web did, and leaves the body to be read. The
client may be used from several threads; what it shares between them has a lock of its own.
"""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import requests
import urllib3.exceptions
from requests.utils import default_user_agent, get_netrc_auth
from urllib3.response import HTTPResponse

from usp._parse import decompress_all
from usp._validate import check_optional_instance
from usp._version import __version__
from usp.exceptions import AddressRefusedError, CancelledFetchError, DeadlineError
from usp.web_client._http import defaults as defaults
from usp.web_client._http import encodings as encodings
from usp.web_client._http import error_responses as error_responses
from usp.web_client._http import settings
from usp.web_client._http.address_guard import AddressRule, is_public
from usp.web_client._http.errors import is_transient, is_untrusted
from usp.web_client._requests.crawl_scope import CrawlScope, CrawlScopes
from usp.web_client._requests.response_hook import ResponseHook, drain
from usp.web_client._requests.session import OwnSession
from usp.web_client._requests.tracked_sockets import REQUEST_CONTEXT, RequestContext, TrackedSockets
from usp.web_client.abstract_client import (
    RETRYABLE_HTTP_STATUS_CODES,
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    RequestWaiter,
    WebClientErrorResponse,
)

__all__ = [
    "RETRYABLE_HTTP_STATUS_CODES",
    "RequestsWebClient",
    "RequestsWebClientErrorResponse",
    "RequestsWebClientSuccessResponse",
    "__version__",
]

_CHUNK: Final = 64 * 1024
_NO_RESPONSE: Final = (requests.exceptions.ConnectionError, requests.exceptions.Timeout)
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_FAILURES: Final = (
    OSError,  # also all of requests' own
    ValueError,  # URLs that can't be read, where requests lets them through
    urllib3.exceptions.HTTPError,
    AddressRefusedError,
    DeadlineError,
    CancelledFetchError,
)


class RequestsWebClientSuccessResponse(AbstractWebClientSuccessResponse):
    """A document that requests fetched; its body is read when it is asked for."""

    def __init__(
        self,
        requests_response: requests.Response,
        max_response_data_length: int | None = None,
        *,
        due: float | None = None,
        lines: TrackedSockets | None = None,
    ) -> None:
        """Wrap a response.

        :param due: when the body has to be there, by the monotonic clock.
        :param lines: what tells that the client was stopped.
        """
        self._response = requests_response
        self._max_length = max_response_data_length or sys.maxsize
        self._data: bytes | None = None
        self._due = due
        self._lines = lines or TrackedSockets()
        self._first = b""
        self._fault: Exception | None = None

    def status_code(self) -> int:
        """Return the HTTP status."""
        return int(self._response.status_code)

    def status_message(self) -> str:
        """Return the words after the status: the server's, or else the usual ones."""
        return defaults.phrase(self._response.status_code, self._response.reason)

    def header(self, case_insensitive_name: str) -> str | None:
        """Return a header's value, or None if it isn't there."""
        return self._response.headers.get(case_insensitive_name)

    def raw_data(self) -> bytes:
        """Return the body, up to the limit."""
        if self._data is None:
            wraps = sum(
                name in _PACKED for name in encodings.labels(self.header("Content-Encoding"))
            )
            self._data, _ = decompress_all(self.chunks(), self._max_length, wraps=wraps)
        return self._data

    def chunks(self) -> Iterator[bytes]:
        """Yield the body piece by piece as it came, up to the limit.

        What the server packed with gzip or zlib stays packed: the reader knows it by its first
        bytes, and reads what there is of it when the connection breaks. What came before a fault is
        yielded before the fault is raised.

        :raises DeadlineError: if the body has not come in time.
        :raises CancelledFetchError: if the client was stopped.
        """
        if self._data is not None:
            yield self._data
            return
        left = self._max_length
        unlabelled = encodings.Unlabelled(self.header("Content-Encoding"))
        for piece in self._pieces():
            for chunk in unlabelled.feed(piece):
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    self.close()
                    return

    def foreign_packing(self) -> str | None:
        """Return the encodings of the body, if it can't be undone; the response is closed then.

        Servers name packings that they don't use: how the body begins decides.
        """
        name = encodings.foreign(self.header("Content-Encoding"))
        raw = self._unread
        if name is None or raw is None or self._is_undone_by_urllib3:
            return None
        with ExitStack() as undo:
            undo.callback(self.close)
            try:
                self._first = self._read(raw)
            except (urllib3.exceptions.HTTPError, DeadlineError, CancelledFetchError) as error:
                self._fault = error  # for whoever reads
            if not self._first or encodings.is_readable(self._first):
                undo.pop_all()
                return None
        return name

    @property
    def _unread(self) -> HTTPResponse | None:
        """The body as it comes over its connection; None for a mock or a cache that has it."""
        raw = self._response.raw
        came = getattr(self._response, "_content", False)
        return raw if isinstance(raw, HTTPResponse) and not came else None

    @property
    def _is_undone_by_urllib3(self) -> bool:
        """Whether a session of the caller's asked for a encodings that only urllib3 can undo."""
        asked = self._response.request.headers.get("Accept-Encoding")
        name = encodings.foreign(self.header("Content-Encoding"))
        return name in HTTPResponse.CONTENT_DECODERS and name in encodings.labels(asked)

    def _pieces(self) -> Iterator[bytes]:
        raw = self._unread
        if raw is None:
            yield from self._response.iter_content(_CHUNK)
            return
        if self._fault is not None:
            raise self._fault
        # read1() hands over what has come; iter_content() loses it when the connection breaks,
        # and under a slow drip it never returns.
        while chunk := self._first or self._read(raw):
            self._first = b""
            yield chunk
            self._lines.check()
            self._check_time()
        self._lines.check()  # a socket that was shut looks like the end of the body

    def _read(self, raw: HTTPResponse) -> bytes:
        try:
            return raw.read1(_CHUNK, decode_content=self._is_undone_by_urllib3)
        except urllib3.exceptions.HTTPError:
            self._lines.check()
            self._check_time()
            raise

    def _check_time(self) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            raise DeadlineError(error_responses.DEADLINE_MESSAGE)

    def url(self) -> str:
        """Return the URL that answered, after redirects."""
        return str(self._response.url)

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that led on to others, in order."""
        return tuple(str(passed.url) for passed in self._response.history)

    def close(self) -> None:
        """Let go of the connection."""
        self._response.close()


class RequestsWebClientErrorResponse(WebClientErrorResponse):
    """No document came."""


class RequestsWebClient(AbstractWebClient):
    """Fetches with requests, through one session: its own, or the caller's, which it never alters.

    A session that sets a ``User-Agent`` of its own keeps it. A session of the caller's has its
    credentials kept from hosts outside the homepage's domain.

    The client may be used from several threads, with its own session or a plain one. A subclass, or
    a client with a session of another class, may say so of itself by setting ``thread_safe``.
    """

    _USER_AGENT: Final = defaults.USER_AGENT
    _is_public = staticmethod(is_public)

    def __init__(
        self,
        verify: bool | str | Path = True,
        wait: float | None = None,
        random_wait: bool = False,
        session: requests.Session | None = None,
        *,
        private_addresses: AddressRule = "auto",
    ) -> None:
        """Make a client.

        :param verify: False to accept any certificate, or the path of a CA bundle.
        :param wait: seconds between the starts of requests.
        :param random_wait: vary that by half, up and down.
        :param session: a session of the caller's, to be used as it is.
        :param private_addresses: whether hosts at private, loopback and other addresses that are
            not on the open internet may be asked: ``allow``, ``refuse``, or ``auto``, which refuses
            them in a crawl whose homepage is on a public address.
        """
        # A subclass that has a limit of its own is told ours, as 1.8.1 tells it.
        ours = RequestsWebClient.set_max_response_data_length
        self.streams = type(self).set_max_response_data_length is ours
        self._verify = settings.verify(verify)
        self._waiter = RequestWaiter(wait, random_wait)
        self._scopes = CrawlScopes(private_addresses, self._is_public)
        self._owns_session = check_optional_instance("session", session, requests.Session) is None
        self._session = session if session is not None else OwnSession()
        if type(self) is RequestsWebClient:
            self.thread_safe = type(self._session) in {OwnSession, requests.Session}
        self._timeout: settings.Timeout = defaults.TIMEOUT
        self._deadline: float | None = defaults.DEADLINE
        self._proxies: dict[str, str] = {}
        self._max_response_data_length: int | None = None

    def set_timeout(self, timeout: float | tuple[float | None, float | None] | None) -> None:
        """Set the seconds to wait, or (to connect, for bytes); None waits for ever."""
        self._timeout = settings.timeout(timeout)

    def set_document_deadline(self, seconds: float | None) -> None:
        """Set the seconds that a whole document may take, redirects included; None for no limit."""
        self._deadline = settings.limit("seconds", seconds)

    def set_proxies(self, proxies: Mapping[str, str | None] | None) -> None:
        """Set proxies by scheme, such as ``{"https": "http://user:pass@10.10.1.10:3128/"}``."""
        self._proxies = settings.proxies(proxies)

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set how many bytes of a body are read at most; None or 0 for no limit."""
        self._max_response_data_length = settings.length(max_response_data_length)

    def start_crawl(self, homepage_url: str) -> None:
        """Learn the homepage, for ``private_addresses`` and credentials, in this context."""
        self._scopes.begin(homepage_url)

    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; the body is left to be read."""
        url = settings.url(url)
        scope = self._scopes.current()
        try:
            scope.lines.wait(self._waiter.claim)
        except CancelledFetchError as error:
            return _failed(error)
        due = None if self._deadline is None else time.monotonic() + self._deadline
        context = RequestContext(scope.guard, scope.lines, due)
        token = REQUEST_CONTEXT.set(context)
        try:
            return self._fetch(url, scope, context)
        except _FAILURES as error:
            if context.lines.cut.is_set():
                return _failed(CancelledFetchError(error_responses.STOPPED))
            if context.due is not None and time.monotonic() >= context.due:
                return error_responses.deadline_response(RequestsWebClientErrorResponse)
            return _failed(error)
        finally:
            REQUEST_CONTEXT.reset(token)

    def _fetch(
        self, url: str, scope: CrawlScope, context: RequestContext
    ) -> AbstractWebClientResponse:
        if not defaults.is_web_url(url):
            raise requests.exceptions.InvalidSchema(f"not an HTTP(S) URL: {url}")
        response = self._ask(url, scope, ResponseHook(context, self._waiter))
        if response.status_code not in defaults.SUCCESS:
            return _refused(response)
        answer = RequestsWebClientSuccessResponse(
            response, self._max_response_data_length, due=context.due, lines=context.lines
        )
        foreign = answer.foreign_packing()
        return (
            error_responses.foreign(RequestsWebClientErrorResponse, foreign) if foreign else answer
        )

    def abort(self) -> bool:
        """End what is under way: in the context of a crawl, for that crawl; else, all of it.

        The sockets of the client's own session are shut at once. A thread that waits for bytes goes
        on within milliseconds; one that waits for a name or for a connection does so when it has
        got it. With a session of the caller's, bodies end after the piece that is being read.
        A crawl that was ended asks for nothing more; the client is of use as before.
        """
        ended = self._scopes.cut()
        return ended and self._owns_session and type(self).get is RequestsWebClient.get

    def close(self) -> None:
        """Close the connections of a session that is the client's own; leave the caller's open."""
        if self._owns_session:
            self._session.close()

    def _ask(self, url: str, scope: CrawlScope, hook: ResponseHook) -> requests.Response:
        session = self._session
        hooks = session.hooks.get("response") or []
        return session.get(
            url,
            timeout=self._timeout,
            stream=True,
            proxies=dict(self._proxies),  # requests adds those of the environment to it
            # What isn't said here is said by the session, or by REQUESTS_CA_BUNDLE.
            verify=None if self._verify is True else self._verify,
            hooks={"response": [*([hooks] if callable(hooks) else hooks), hook]},
            **self._identity(url, scope),
        )

    def _identity(self, url: str, scope: CrawlScope) -> dict[str, Any]:
        """Return who we say we are: to a stranger, without the credentials of the session."""
        session = self._session
        headers: dict[str, str | None] = {}
        if session.headers.get("User-Agent") in {None, default_user_agent()}:
            headers["User-Agent"] = self._USER_AGENT
        if self._owns_session or not scope.is_foreign_host(url):
            return {"headers": headers}
        headers |= dict.fromkeys(defaults.CREDENTIALS)
        own = get_netrc_auth(url) if session.trust_env else None
        return {"headers": headers, "auth": own or _no_auth}


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _refused(response: requests.Response) -> WebClientErrorResponse:
    drain(response)
    return error_responses.refusal(
        RequestsWebClientErrorResponse,
        response.status_code,
        response.reason,
        response.headers.get("Retry-After"),
    )


def _failed(error: Exception) -> WebClientErrorResponse:
    response = getattr(error, "response", None)
    if not isinstance(response, requests.Response):
        silent = isinstance(error, _NO_RESPONSE)
        return RequestsWebClientErrorResponse(
            str(error), is_transient(error), no_response=silent, untrusted=is_untrusted(error)
        )
    if isinstance(error, requests.exceptions.HTTPError):  # the doing of a hook of the caller's
        return _refused(response)
    response.close()
    return RequestsWebClientErrorResponse(
        str(error), is_transient(error), status_code=response.status_code
    )
