"""Proxies: their URLs may have a user and password, which must not appear in a message."""

import re
from typing import Final
from urllib.parse import urlsplit

__all__ = ["MALFORMED", "check_proxy", "is_proxy"]

MALFORMED: Final = "the URL of the proxy is malformed (its user and password must be quoted)"

_HOST: Final = re.compile(r"[\w.:%-]++")
"""A name, also one with letters of any language, or an address, also one of IPv6 with its scope."""


def is_proxy(url: str) -> bool:
    """Tell whether a URL of a proxy, or its host alone, is well-formed."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        is_sound = _HOST.fullmatch(parts.hostname or "") is not None and parts.port != 0
    except ValueError:
        return False
    return is_sound and "@" not in f"{parts.path}{parts.query}{parts.fragment}"


def check_proxy(proxy: str) -> None:
    """Reject the URL of a proxy that is malformed, before a library quotes parts of it.

    A password with a ``/`` or ``#`` in it ends the host too early: what follows would be taken for
    a port or a path, and quoted in an error.

    :raises requests.exceptions.InvalidProxyURL: without the URL in its message.
    """
    if not is_proxy(proxy):
        import requests  # takes long, and settings are checked without it

        raise requests.exceptions.InvalidProxyURL(MALFORMED)
