"""The client that a crawl fetches with: the classes to subclass for a client of your own.

A client needs ``get()`` and ``set_max_response_data_length()``; everything else has a default.
``get()`` returns a success response with a body, or an error response with a message and whether a
retry makes sense. An exception out of ``get()`` is a failed fetch, but for those that mean a bug
(``TypeError``, ``AttributeError``, ``NameError``, ``NotImplementedError``, ``AssertionError``):
they end the crawl and reach its caller.
"""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from usp._closing import ClosesAtExit
from usp._display import redact
from usp._forks import renewed_in_forks
from usp.exceptions import NoWebClientException, UsageError
from usp.objects.fetch_info import Validators
from usp.web_client._http import settings

if TYPE_CHECKING:
    from usp.web_client.abstract_aio_client import AbstractAioWebClient

__all__ = [
    "RETRYABLE_HTTP_STATUS_CODES",
    "AbstractWebClient",
    "AbstractWebClientResponse",
    "AbstractWebClientSuccessResponse",
    "CrawlScope",
    "LocalWebClient",
    "LocalWebClientSuccessResponse",
    "NoWebClientException",
    "RequestWaiter",
    "WebClientErrorResponse",
    "WebClientNotModifiedResponse",
]

RETRYABLE_HTTP_STATUS_CODES: Final = {
    HTTPStatus.BAD_REQUEST.value,  # some servers answer so under load
    HTTPStatus.REQUEST_TIMEOUT.value,
    HTTPStatus.TOO_MANY_REQUESTS.value,
    499,  # nginx: the client closed the request
    HTTPStatus.INTERNAL_SERVER_ERROR.value,
    HTTPStatus.BAD_GATEWAY.value,
    HTTPStatus.SERVICE_UNAVAILABLE.value,
    HTTPStatus.GATEWAY_TIMEOUT.value,
    509,  # Apache, cPanel: bandwidth limit exceeded
    *range(520, 528),  # Cloudflare: the origin server failed
    530,  # Cloudflare: an error of the 1xxx kind
    598,  # proxies: network read timeout
}
"""Statuses after which a retry makes sense."""


class AbstractWebClientResponse(ABC):  # noqa: B024 -- an empty common base, as in 1.8.1
    """What ``get()`` of a client returns."""


class AbstractWebClientSuccessResponse(AbstractWebClientResponse):
    """A response that brings a document."""

    @abstractmethod
    def status_code(self) -> int:
        """Return the HTTP status, such as 200."""

    @abstractmethod
    def status_message(self) -> str:
        """Return the reason phrase of the status, such as ``OK``."""

    @abstractmethod
    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""

    @abstractmethod
    def raw_data(self) -> bytes:
        """Return the body, with its ``Content-Encoding`` decoded."""

    @abstractmethod
    def url(self) -> str:
        """Return the URL of the document, after redirects."""

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order; by default, none."""
        return ()

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks; by default, all of it in one."""
        yield self.raw_data()

    def close(self) -> None:
        """Release the connection; nothing is read after this."""


class WebClientNotModifiedResponse(AbstractWebClientResponse):
    """The response to a conditional request whose document has not changed (304)."""

    def __init__(
        self, url: str, headers: Mapping[str, str], redirects: tuple[str, ...] = ()
    ) -> None:
        self._url = url
        self._headers = _by_lower_name(headers)
        self._redirects = redirects

    def status_code(self) -> int:
        """Return 304."""
        return HTTPStatus.NOT_MODIFIED.value

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        return self._headers.get(case_insensitive_name.lower())

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        return self._url

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return self._redirects


