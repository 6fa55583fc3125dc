"""Responses that are not instances of our classes: any object with the right methods can be one.

1.8.1 never looks at the class of a response, so programs return objects of their own.
"""

from collections.abc import Iterator
from typing import TypeGuard

from usp.web_client.abstract_client import (
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

__all__ = ["body_chunks", "has_methods", "is_error", "is_success"]


def has_methods(given: object, *names: str) -> bool:
    """Tell whether an object has methods of these names."""
    return all(callable(getattr(given, name, None)) for name in names)


def is_success(response: object) -> TypeGuard[AbstractWebClientSuccessResponse]:
    """Tell whether a response brings a document; one that is not ours is judged by its methods."""
    if isinstance(response, AbstractWebClientSuccessResponse | WebClientErrorResponse):
        return isinstance(response, AbstractWebClientSuccessResponse)
    return has_methods(response, "url", "header", "raw_data")


def is_error(response: object) -> TypeGuard[WebClientErrorResponse]:
    """Tell whether a response is an error; one that is not ours may have no newer methods."""
    return isinstance(response, WebClientErrorResponse) or has_methods(
        response, "message", "retryable"
    )


def body_chunks(response: AbstractWebClientSuccessResponse) -> Iterator[bytes]:
    """Return the body of a response: in chunks, or whole if it has no chunks of its own."""
    return iter(response.chunks() if _streams(response) else [response.raw_data()])


def _streams(response: AbstractWebClientSuccessResponse) -> bool:
    """Tell whether to read a body in chunks: not if a subclass overrides ``raw_data()`` only."""
    for known in type(response).__mro__:
        if "chunks" in vars(known):
            return True
        if "raw_data" in vars(known):
            return False
    return False
