"""The client that a crawl fetches with: what users implement to bring their own.

``get()`` is the only door. Whatever it raises is a failed fetch; what it returns is a success (with
a body to read) or an error (with a message, and whether trying again makes sense).
"""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from usp.exceptions import NoWebClientException
from usp.web_client._http import settings

__all__ = [
    "RETRYABLE_HTTP_STATUS_CODES",
    "AbstractWebClient",
    "AbstractWebClientResponse",
    "AbstractWebClientSuccessResponse",
    "LocalWebClient",
    "LocalWebClientSuccessResponse",
    "NoWebClientException",
    "RequestWaiter",
    "WebClientErrorResponse",
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
    *range(520, 528),  # Cloudflare: its provenance's faults
    530,  # Cloudflare: an error of the 1xxx kind
    598,  # proxies: network read time-out
}
"""Statuses after which trying again makes sense."""


class AbstractWebClientResponse(ABC):  # noqa: B024 -- an empty common base, as in 1.8.1
    """What a client gives back."""


class AbstractWebClientSuccessResponse(AbstractWebClientResponse):
    """A document came."""

    @abstractmethod
    def status_code(self) -> int:
        """Return the HTTP status, such as 200."""

    @abstractmethod
    def status_message(self) -> str:
        """Return the words after the status, such as ``OK``."""

    @abstractmethod
    def header(self, case_insensitive_name: str) -> str | None:
        """Return a header's value, or None if it isn't there."""

    @abstractmethod
    def raw_data(self) -> bytes:
        """Return the body, without its ``Content-Encoding``."""

    @abstractmethod
    def url(self) -> str:
        """Return the URL that answered, after redirects."""

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that led on to others, in order; none where a client doesn't say."""
        return ()

    def chunks(self) -> Iterator[bytes]:
        """Yield the body piece by piece; a client that can't stream gives it in one."""
        yield self.raw_data()

    def close(self) -> None:
        """Let go of the connection; nothing is read after this."""


class WebClientErrorResponse(AbstractWebClientResponse):
    """No document came."""

    # What a subclass that doesn't call our __init__ has to say.
    _status_code: int | None = None
    _retry_after: float | None = None
    _no_response: bool = False
    _untrusted: bool = False

    def __init__(
        self,
        message: str,
        retryable: bool,
        *,
        status_code: int | None = None,
        retry_after: float | None = None,
        no_response: bool = False,
        untrusted: bool = False,
    ) -> None:
        super().__init__()
        self._message = message
        self._retryable = retryable
        self._status_code = status_code
        self._retry_after = retry_after
        self._no_response = no_response
        self._untrusted = untrusted

    def message(self) -> str:
        """Return what went wrong, in words."""
        return self._message

    def retryable(self) -> bool:
        """Tell whether trying again makes sense."""
        return self._retryable

    def status_code(self) -> int | None:
        """Return the HTTP status; None if the server gave none, or the client doesn't say."""
        return self._status_code

    def retry_after(self) -> float | None:
        """Return how many seconds the server asks us to wait before trying again."""
        return self._retry_after

    def no_response(self) -> bool:
        """Tell whether the host gave no answer at all: no connection, no name, a time-out.

        A host that is silent for several URLs in a row is given up, so only a client that knows
        says so.
        """
        return self._no_response

    def untrusted(self) -> bool:
        """Tell whether the host's certificate is not one to trust.

        Where a host doesn't answer by https it is tried by http; not where this is why.
        """
        return self._untrusted


class AbstractWebClient(ABC):
    """Fetches URLs."""

    streams: bool = False
    """The bodies of this client's responses come piece by piece, so that a limit holds while they
    are read. One that doesn't say so is told the limit beforehand."""
    thread_safe: bool = False
    """This client may be used from several threads at once. One that doesn't say so isn't."""

    @abstractmethod
    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set how many bytes of a body are read at most; None for no limit."""

    @abstractmethod
    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects."""

    def start_crawl(self, homepage_url: str) -> None:  # noqa: B027 -- a hook
        """Learn whose sitemaps the next requests are for; by default, nothing is done with it.

        Called once before the first request of a crawl, on the caller's thread. A crawl has a
        context (``contextvars``) of its own: what is set in it here, ``get()`` and ``abort()`` see.
        """

    def abort(self) -> bool:
        """End what other threads fetch for this crawl, as soon as can be; by default, it runs on.

        Called on the caller's thread when nobody wants the rest.

        :return: whether that is over in a moment. If so it is waited for, and else not.
        """
        return False

    def close(self) -> None:  # noqa: B027 -- a hook
        """Let go of connections that are the client's own; by default, there are none.

        Called at the end of a crawl on a client that the crawl made itself.
        """


class LocalWebClient(AbstractWebClient):
    """A client that never asks the web: for documents that are at hand."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Do nothing: there is nothing to limit."""

    def get(self, url: str) -> AbstractWebClientResponse:
        """Refuse."""
        raise NoWebClientException(f"there is no web to fetch {url} from")


class LocalWebClientSuccessResponse(AbstractWebClientSuccessResponse):
    """A document at hand, in the form of a response."""

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
    """Keeps a distance between the starts of requests, whichever threads make them."""

    def __init__(self, wait: float | None = None, random_wait: bool = True) -> None:
        """Set the seconds between two requests; with ``random_wait``, half to one and a half."""
        self._wait = settings.wait(wait, random_wait)
        self._random_wait = random_wait
        self._free_at = 0.0
        self._lock = threading.Lock()

    def distance(self) -> float:
        """Return the seconds that the next two requests keep from one another."""
        vary = random.uniform(0.5, 1.5) if self._random_wait else 1.0  # noqa: S311 -- defaults, not secrets
        return self._wait * vary

    def claim(self) -> float:
        """Take this moment for a request, if it is free; else return how many seconds it is not.

        Nobody holds a moment that is to come: he might be stopped before it does.
        """
        distance = self.distance()
        with self._lock:
            now = time.monotonic()
            if now < self._free_at:
                return self._free_at - now
            self._free_at = now + distance
        return 0.0

    def wait(self) -> None:
        """Wait until the next request may start: not at all for the first."""
        while seconds := self.claim():
            time.sleep(seconds)

    def __reduce__(self) -> tuple[type["RequestWaiter"], tuple[float, bool]]:
        """Travel without the lock, and without a time that means nothing elsewhere."""
        return type(self), (self._wait, self._random_wait)
