"""Registered domains, as the public suffix list has them: what somebody registered."""

from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registered_domain(host: str) -> str | None:
    """Return the domain that somebody registered; None for IP addresses, single names, suffixes."""
    return None if is_address(host) else _public_suffixes().privatesuffix(host)


def is_address(host: str) -> bool:
    """Tell whether a host is an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@cache
def _public_suffixes() -> "PublicSuffixList":
    """Return the public suffix list of the installed package: nothing is fetched."""
    from publicsuffixlist import PublicSuffixList  # few crawls need it, and it takes 50 ms

    return PublicSuffixList()
