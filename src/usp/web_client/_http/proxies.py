"""Proxies: their URLs may have a user and password, which must not appear in a message."""

from typing import Final
from urllib.parse import urlsplit

import requests

__all__ = ["check_proxy"]

_MALFORMED: Final = "the URL of the proxy is malformed (its user and password must be quoted)"


def check_proxy(proxy: str) -> None:
    """Reject the URL of a proxy that is malformed, before a library quotes parts of it.

    A password with a ``/`` or ``#`` in it ends the host too early: what follows would be taken for
    a port or a path, and quoted in an error.

    :raises requests.exceptions.InvalidProxyURL: without the URL in its message.
    """
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        is_sound = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    else:
        is_sound = is_sound and "@" not in f"{parts.path}{parts.query}{parts.fragment}"
    if not is_sound:
        raise requests.exceptions.InvalidProxyURL(_MALFORMED)
