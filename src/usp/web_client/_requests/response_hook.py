"""What is looked at when a response arrives, before anybody reads it.

requests follows redirects by itself, and reads the whole body of each on the way. The hook here
sees every response in between: it stops where a crawl must not go on, and keeps a body that nobody
wants from being downloaded. It is given to one request, so a session of the caller's is not altered
and its own hooks run as before.
"""

import socket
import time
from contextlib import ExitStack, suppress
from typing import Any, Final
from urllib.parse import urljoin

import requests
import urllib3.exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.response import HTTPResponse

from usp.exceptions import DeadlineError
from usp.web_client._http.address_guard import host_of
from usp.web_client._http.defaults import DRAIN_SECONDS, DRAINED, is_web_url
from usp.web_client._http.error_responses import DEADLINE_MESSAGE
from usp.web_client._requests.session import TimedSocket
from usp.web_client._requests.tracked_sockets import RequestContext
from usp.web_client.abstract_client import RequestWaiter

__all__ = ["ResponseHook", "drain"]

_PLAIN_CONNECTIONS: Final = (HTTPConnection, HTTPSConnection)


class ResponseHook:
    """The hook for the responses to one request, redirects included."""

    def __init__(self, context: RequestContext, waiter: RequestWaiter) -> None:
        self._trip = context
        self._waiter = waiter

    def __call__(self, response: requests.Response, **_: object) -> None:
        """Look at a response; one that must not be used is closed."""
        with ExitStack() as undo:
            undo.callback(response.close)
            self._look(response)
            undo.pop_all()

    def _look(self, response: requests.Response) -> None:
        self._trip.lines.check()
        if peer := _peer_of(response):
            self._trip.guard.admit(host_of(response.url), peer)
        if not response.is_redirect:
            return
        target = urljoin(response.url, response.headers["Location"])
        if not is_web_url(target):
            raise requests.exceptions.InvalidSchema(f"redirected to {target}: not followed")
        if self._trip.due is not None and time.monotonic() >= self._trip.due:
            raise DeadlineError(DEADLINE_MESSAGE)
        drain(response)
        self._wait()

    def _wait(self) -> None:
        """Keep the distance to the next hop; that is no time of the document's."""
        seconds = self._trip.lines.wait(self._waiter.claim)
        if self._trip.due is not None:
            self._trip.due += seconds


def drain(response: requests.Response) -> None:
    """Empty a body that nobody wants, if that is quickly done; else close its connection."""
    raw = response.raw
    if not isinstance(raw, HTTPResponse) or raw.connection is None:
        return  # read already, or it never came over a connection
    with suppress(OSError, urllib3.exceptions.HTTPError):
        if _is_worth_draining(raw):
            _drain(raw)
    if raw.connection is not None:
        raw.close()


def _is_worth_draining(raw: HTTPResponse) -> bool:
    """Tell whether the connection can be kept, within the limits."""
    sock = getattr(raw.connection, "sock", None)
    if raw.length_remaining is not None:
        return sock is not None and raw.length_remaining <= DRAINED
    # TrackedSockets that end a chunk can drip for ever: only a socket of ours knows when to stop.
    return isinstance(sock, TimedSocket)


def _drain(raw: HTTPResponse) -> None:
    """Read on until the connection is given back, or a limit is reached."""
    end = time.monotonic() + DRAIN_SECONDS
    left = DRAINED
    while raw.connection is not None and left > 0 and (seconds := end - time.monotonic()) > 0:
        _hurry(raw, seconds)
        left -= len(raw.read1(left, decode_content=False))


def _hurry(raw: HTTPResponse, seconds: float) -> None:
    sock = getattr(raw.connection, "sock", None)
    if isinstance(sock, TimedSocket):
        sock.due = time.monotonic() + seconds
    elif isinstance(sock, socket.socket):
        sock.settimeout(seconds)


def _peer_of(response: requests.Response) -> str | None:
    """Return the address that a response came from, if it has one that says where it is.

    A cache and a mock have none; that of a proxy says nothing of the host behind it. Connections
    of our own were shown to the guard before anything was sent.
    """
    raw: Any = response.raw
    connection: Any = getattr(raw, "connection", None)
    if type(connection) not in _PLAIN_CONNECTIONS or connection.proxy is not None:
        return None
    try:
        with socket.fromfd(raw.fileno(), socket.AF_INET, socket.SOCK_STREAM) as twin:
            peer = twin.getpeername()
    except OSError:
        return None
    return str(peer[0]) if isinstance(peer, tuple) else None
