"""What the clients of ours say where no document came, or not all of it: the same words, whichever
fetched.

Rules of this room: values and pure functions. Each client hands in its own class of errors.
"""

from typing import Final, TypeVar

from usp.web_client._http import defaults as defaults
from usp.web_client.abstract_client import RETRYABLE_HTTP_STATUS_CODES, WebClientErrorResponse

__all__ = [
    "DEADLINE_MESSAGE",
    "DROPPED_AT_ONCE",
    "DROPPED_IN_HEAD",
    "STOPPED",
    "deadline_response",
    "foreign",
    "refusal",
]

_Error = TypeVar("_Error", bound=WebClientErrorResponse)

DROPPED_AT_ONCE: Final = "the connection was dropped as soon as it stood"
DROPPED_IN_HEAD: Final = "the connection was dropped in the middle of the headers"
DEADLINE_MESSAGE: Final = "the document did not arrive whole in the time it was given"
STOPPED: Final = "the client was stopped"


def refusal(made: type[_Error], status: int, reason: str | None, retry_after: str | None) -> _Error:
    """Say that a server answered, with a status that is no success."""
    return made(
        f"{status} {defaults.phrase(status, reason)}",
        status in RETRYABLE_HTTP_STATUS_CODES,
        status_code=status,
        retry_after=defaults.seconds(retry_after),
    )


def deadline_response(made: type[_Error]) -> _Error:
    """Say that a document missed its deadline."""
    return made(DEADLINE_MESSAGE, retryable=False, no_response=True)


def foreign(made: type[_Error], encodings: str) -> _Error:
    """Say that a body can't be unpacked."""
    return made(f"it is packed with {encodings}, which nobody asked for", retryable=False)
