"""What the environment says about requests: proxies, the CA bundle, and ``.netrc``.

requests reads all of it again for every request, which takes longer than to send one. A crawl reads
it once, and once a host what depends on the host; the next crawl reads it anew.
"""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from requests.utils import get_environ_proxies, get_netrc_auth

from usp.web_client._http.urls import Login, host_of

__all__ = ["Environment"]

_CA_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_EXCEPTIONS: Final = "no"
"""The name that ``NO_PROXY`` has among the proxies."""


class Environment:
    """The environment of one crawl; any thread may ask."""

    def __init__(self) -> None:
        self._proxies: dict[str, Mapping[str, str]] = {}
        self._logins: dict[str, Login | None] = {}

    @cached_property
    def ca_bundle(self) -> str | None:
        """The CA bundle that is used instead of that of certifi."""
        return os.environ.get(self.ca_bundle_variable) or None

    @cached_property
    def ca_bundle_variable(self) -> str:
        """The variable that names it; empty if none does."""
        return next((name for name in _CA_BUNDLES if os.environ.get(name)), "")

    @cached_property
    def has_proxies(self) -> bool:
        """Whether any URL has a proxy."""
        return any(name != _EXCEPTIONS for name in getproxies())

    def proxies_for(self, url: str) -> Mapping[str, str]:
        """Return the proxies by scheme that hold for a URL: none if ``NO_PROXY`` has its host."""
        if not self.has_proxies:
            return {}
        host = urlsplit(url).netloc  # NO_PROXY may name a port
        if host not in self._proxies:
            self._proxies[host] = get_environ_proxies(url)
        return self._proxies[host]

    def login_for(self, url: str) -> Login | None:
        """Return the user and password that ``.netrc`` has for the host of a URL."""
        host = host_of(url)
        if host not in self._logins:
            self._logins[host] = get_netrc_auth(url)
        return self._logins[host]
