"""The address guard (SSRF): which IP addresses a crawl may connect to.

Which addresses are public is in ``special_addresses``. Whether a crawl is confined to public
addresses is decided once a crawl, by the address of its homepage. Nothing here connects: a
connection asks the guard, with the address that it has.
"""

import socket
import threading
from collections.abc import Callable
from typing import Literal, get_args

from usp._forks import renewed_in_forks
from usp._validate import argument_error
from usp.exceptions import AddressRefusedError
from usp.web_client._http.special_addresses import is_public

__all__ = ["AddressRule", "Guard", "LookUp", "is_public"]

AddressRule = Literal["auto", "refuse", "allow"]
"""``auto``: private addresses are refused if the homepage has a public one."""

LookUp = Callable[[str | None], list[str]]
"""Returns the addresses of a host; none if they can't be found."""


def look_up(host: str | None) -> list[str]:
    """Return the addresses that the system has for a host; this blocks."""
    if host is None:
        return []
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


class Guard:
    """Keeps the crawl of a public site away from private addresses.

    With ``auto``, the first connection to the homepage's own host shows whether the site is public.
    If a connection to another host comes first, the homepage's name is looked up; if that fails,
    the site counts as public.
    """

    def __init__(
        self,
        rule: AddressRule,
        is_public: Callable[[str], bool] = is_public,
        look_up: LookUp = look_up,
    ) -> None:
        if rule not in get_args(AddressRule):
            raise argument_error("private_addresses", "'auto', 'refuse' or 'allow'", rule)
        self._rule = rule
        self._is_public = is_public
        self._look_up = look_up
        self._home: str | None = None
        self._confined: bool | None = rule == "refuse"
        self._lock = renewed_in_forks(threading.Lock())

    def __reduce__(self) -> tuple[type["Guard"], tuple[AddressRule, Callable[[str], bool], LookUp]]:
        """Pickle the rule only, without the lock and the verdict."""
        return type(self), (self._rule, self._is_public, self._look_up)

    @property
    def decided(self) -> bool:
        """Whether the verdict on the site is known, so that nothing has to be looked up."""
        return self._confined is not None

    def start(self, home: str | None) -> None:
        """Begin a crawl, with the host of its homepage."""
        if self._rule == "auto":
            self._home = home
            self._confined = None

    def admit(self, host: str, address: str) -> None:
        """Admit a connection to a host at an address.

        :raises AddressRefusedError: if the address is refused.
        """
        if self._rule == "allow" or not self._is_confined(host, address):
            return
        if not self._is_public(address):
            raise AddressRefusedError(
                f"{host} is at {address}, which is not a public address: refused"
            )

    def admit_unknown(self, host: str) -> None:
        """Admit a response of a host at an address that can't be determined.

        :raises AddressRefusedError: if private addresses are refused.
        """
        if self._rule != "allow" and self._is_confined(host, None):
            raise AddressRefusedError(
                f"the address of {host} can't be determined, so it may be private: refused"
            )

    def _is_confined(self, host: str, address: str | None) -> bool:
        with self._lock:
            if self._confined is None:
                at_home = [address] if address and host == self._home else []
                known = at_home or self._look_up(self._home)
                if not known:
                    return True  # the next connection tries again
                self._confined = any(map(self._is_public, known))
            return self._confined
