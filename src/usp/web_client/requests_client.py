"""The client on requests: what a crawl uses where the caller brings none."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import requests
from requests.utils import default_user_agent
from urllib3.response import HTTPResponse

from usp._parse.findings import Findings
from usp._parse.unpack import unpack
from usp._version import __version__
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
_SUCCESS: Final = range(200, 300)


class RequestsWebClientSuccessResponse(AbstractWebClientSuccessResponse):
    """A document that requests fetched; its body is read when it is asked for."""

    def __init__(
        self,
        requests_response: requests.Response,
        max_response_data_length: int | None = None,
    ) -> None:
        self._response = requests_response
        self._max_length = max_response_data_length or sys.maxsize
        self._data: bytes | None = None

    def status_code(self) -> int:
        """Return the HTTP status."""
        return int(self._response.status_code)

    def status_message(self) -> str:
        """Return the words after the status: the server's, or else the usual ones."""
        return _phrase(self._response)

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
        taken off.
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
        # read1() hands over what has come; iter_content() loses it when the connection breaks.
        while chunk := raw.read1(_CHUNK, decode_content=not self._is_gzip):
            yield chunk

    def url(self) -> str:
        """Return the URL that answered, after redirects."""
        return str(self._response.url)

    def close(self) -> None:
        """Let go of the connection."""
        self._response.close()


class RequestsWebClientErrorResponse(WebClientErrorResponse):
    """No document came."""


class RequestsWebClient(AbstractWebClient):
    """Fetches with requests, through one session: its own, or the caller's, which it never alters.

    A session that sets a ``User-Agent`` of its own keeps it.
    """

    _USER_AGENT: Final = f"ultimate_sitemap_parser/{__version__}"
    _TIMEOUT: Final = (9.05, 60.0)
    """Seconds to connect (just over three TCP retransmissions) and to wait for bytes."""

    def __init__(
        self,
        verify: bool | str = True,
        wait: float | None = None,
        random_wait: bool = False,
        session: requests.Session | None = None,
    ) -> None:
        """Make a client.

        :param verify: False to accept any certificate, or the path of a CA bundle.
        :param wait: seconds between requests.
        :param random_wait: vary that by half, up and down.
        :param session: a session of the caller's, to be used as it is.
        """
        self._verify = verify
        self._waiter = RequestWaiter(wait, random_wait)
        self._owns_session = session is None
        self._session = session if session is not None else requests.Session()
        self._timeout: float | tuple[float, float] | None = self._TIMEOUT
        self._proxies: dict[str, str] = {}
        self._max_response_data_length: int | None = None

    def set_timeout(self, timeout: float | tuple[float, float] | None) -> None:
        """Set the seconds to wait, or (to connect, for bytes); None waits for ever."""
        self._timeout = timeout

    def set_proxies(self, proxies: dict[str, str]) -> None:
        """Set proxies by scheme, such as ``{"https": "http://user:pass@10.10.1.10:3128/"}``."""
        self._proxies = proxies

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set how many bytes of a body are read at most; None or 0 for no limit."""
        self._max_response_data_length = max_response_data_length

    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects; the body is left to be read."""
        self._waiter.wait()
        try:
            response = self._session.get(
                url,
                timeout=self._timeout,
                stream=True,
                headers=self._headers(),
                proxies=self._proxies,
                # What isn't said here is said by the session, or by REQUESTS_CA_BUNDLE.
                verify=None if self._verify is True else self._verify,
            )
        except requests.exceptions.RequestException as error:
            return RequestsWebClientErrorResponse(str(error), _passes(error))
        if response.status_code in _SUCCESS:
            return RequestsWebClientSuccessResponse(response, self._max_response_data_length)
        response.close()
        return RequestsWebClientErrorResponse(
            f"{response.status_code} {_phrase(response)}",
            response.status_code in RETRYABLE_HTTP_STATUS_CODES,
            status_code=response.status_code,
            retry_after=_seconds(response.headers.get("Retry-After")),
        )

    def close(self) -> None:
        """Close the connections of a session that is the client's own; leave the caller's open."""
        if self._owns_session:
            self._session.close()

    def _headers(self) -> dict[str, str]:
        own = self._session.headers.get("User-Agent")
        return {"User-Agent": self._USER_AGENT} if own in {None, default_user_agent()} else {}


def _phrase(response: requests.Response) -> str:
    if response.reason:
        return str(response.reason)
    try:
        return HTTPStatus(response.status_code).phrase
    except ValueError:
        return "Unknown status"


def _passes(error: requests.exceptions.RequestException) -> bool:
    """Tell whether a failure is of the kind that passes: a time-out, a dropped connection.

    A name that doesn't resolve, a refused connection or a bad certificate won't change in seconds.
    """
    if isinstance(error, requests.exceptions.Timeout | requests.exceptions.ChunkedEncodingError):
        return True
    return isinstance(error, requests.exceptions.ConnectionError) and (
        "Connection aborted" in str(error) or "RemoteDisconnected" in str(error)
    )


def _seconds(retry_after: str | None) -> float | None:
    """Read ``Retry-After``: seconds, or a date (RFC 9110 10.2.3)."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)
