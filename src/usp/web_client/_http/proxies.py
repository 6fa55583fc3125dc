"""Proxies: their URLs may have a user and password, which must not appear in a message."""

import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from usp.exceptions import MissingExtraError, UsageError

__all__ = [
    "ANY_SITE",
    "MALFORMED",
    "check_proxy",
    "check_socks_library",
    "is_proxy",
    "reject_socks",
    "used_proxies",
]

ANY_SITE: Final = ("http://site.example/", "https://site.example/")
"""Sites that stand for most: no setting names them."""

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


def used_proxies(proxies: Mapping[str, str]) -> list[str | None]:
    """Return those of some proxies by scheme that most sites are fetched through.

    One for all schemes is not used beside one for http and one for https, nor is one for ftp.
    """
    from requests.utils import select_proxy  # takes long, too

    return [select_proxy(url, proxies) for url in ANY_SITE]


def check_socks_library(proxies: Iterable[str | None]) -> None:
    """Check that requests can use some proxies: for SOCKS it needs another library.

    Without it every request would fail, and the site be called unreachable.

    :raises MissingExtraError: if it isn't installed.
    """
    if any(map(_is_socks, proxies)) and find_spec("socks") is None:
        raise MissingExtraError(
            "A SOCKS proxy needs PySocks, which is not installed: pip install PySocks"
        )


def reject_socks(proxies: Iterable[str | None]) -> None:
    """Check that aiohttp can use some proxies: it has no SOCKS at all.

    :raises UsageError: if it can't.
    """
    if any(map(_is_socks, proxies)):
        raise UsageError(
            "a SOCKS proxy can't be used in asyncio, which fetches for usp crawl and live pages, "
            "too: aiohttp knows HTTP proxies only."
        )


def _is_socks(proxy: str | None) -> bool:
    scheme, is_url, _ = (proxy or "").partition("://")  # else it is a host, of any name
    return bool(is_url) and scheme.lower().startswith("socks")
