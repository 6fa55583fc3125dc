"""Transient and permanent failures: classified by the exception's type, never by its message.

requests and urllib3 wrap the error of the system in layers of their own, so all layers are looked
at: a dropped connection is transient, an invalid certificate permanent. The exception classes
themselves are in ``usp.exceptions``.
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
    ReplayedError,
)

__all__ = ["LIBRARY_BUGS", "is_transient", "is_untrusted"]

LIBRARY_BUGS: Final = (AssertionError, AttributeError, TypeError)
"""What a bug in requests, urllib3 or aiohttp raises that a server triggers: a failed request. In
the caller's own code they are a bug of that code."""

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
    """Tell whether a failure is transient, so that a retry makes sense.

    Dropped connections, resets, timeouts, incomplete bodies and name servers that failed are
    transient. Refused connections, unknown hosts, bad certificates, redirect loops and invalid URLs
    are permanent.
    """
    if isinstance(error, ReplayedError):
        return error.transient
    layers = list(_layers(error, set()))
    if any(_is_failed_lookup(layer) for layer in layers):
        return True
    if any(isinstance(layer, _PERMANENT) for layer in layers):
        return False
    return any(isinstance(layer, _TRANSIENT) for layer in layers)


def _is_failed_lookup(error: BaseException) -> bool:
    """Tell whether a name server gave no answer (SERVFAIL, a timeout), unlike: no such host."""
    return isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN


def is_untrusted(error: BaseException) -> bool:
    """Tell whether a failure is a rejected certificate, or a CA bundle that can't be loaded.

    OpenSSL calls what goes wrong with a host ``SSL``, with a CA bundle ``X509`` or ``PEM``.
    """
    return any(
        isinstance(layer, ssl.SSLCertVerificationError)
        # That of aiohttp around it is an SSLError without a library.
        or (isinstance(layer, ssl.SSLError) and getattr(layer, "library", "") in {"X509", "PEM"})
        for layer in _layers(error, set())
    )


def _layers(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    """Yield an error and those inside it: its cause, its reason, its arguments."""
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for part in (error.__cause__, getattr(error, "reason", None), *error.args):
        if isinstance(part, BaseException):
            yield from _layers(part, seen)
