"""Which addresses a crawl may reach.

Rules of this room: what counts as public is a pure function of the address; whether a crawl stays
outside is decided once a crawl, by where its homepage is. Nothing here connects to anything: the
transport asks, with the address that it has connected to.
"""

import socket
import threading
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from usp.exceptions import AddressRefusedError, SitemapException

__all__ = ["AddressRule", "Guard", "LookUp", "host_of", "is_public"]

AddressRule = Literal["auto", "refuse", "allow"]
"""``auto``: private addresses are refused where the homepage is on a public one."""

LookUp = Callable[[str | None], list[str]]
"""Gives the addresses of a host; none where there is no telling."""

_HOLDS_IPV4: Final = {
    IPv6Network("::/96"): 0,  # IPv4-compatible, long out of use and still routed by some
    IPv6Network("::ffff:0:0/96"): 0,  # IPv4-mapped
    IPv6Network("64:ff9b::/96"): 0,  # NAT64
    IPv6Network("2002::/16"): 80,  # 6to4
}
"""IPv6 networks whose addresses stand for an IPv4 one, and how many bits follow it."""


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the open internet.

    Private, shared, loopback, link-local, site-local, unspecified, multicast and reserved ones are
    not; neither are IPv6 addresses that stand for such an IPv4 one.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        for network, bits_after in _HOLDS_IPV4.items():
            if ip in network:
                return _is_open(IPv4Address(int(ip) >> bits_after & 0xFFFF_FFFF))
    return _is_open(ip)


def _is_open(ip: IPv4Address | IPv6Address) -> bool:
    # is_global alone counts multicast and, in IPv6, site-local and unassigned networks in.
    closed = ip.is_multicast or ip.is_reserved or (ip.version == 6 and ip.is_site_local)  # noqa: PLR2004 -- the IP version
    return ip.is_global and not closed


def look_up(host: str | None) -> list[str]:
    """Ask the system for the addresses of a host, and wait for them."""
    if host is None:
        return []
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def host_of(url: str) -> str:
    """Return the host of a URL as connections name it: small letters, no dot at the end."""
    return (urlsplit(url).hostname or "").rstrip(".")


class Guard:
    """Keeps a crawl that is outside from going inside.

    In ``auto`` the first connection to the homepage's own host tells where the crawl is. A
    connection to another host that comes before it has the homepage's name looked up first; where
    there is no telling, the crawl counts as outside.
    """

    def __init__(
        self,
        rule: AddressRule,
        is_public: Callable[[str], bool] = is_public,
        look_up: LookUp = look_up,
    ) -> None:
        if rule not in get_args(AddressRule):
            raise SitemapException(f"private_addresses must be auto, refuse or allow, not {rule!r}")
        self._rule = rule
        self._is_public = is_public
        self._look_up = look_up
        self._home: str | None = None
        self._outside: bool | None = rule == "refuse"
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type["Guard"], tuple[AddressRule, Callable[[str], bool], LookUp]]:
        """Travel without the lock; where the homepage is, is found out anew."""
        return type(self), (self._rule, self._is_public, self._look_up)

    @property
    def decided(self) -> bool:
        """Whether it is known where the crawl is, so that nothing has to be looked up."""
        return self._outside is not None

    def start(self, home: str | None) -> None:
        """Begin a crawl, with the host of its homepage."""
        if self._rule == "auto":
            self._home = home
            self._outside = None

    def admit(self, host: str, address: str) -> None:
        """Let a connection to a host, which is at an address, be used.

        :raises AddressRefusedError: if it must not be.
        """
        if self._rule == "allow" or not self._is_outside(host, address):
            return
        if not self._is_public(address):
            raise AddressRefusedError(
                f"{host} is at {address}, which is not a public address: refused"
            )

    def _is_outside(self, host: str, address: str) -> bool:
        with self._lock:
            if self._outside is None:
                known = [address] if host == self._home else self._look_up(self._home)
                if not known:
                    return True  # for now: the next connection asks again
                self._outside = any(map(self._is_public, known))
            return self._outside
