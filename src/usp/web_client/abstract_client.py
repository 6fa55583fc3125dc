"""The client that a crawl fetches with: what users implement to bring their own.

``get()`` is the only door. Whatever it raises is a failed fetch; what it returns is a success (with
a body to read) or an error (with a message, and whether trying again makes sense).
"""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from usp.exceptions import NoWebClientException

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
    *range(520, 528),  # Cloudflare: its origin's faults
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

    def chunks(self) -> Iterator[bytes]:
        """Yield the body piece by piece; a client that can't stream gives it in one."""
        yield self.raw_data()

    def close(self) -> None:
        """Let go of the connection; nothing is read after this."""


class WebClientErrorResponse(AbstractWebClientResponse):
    """No document came."""

    def __init__(
        self,
        message: str,
        retryable: bool,
        *,
        status_code: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__()
        self._message = message
        self._retryable = retryable
        self._status_code = status_code
        self._retry_after = retry_after

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


class AbstractWebClient(ABC):
    """Fetches URLs."""

    @abstractmethod
    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set how many bytes of a body are read at most; None for no limit."""

    @abstractmethod
    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects."""


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
    """Keeps a distance between requests."""

    def __init__(self, wait: float | None = None, random_wait: bool = True) -> None:
        """Set the seconds between two requests; with ``random_wait``, half to one and a half."""
        self._wait = wait or 0.0
        self._random_wait = random_wait
        self._is_first = True

    def wait(self) -> None:
        """Wait, but for the first time."""
        if self._is_first:
            self._is_first = False
        elif self._wait > 0:
            time.sleep(self._wait * (random.uniform(0.5, 1.5) if self._random_wait else 1.0))  # noqa: S311 -- manners, not secrets
