"""The error responses of our clients: the same messages from both.

Each function takes the client's own class of error responses.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, TypeVar

from usp._display import excerpt, one_line
from usp.web_client._http.retry_after import parse_retry_after
from usp.web_client.abstract_client import RETRYABLE_HTTP_STATUS_CODES, WebClientErrorResponse

__all__ = [
    "CANCELLED_MESSAGE",
    "DEADLINE_MESSAGE",
    "DROPPED_AT_ONCE",
    "DROPPED_IN_HEAD",
    "deadline_response",
    "encoding_response",
    "reason_phrase",
    "silent_response",
    "status_response",
]

_Error = TypeVar("_Error", bound=WebClientErrorResponse)

DROPPED_AT_ONCE: Final = "the connection was dropped as soon as it was established"
DROPPED_IN_HEAD: Final = "the connection was dropped in the middle of the headers"
DEADLINE_MESSAGE: Final = "the document did not arrive completely before its deadline"
_MAX_REASON: Final = 200
"""How many characters of a reason phrase are kept: it may have 64 KiB."""
CANCELLED_MESSAGE: Final = "the request was cancelled"


def status_response(
    made: type[_Error],
    status: int,
    reason: object,
    headers: Mapping[str, str],
    redirects: tuple[str, ...],
) -> _Error:
    """Return the error for a status that is not a success."""
    is_of_proxy = status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
    return made(
        f"{'the proxy responded ' * is_of_proxy}{status} {reason_phrase(status, reason)}",
        status in RETRYABLE_HTTP_STATUS_CODES,
        status_code=status,
        retry_after=parse_retry_after(headers.get("Retry-After")),
        headers=headers,
        redirects=redirects,
    )


def deadline_response(made: type[_Error]) -> _Error:
    """Return the error for a document that missed its deadline."""
    return made(DEADLINE_MESSAGE, retryable=False, no_response=True)


def silent_response(made: type[_Error], message: str) -> _Error:
    """Return the error for a host that has never responded, and is no longer waited for."""
    return made(message, retryable=False, no_response=True)


def encoding_response(
    made: type[_Error],
    encoding: str,
    status: int,
    headers: Mapping[str, str],
    redirects: tuple[str, ...],
) -> _Error:
    """Return the error for a body with a content encoding that was not requested."""
    return made(
        f"the content encoding {encoding} was not requested and can't be decoded",
        retryable=False,
        status_code=status,
        headers=headers,
        redirects=redirects,
    )


def reason_phrase(status: int, reason: object) -> str:
    """Return the reason phrase of a status: the server's, or else the usual one."""
    if reason and isinstance(reason, str):
        # RFC 9112 4 allows no control characters in it.
        return one_line(excerpt(reason, _MAX_REASON))
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown status"
