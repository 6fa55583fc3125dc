"""Which IP addresses are public: our own table, the same on every version of Python.

``ipaddress.is_global`` follows the registries with a delay that differs between versions, and some
of what it calls global is not for websites.

Sources, as they were on 22 October 2024:

- IANA IPv4 Special-Purpose Address Registry
  https://www.iana.org/assignments/iana-ipv4-special-registry/
- IANA IPv6 Special-Purpose Address Registry
  https://www.iana.org/assignments/iana-ipv6-special-registry/
- IANA IPv4 and IPv6 address space: multicast, and 2000::/3 as all of global unicast
  https://www.iana.org/assignments/ipv6-address-space/

To update the table, add each row that the registries call not globally reachable. Rows inside of a
block that is listed as a whole (such as 192.0.0.9/32) are not web servers, and stay refused.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import Final

__all__ = ["NOT_PUBLIC_IPV4", "NOT_PUBLIC_IPV6", "is_public"]

NOT_PUBLIC_IPV4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # "this network", RFC 791
        "10.0.0.0/8",  # private use, RFC 1918
        "100.64.0.0/10",  # shared address space, RFC 6598
        "127.0.0.0/8",  # loopback, RFC 1122
        "168.63.129.16/32",  # not in the registry: the host agent of Azure, inside of its networks
        "169.254.0.0/16",  # link local, RFC 3927; the metadata services of most clouds
        "172.16.0.0/12",  # private use, RFC 1918
        "192.0.0.0/24",  # IETF protocol assignments, RFC 6890; 192.0.0.192 is a metadata service
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.88.99.0/24",  # deprecated: 6to4 relay anycast, RFC 7526
        "192.168.0.0/16",  # private use, RFC 1918
        "198.18.0.0/15",  # benchmarking, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/4",  # multicast, RFC 5771
        "240.0.0.0/4",  # reserved, RFC 1112; with 255.255.255.255, broadcast
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""Nothing outside of it is public: ``::/8``, unique local, link local, site local, multicast."""
NOT_PUBLIC_IPV6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # IETF protocol assignments, RFC 2928: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation, RFC 3849
        "3fff::/20",  # documentation, RFC 9637
    )
)
_EMBEDS_IPV4: Final = {
    IPv6Network("::ffff:0:0/96"): 0,  # IPv4-mapped, RFC 4291
    IPv6Network("64:ff9b::/96"): 0,  # NAT64, RFC 6052
    IPv6Network("2002::/16"): 80,  # 6to4, RFC 3056
}
"""IPv6 networks whose addresses stand for an IPv4 one, and how many bits follow it."""


def is_public(address: str) -> bool:
    """Tell whether an IP address is on the public internet.

    An IPv6 address that stands for an IPv4 one is as public as that.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in NOT_PUBLIC_IPV4)
    for network, bits_after in _EMBEDS_IPV4.items():
        if ip in network:
            return is_public(str(IPv4Address(int(ip) >> bits_after & 0xFFFF_FFFF)))
    return ip in _GLOBAL_UNICAST and not any(ip in network for network in NOT_PUBLIC_IPV6)
