"""The address that a response came from, for sessions whose connections are not ours.

Our own connections are shown to the guard before anything is sent. Others are known only once the
response is there. If it came over the network, its address must be known and admitted before it is
used. A mock, a cache or a file has no connection, so there is nothing to check.
"""

import errno
import http.client
import socket
from collections.abc import Mapping
from typing import Any, Final

import requests
from requests.utils import select_proxy
from urllib3.response import BaseHTTPResponse

from usp.web_client._http.address_guard import Guard
from usp.web_client._http.urls import host_of
from usp.web_client._requests.response_head import CheckedResponse

__all__ = ["check_peer"]

_UNKNOWN: Final = ""
"""The address of a response that came over the network from nobody knows where."""


def check_peer(response: requests.Response, guard: Guard, proxies: Mapping[str, str]) -> None:
    """Show the address of a response to the guard.

    :param proxies: those of the request; the address of a proxy says nothing about the host.
    :raises AddressRefusedError: if the address is refused, or can't be determined.
    """
    raw: Any = response.raw
    if isinstance(getattr(raw, "_original_response", None), CheckedResponse):
        return  # our own connection, which was admitted before
    address = _address_of(raw)
    if address is None or _is_proxied(raw, response.url, proxies):
        return
    if address == _UNKNOWN:
        guard.admit_unknown(host_of(response.url))
    else:
        guard.admit(host_of(response.url), address)


def _is_proxied(raw: Any, url: str, proxies: Mapping[str, str]) -> bool:  # noqa: ANN401 -- any body
    connection = getattr(raw, "connection", None)
    if getattr(connection, "proxy", None) is not None or hasattr(connection, "_socks_options"):
        return True
    return connection is None and bool(select_proxy(url, dict(proxies)))


def _address_of(raw: Any) -> str | None:  # noqa: ANN401 -- any body
    """Return the address of a response; None if it did not come over the network."""
    sock = getattr(getattr(raw, "connection", None), "sock", None)
    if isinstance(sock, socket.socket):
        return _peer_of(sock)
    descriptor = _descriptor_of(raw)
    if descriptor is not None:
        with socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as duplicate:
            return _peer_of(duplicate)
    # A response of http.client that is complete has closed its socket.
    is_from_network = isinstance(raw, BaseHTTPResponse) and (
        type(getattr(raw, "_original_response", None)) is http.client.HTTPResponse
    )
    return _UNKNOWN if is_from_network else None


def _descriptor_of(raw: Any) -> int | None:  # noqa: ANN401 -- any body
    """Return the descriptor of an open file or socket."""
    try:
        descriptor = raw.fileno()
    except (OSError, ValueError, AttributeError, TypeError):  # closed, or in memory
        return None
    return descriptor if isinstance(descriptor, int) and descriptor >= 0 else None


def _peer_of(sock: socket.socket) -> str | None:
    """Return the address at the other end; None if this is no socket but a file."""
    try:
        peer = sock.getpeername()
    except OSError as error:  # the other side has reset the connection, for example
        return None if error.errno == errno.ENOTSOCK else _UNKNOWN
    return str(peer[0]) if isinstance(peer, tuple) else _UNKNOWN