class WebClientErrorResponse(AbstractWebClientResponse):
    """The response to a request that brought no document."""

    # For subclasses that don't call our __init__.
    _status_code: int | None = None
    _retry_after: float | None = None
    _no_response: bool = False
    _untrusted: bool = False
    _headers: Mapping[str, str] = MappingProxyType({})
    _redirects: tuple[str, ...] = ()

    def __init__(
        self,
        message: str,
        retryable: bool,
        *,
        status_code: int | None = None,
        retry_after: float | None = None,
        no_response: bool = False,
        untrusted: bool = False,
        headers: Mapping[str, str] | None = None,
        redirects: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        given: Any = message  # 1.8.1 takes anything here
        self._message = redact(given) if isinstance(given, str) else given
        self._retryable = retryable
        self._status_code = status_code
        self._retry_after = retry_after
        self._no_response = no_response
        self._untrusted = untrusted
        self._headers = _by_lower_name(headers or {})
        self._redirects = redirects

    def message(self) -> str:
        """Return what went wrong; no URL in it has a user or password."""
        return self._message

    def retryable(self) -> bool:
        """Tell whether the failure is transient, so that a retry makes sense."""
        return self._retryable

    def status_code(self) -> int | None:
        """Return the HTTP status; None if there was none, or the client doesn't know it."""
        return self._status_code

    def retry_after(self) -> float | None:
        """Return the seconds to wait before a retry, if the server asked for that."""
        return self._retry_after

    def no_response(self) -> bool:
        """Tell whether no response came: the name did not resolve, no connection, a timeout.

        Several such URLs in a row make a host count as dead, so only a client that is sure
        returns True.
        """
        return self._no_response

    def untrusted(self) -> bool:
        """Tell whether the certificate of the host was rejected.

        A host without a response over https is tried over http, but not for this reason.
        """
        return self._untrusted

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header of the response, or None if it is missing."""
        return self._headers.get(case_insensitive_name.lower())

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return self._redirects


def _by_lower_name(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


class CrawlScope(ClosesAtExit):
    """A client's view for one crawl: it fetches for that crawl alone and ends with it.

    This one passes everything on to the client. A client that keeps something for each crawl, such
    as the homepage or cookies, returns a subclass from ``for_crawl()``.
    """

    def __init__(self, client: "AbstractWebClient") -> None:
        self.client = client

    def get(
        self,
        url: str,
        validators: Validators | None = None,  # noqa: ARG002 -- for subclasses
    ) -> AbstractWebClientResponse:
        """Fetch a URL for this crawl; by default, with ``get()`` of the client.

        :param validators: make the request conditional with these, if the client can. It may
            return a ``WebClientNotModifiedResponse`` then.
        """
        return self.client.get(url)

    def order_in_recording(
        self,
        url: str,  # noqa: ARG002 -- for subclasses
        validators: Validators | None = None,  # noqa: ARG002 -- for subclasses
    ) -> float:
        """Return when the next response for a URL comes, in the order of a recording.

        Called if the client replays one: results are taken in the order of the recording.
        """
        return 0.0

    def cancel(self) -> bool:
        """End what other threads are fetching for this crawl; by default, ``abort()`` the client.

        Called on the caller's thread when the crawl ends early.

        :return: True if requests end within about a second; then the crawl waits for them.
        """
        return self.client.abort()

    def close(self) -> None:
        """Release what belongs to the crawl. Called on the caller's thread when it has ended."""


class AbstractWebClient(ABC):
    """Fetches URLs."""

    streams: bool = False
    """Whether responses yield their body in chunks, so that a limit holds while it is read. A
    client without streaming is told the limit before the crawl."""
    thread_safe: bool = False
    """Whether several threads may use the client at once. If not, requests run one at a time."""
    replays: bool = False
    """Whether responses come from a recording: then no delay is needed before a retry."""

    @abstractmethod
    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set the maximum number of bytes read from a body; None for no limit."""

    @abstractmethod
    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects."""

    def for_crawl(self, homepage_url: str) -> CrawlScope:  # noqa: ARG002 -- a hook
        """Return the scope that a crawl of this homepage fetches with.

        Called once per crawl, on the caller's thread, before the first request.
        """
        return CrawlScope(self)

    def check_settings(self) -> None:  # noqa: B027 -- a hook
        """Raise if a setting would make every crawl fail.

        Called before something is written for a crawl, such as the state of a sync.

        :raises UsageError: if a setting is wrong.
        """

    def for_asyncio(self) -> "AbstractAioWebClient":
        """Return a new client for asyncio that goes with this one; live pages are fetched with it.

        By default an ``AioWebClient``, which knows nothing of the settings of this client.

        :raises UsageError: if this client replays a recording, and has no such method of its own:
            what a recording lacks must not be fetched from a network.
        """
        if self.replays:
            name = type(self).__name__
            raise UsageError(f"{name} replays a recording, but has no for_asyncio() of its own.")
        from usp.web_client.aio_client import AioWebClient  # takes long to import

        return AioWebClient()

    def abort(self) -> bool:
        """End everything that this client has in flight; by default, it continues.

        :return: True if requests end within about a second.
        """
        return False

    def close(self) -> None:  # noqa: B027 -- a hook
        """Close the connections that belong to the client; by default, there are none.

        A crawl calls it at its end if it made the client itself.
        """


class LocalWebClient(AbstractWebClient):
    """A client without network access, for documents that the caller supplies."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Do nothing: there is nothing to limit."""

    def get(self, url: str) -> AbstractWebClientResponse:
        """Raise ``NoWebClientException``."""
        raise NoWebClientException(f"{url} can't be fetched: this client has no network access")


class LocalWebClientSuccessResponse(AbstractWebClientSuccessResponse):
    """A document that the caller supplies, in the form of a response."""

    def __init__(self, url: str, data: str) -> None:
        self._url = url
        self._data = data

    def status_code(self) -> int:
        """Return 200."""
        return HTTPStatus.OK.value

    def status_message(self) -> str:
        """Return ``OK``."""
        return HTTPStatus.OK.phrase

    def header(self, case_insensitive_name: str) -> str | None:  # noqa: ARG002
        """Return None: there are no headers."""
        return None

    def raw_data(self) -> bytes:
        """Return the document as UTF-8."""
        return self._data.encode("utf-8", "replace")

    def url(self) -> str:
        """Return the URL that was given."""
        return self._url


class RequestWaiter:
    """Keeps a minimum interval between the starts of requests, over all threads."""

    def __init__(self, wait: float | None = None, random_wait: bool = True) -> None:
        """Set the seconds between two requests; ``random_wait`` varies them by half."""
        self._wait = settings.wait(wait, random_wait)
        self._random_wait = random_wait
        self._free_at = 0.0
        self._lock = renewed_in_forks(threading.Lock())

    def interval(self) -> float:
        """Return the seconds between the next two requests."""
        factor = random.uniform(0.5, 1.5) if self._random_wait else 1.0  # noqa: S311 -- no secret
        return self._wait * factor

    def claim(self) -> float:
        """Start a request now if that is allowed; else return the seconds until it may be.

        Nothing is reserved for later: a request that waits may be cancelled.
        """
        interval = self.interval()
        with self._lock:
            now = time.monotonic()
            if now < self._free_at:
                return self._free_at - now
            self._free_at = now + interval
        return 0.0

    def wait(self) -> None:
        """Wait until the next request may start; the first may start at once."""
        while seconds := self.claim():
            time.sleep(seconds)

    def __reduce__(self) -> tuple[type["RequestWaiter"], tuple[float, bool]]:
        """Pickle the settings only: the lock and the clock mean nothing in another process."""
        return type(self), (self._wait, self._random_wait)
