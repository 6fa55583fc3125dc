"""Which failures pass: judged by what was raised, all the way down, and never by its words.

requests and urllib3 wrap what the system said in layers of their own. What lies at the bottom
decides: a connection that was dropped may hold the next time, a certificate won't get better.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator
from typing import Final

import requests
import urllib3.exceptions

from usp.exceptions import (
    AddressRefusedError,
    CancelledFetchError,
    ConnectionDroppedError,
    DeadlineError,
)

__all__ = ["is_transient", "is_untrusted"]


_PERMANENT: Final = (
    AddressRefusedError,
    ConnectionRefusedError,
    DeadlineError,
    CancelledFetchError,
    requests.exceptions.TooManyRedirects,
    socket.gaierror,
    ssl.SSLCertVerificationError,
)
_TRANSIENT: Final = (
    BrokenPipeError,
    ConnectionAbortedError,
    ConnectionResetError,  # also http.client.RemoteDisconnected
    ConnectionDroppedError,
    TimeoutError,
    http.client.IncompleteRead,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.Timeout,
    ssl.SSLEOFError,  # dropped in the middle of a handshake
    urllib3.exceptions.ReadTimeoutError,
)


def is_transient(error: BaseException) -> bool:
    """Tell whether a failure is of the kind that is_transient, so that trying again makes sense.

    Dropped connections, resets, time-outs and incomplete bodies pass. Refused connections, names
    that don't resolve, bad certificates, redirects without end and broken URLs stay.
    """
    layers = list(_layers(error, set()))
    if any(isinstance(layer, _PERMANENT) for layer in layers):
        return False
    return any(isinstance(layer, _TRANSIENT) for layer in layers)


def is_untrusted(error: BaseException) -> bool:
    """Tell whether a host's certificate is not one to trust."""
    certificate = ssl.SSLCertVerificationError
    return any(isinstance(layer, certificate) for layer in _layers(error, set()))


def _layers(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    """Yield an error and what it was made of: its cause, its reason, the errors it carries."""
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for part in (error.__cause__, getattr(error, "reason", None), *error.args):
        if isinstance(part, BaseException):
            yield from _layers(part, seen)
