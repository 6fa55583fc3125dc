"""Proxies: their URLs may have a user and password, which must not appear in a message."""

import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from usp.exceptions import MissingExtraError, UsageError

__all__ = [
    "ANY_SITE",
    "check_proxy",
    "check_socks_library",
    "check_usable",
    "proxy_fault",
    "proxy_url",
    "reject_socks",
    "used_proxies",
]

ANY_SITE: Final = ("http://site.example/", "https://site.example/")
"""Sites that stand for most: no setting names them."""

_SCHEMES: Final = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
_MALFORMED: Final = "the URL of the proxy is malformed (its user and password must be quoted)"

_HOST: Final = re.compile(r"[\w.:%-]++")
"""A name, also one with letters of any language, or an address, also one of IPv6 with its scope."""


def proxy_url(given: str) -> str:
    """Return the URL of a proxy; without a scheme it is one for HTTP, as for curl.

    Libraries take ``localhost:3128`` for a URL of the scheme ``localhost``.
    """
    return given if "://" in given else f"http://{given.removeprefix('//')}"


def proxy_fault(proxy: str) -> str:
    """Return what a proxy must be and isn't, without quoting it; empty if it can be one."""
    url = proxy_url(proxy)
    if url.partition("://")[0].lower() not in _SCHEMES:
        return f"URLs of {', '.join(_SCHEMES)}"
    return "" if _is_well_formed(url) else f"URLs or hosts: {_MALFORMED}"


def _is_well_formed(url: str) -> bool:
    try:
        parts = urlsplit(url)
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
    if not _is_well_formed(proxy_url(proxy)):
        import requests  # takes long, and settings are checked without it

        raise requests.exceptions.InvalidProxyURL(_MALFORMED)


def check_usable(proxy: str | None, url: str) -> None:
    """Check the proxy that a site is fetched through, which the environment may name.

    :raises UsageError: if it can't be one; no request would succeed.
    """
    if proxy and (fault := proxy_fault(proxy)):
        scheme = urlsplit(url).scheme.lower()
        variables = f"{scheme.upper()}_PROXY and ALL_PROXY in the environment"
        raise UsageError(f"proxies for {scheme} sites ({variables}) must be {fault}.")


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
