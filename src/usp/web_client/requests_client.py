"""The client on requests: what a crawl uses where the caller brings none.

Rules of this room: ``get()`` never raises on what the web did, and leaves the body to be read. The
client may be used from several threads; what it shares between them has a lock of its own.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import requests
import urllib3.exceptions
from requests.utils import default_user_agent, get_netrc_auth
from urllib3.response import HTTPResponse

from usp._parse.findings import Findings
from usp._parse.unpack import unpack
from usp._version import __version__
from usp.web_client import manners
from usp.web_client.abstract_client import (
    RETRYABLE_HTTP_STATUS_CODES,
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    RequestWaiter,
    WebClientErrorResponse,
)
from usp.web_client.addresses import AddressRefusedError, AddressRule, Guard, is_public
from usp.web_client.arrivals import Arrival, drain
from usp.web_client.failures import DeadlineError, StoppedError, is_untrusted, passes
from usp.web_client.transport import Lines, OwnSession

__all__ = [
    "RETRYABLE_HTTP_STATUS_CODES",
    "RequestsWebClient",
    "RequestsWebClientErrorResponse",
    "RequestsWebClientSuccessResponse",
    "__version__",
]

_CHUNK: Final = 64 * 1024
_UNANSWERED: Final = (requests.exceptions.ConnectionError, requests.exceptions.Timeout)
_STOPPED: Final = "the client was stopped"
_FAILURES: Final = (
    OSError,  # also all of requests' own
    ValueError,  # URLs that can't be read, where requests lets them through
    urllib3.exceptions.HTTPError,
    AddressRefusedError,
    DeadlineError,
    StoppedError,
)


class RequestsWebClientSuccessResponse(AbstractWebClientSuccessResponse):
    """A document that requests fetched; its body is read when it is asked for."""

    def __init__(
        self,
        requests_response: requests.Response,
        max_response_data_length: int | None = None,
        *,
        due: float | None = None,
        lines: Lines | None = None,
    ) -> None:
        """Wrap a response.

        :param due: when the body has to be there, by the monotonic clock.
        :param lines: what tells that the client was stopped.
        """
        self._response = requests_response
        self._max_length = max_response_data_length or sys.maxsize
        self._data: bytes | None = None
        self._due = due
        self._lines = lines or Lines()

    def status_code(self) -> int:
        """Return the HTTP status."""
        return int(self._response.status_code)

    def status_message(self) -> str:
        """Return the words after the status: the server's, or else the usual ones."""
        return manners.phrase(self._response.status_code, self._response.reason)

    def header(self, case_insensitive_name: str) -> str | None:
        """Return a header's value, or None if it isn't there."""
        return self._response.headers.get(case_insensitive_name)

    def raw_data(self) -> bytes:
        """Return the body, up to the limit."""
        if self._data is None:
            wraps = 1 if self._is_gzip else 0
            self._data = b"".join(unpack(self.chunks(), Findings(), self._max_length, wraps=wraps))
        return self._data

    def chunks(self) -> Iterator[bytes]:
        """Yield the body piece by piece as it came, up to the limit.

        What the server packed with gzip stays packed: the reader knows it by its first bytes, and
        reads what there is of it when the connection breaks. The other ``Content-Encoding`` are
        taken off. What came before a fault is yielded before the fault is raised.

        :raises DeadlineError: if the body has not come in time.
        :raises StoppedError: if the client was stopped.
        """
        if self._data is not None:
            yield self._data
            return
        left = self._max_length
        for chunk in self._pieces():
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                self.close()
                return

    @property
    def _is_gzip(self) -> bool:
        return (self.header("Content-Encoding") or "").strip().lower() in {"gzip", "x-gzip"}

    def _pieces(self) -> Iterator[bytes]:
        raw = self._response.raw
        if not isinstance(raw, HTTPResponse) or getattr(self._response, "_content", False):
            # A mock or a cache that has the body already.
            yield from self._response.iter_content(_CHUNK)
            return
        # read1() hands over what has come; iter_content() loses it when the connection breaks,
        # and under a slow drip it never returns.
        while chunk := self._read(raw):
            yield chunk
            self._lines.check()
            self._check_time()
        self._lines.check()  # a socket that was shut looks like the end of the body

    def _read(self, raw: HTTPResponse) -> bytes:
        try:
            return raw.read1(_CHUNK, decode_content=not self._is_gzip)
        except urllib3.exceptions.HTTPError:
            self._lines.check()
            self._check_time()
            raise

    def _check_time(self) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            raise DeadlineError(manners.OVERDUE)

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

    _USER_AGENT: Final = manners.USER_AGENT
    _is_public = staticmethod(is_public)

    def __init__(
        self,
        verify: bool | str = True,
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
        self._verify = verify
        self._waiter = RequestWaiter(wait, random_wait)
        self._guard = Guard(private_addresses, self._is_public)
        self._lines = Lines()
        self._owns_session = session is None
        self._session = session if session is not None else OwnSession(self._guard, self._lines)
        if type(self) is RequestsWebClient:
            self.thread_safe = type(self._session) in {OwnSession, requests.Session}
        self._home: str | None = None
        self._homepage_url: str | None = None
        self._timeout: float | tuple[float, float] | None = manners.TIMEOUT
        self._deadline: float | None = manners.DEADLINE
        self._proxies: dict[str, str] = {}
        self._max_response_data_length: int | None = None

    def set_timeout(self, timeout: float | tuple[float, float] | None) -> None:
        """Set the seconds to wait, or (to connect, for bytes); None waits for ever."""
        self._timeout = timeout

    def set_document_deadline(self, seconds: float | None) -> None:
        """Set the seconds that a whole document may take, redirects included; None for no limit."""
        self._deadline = seconds

    def set_proxies(self, proxies: dict[str, str]) -> None:
        """Set proxies by scheme, such as ``{"https": "http://user:pass@10.10.1.10:3128/"}``."""
        self._proxies = proxies

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set how many bytes of a body are read at most; None or 0 for no limit."""
        self._max_response_data_length = max_response_data_length

    def start_crawl(self, homepage_url: str) -> None:
        """Learn the homepage, for ``private_addresses``; be of use again after ``abort()``."""
        if self._lines.cut.is_set():
            self.close()
            self._lines = Lines()
            if self._owns_session:
                self._session = OwnSession(self._guard, self._lines)
        self._home = manners.host_of_homepage(homepage_url)
        self._homepage_url = homepage_url
        self._guard.start(self._home)

    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; the body is left to be read."""
        lines = self._lines
        if lines.cut.wait(self._waiter.reserve()):
            return RequestsWebClientErrorResponse(_STOPPED, retryable=False)
        due = None if self._deadline is None else time.monotonic() + self._deadline
        lines.mine.due = due
        try:
            if not manners.is_web_url(url):
                raise requests.exceptions.InvalidSchema(f"not an HTTP(S) URL: {url}")
            response = self._ask(url, Arrival(self._guard, lines, due))
        except _FAILURES as error:
            if lines.cut.is_set():
                return RequestsWebClientErrorResponse(_STOPPED, retryable=False)
            if due is not None and time.monotonic() >= due:
                return RequestsWebClientErrorResponse(
                    manners.OVERDUE, retryable=False, unanswered=True
                )
            return _failed(error)
        if response.status_code not in manners.SUCCESS:
            return _refused(response)
        return RequestsWebClientSuccessResponse(
            response, self._max_response_data_length, due=due, lines=lines
        )

    def abort(self) -> None:
        """Shut the sockets of the client's own session at once, and refuse to fetch from now on.

        A thread that waits for bytes goes on within milliseconds; one that waits for a name or for
        a connection does so when it has got it. With a session of the caller's, bodies end after
        the piece that is being read. ``start_crawl()`` makes the client of use again.
        """
        self._lines.cut_all()

    def close(self) -> None:
        """Close the connections of a session that is the client's own; leave the caller's open."""
        if self._owns_session:
            self._session.close()

    def _ask(self, url: str, arrival: Arrival) -> requests.Response:
        session = self._session
        hooks = session.hooks.get("response") or []
        return session.get(
            url,
            timeout=self._timeout,
            stream=True,
            proxies=dict(self._proxies),  # requests adds those of the environment to it
            # What isn't said here is said by the session, or by REQUESTS_CA_BUNDLE.
            verify=None if self._verify is True else self._verify,
            hooks={"response": [*([hooks] if callable(hooks) else hooks), arrival]},
            **self._identity(url),
        )

    def _identity(self, url: str) -> dict[str, Any]:
        """Return who we say we are: to a stranger, without the credentials of the session."""
        session = self._session
        headers: dict[str, str | None] = {}
        if session.headers.get("User-Agent") in {None, default_user_agent()}:
            headers["User-Agent"] = self._USER_AGENT
        if self._owns_session or not self._is_stranger(url):
            return {"headers": headers}
        headers |= dict.fromkeys(manners.CREDENTIALS)
        own = get_netrc_auth(url) if session.trust_env else None
        return {"headers": headers, "auth": own or _no_auth}

    def _is_stranger(self, url: str) -> bool:
        return manners.is_stranger(url, self._home, self._homepage_url)


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _refused(response: requests.Response) -> WebClientErrorResponse:
    drain(response)
    return RequestsWebClientErrorResponse(
        f"{response.status_code} {manners.phrase(response.status_code, response.reason)}",
        response.status_code in RETRYABLE_HTTP_STATUS_CODES,
        status_code=response.status_code,
        retry_after=manners.seconds(response.headers.get("Retry-After")),
    )


def _failed(error: Exception) -> WebClientErrorResponse:
    response = getattr(error, "response", None)
    if not isinstance(response, requests.Response):
        silent = isinstance(error, _UNANSWERED)
        return RequestsWebClientErrorResponse(
            str(error), passes(error), unanswered=silent, untrusted=is_untrusted(error)
        )
    if isinstance(error, requests.exceptions.HTTPError):  # the doing of a hook of the caller's
        return _refused(response)
    response.close()
    return RequestsWebClientErrorResponse(
        str(error), passes(error), status_code=response.status_code
    )
