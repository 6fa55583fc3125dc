"""What happens to a response before its body is read: address guard, deadline, redirects.

requests follows redirects by itself and reads the whole body of each. This hook sees every response
on the way: it stops a request that must not continue, and keeps unwanted bodies from being
downloaded. It is passed with one request, so a session of the caller's is not changed, and its own
hooks run as before.
"""

import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import Final
from urllib.parse import urljoin

import requests
import urllib3.exceptions
from requests.utils import get_netrc_auth
from urllib3.response import HTTPResponse

from usp._display import without_credentials
from usp.exceptions import DeadlineError
from usp.objects.fetch_info import Validators
from usp.web_client._http.credentials import is_credential, is_same_server
from usp.web_client._http.defaults import DRAIN_SECONDS, MAX_DRAINED_BYTES
from usp.web_client._http.error_responses import DEADLINE_MESSAGE
from usp.web_client._http.urls import host_of, is_web_url, location_text
from usp.web_client._requests.connections import TimedSocket
from usp.web_client._requests.peer import check_peer
from usp.web_client._requests.request_context import RequestContext
from usp.web_client._requests.transcript import add_to_transcript, drained
from usp.web_client.abstract_client import RequestWaiter

__all__ = ["ResponseHook", "drain"]

_CONDITIONS: Final = tuple(Validators("x", "x").headers())
_CARED_FOR: Final = frozenset({"authorization", "cookie"})
"""The credentials that requests itself removes from a redirect, or sets anew.
``Proxy-Authorization`` is not among them: it is removed only where there is a proxy."""


class ResponseHook:
    """The hooks for the responses to one request, redirects included."""

    def __init__(self, context: RequestContext, waiter: RequestWaiter) -> None:
        self._context = context
        self._waiter = waiter

    def check_address(
        self,
        response: requests.Response,
        proxies: Mapping[str, str] | None = None,
        **_: object,
    ) -> None:
        """Show the address of a response to the guard; one that is refused is closed."""
        with ExitStack() as undo:
            undo.callback(response.close)
            check_peer(response, self._context.guard, proxies or {})
            undo.pop_all()

    def __call__(self, response: requests.Response, **_: object) -> None:
        """Check a response; one that must not be used is closed."""
        with ExitStack() as undo:
            undo.callback(response.close)
            add_to_transcript(response)
            self._check(response)
            undo.pop_all()

    def _check(self, response: requests.Response) -> None:
        context = self._context
        context.sockets.check()
        context.wait.end(responded=True)
        if not response.is_redirect:
            return
        # http.client reads headers as Latin-1. requests wants UTF-8 in it, and fails otherwise.
        location = location_text(_first_location(response).encode("latin-1"))
        response.headers["Location"] = location.encode().decode("latin-1")
        target = urljoin(response.url, location)
        if not is_web_url(target):
            raise requests.exceptions.InvalidSchema(
                f"redirected to {without_credentials(target)}: not followed"
            )
        if not context.redirects_are_ours and self._would_leak(target):
            raise requests.exceptions.InvalidURL(
                f"redirected to {without_credentials(target)}: not followed, since the session "
                "would add credentials of .netrc, which must not go out over http, to another port "
                "or, if they are its default, to another host"
            )
        if context.deadline is not None and time.monotonic() >= context.deadline:
            raise DeadlineError(DEADLINE_MESSAGE)
        if host_of(target) != host_of(response.url):
            _drop(response, _CONDITIONS)
        if not is_same_server(response.url, target):
            _drop(response, [name for name in response.request.headers if _stays(name)])
        drain(response)
        self._wait()
        context.wait.start(target)

    def _would_leak(self, target: str) -> bool:
        """Tell whether requests would add credentials of ``.netrc`` that may not go out."""
        if not self._context.trust_env:
            return False
        allowed = self._context.netrc_login(target, is_redirect=True)
        try:
            return get_netrc_auth(target) not in {None, allowed}
        except UnicodeError:  # requests would fail in the same way, without a word of the file
            raise requests.exceptions.InvalidURL(
                f"redirected to {without_credentials(target)}: not followed, since the session "
                "can't read .netrc: it is not UTF-8"
            ) from None

    def _wait(self) -> None:
        """Wait until the next request may start; the deadline is put off by that."""
        seconds = self._context.sockets.wait(self._waiter.claim)
        if self._context.deadline is not None:
            self._context.deadline += seconds


def _first_location(response: requests.Response) -> str:
    """Return the first ``Location``: urllib3 joins several, and the text is another URL then."""
    location: str = response.headers["Location"]
    raw = getattr(response, "raw", None)
    values = raw.headers.getlist("Location") if isinstance(raw, HTTPResponse) else []
    return values[0] if ", ".join(values) == location else location  # a hook may have changed it


def _drop(response: requests.Response, names: Iterable[str]) -> None:
    """Leave headers out of a redirect: requests copies those of the request that it follows.

    Validators belong to the host that they came from, and credentials to their site.
    """
    for name in names:
        response.request.headers.pop(name, None)


def _stays(name: str) -> bool:
    """Tell whether a header for credentials stays on its site; requests cares for its own."""
    return is_credential(name) and name.lower() not in _CARED_FOR


def drain(response: requests.Response) -> None:
    """Read an unwanted body to its end if that is quickly done; else close its connection."""
    raw = getattr(response, "raw", None)
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
    if raw.chunked or raw.length_remaining is None:
        # Chunk ends can drip for ever: only a socket of ours has a deadline. And a plain
        # http.client waits for the chunks of a 304, which has none.
        return isinstance(sock, TimedSocket)
    return sock is not None and raw.length_remaining <= MAX_DRAINED_BYTES


def _drain(raw: HTTPResponse) -> None:
    """Read until the connection is released, or a limit is reached."""
    end = time.monotonic() + DRAIN_SECONDS
    left = MAX_DRAINED_BYTES
    while raw.connection is not None and left > 0 and (seconds := end - time.monotonic()) > 0:
        _limit_next_read(raw, seconds)
        chunk = raw.read1(left, decode_content=False)
        drained(raw, chunk)
        left -= len(chunk)


def _limit_next_read(raw: HTTPResponse, seconds: float) -> None:
    sock = getattr(raw.connection, "sock", None)
    if isinstance(sock, TimedSocket):
        sock.deadline = time.monotonic() + seconds
    elif isinstance(sock, socket.socket):
        sock.settimeout(seconds)
