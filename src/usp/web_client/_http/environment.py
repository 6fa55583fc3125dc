"""What the environment says about requests: proxies, the CA bundle, and ``.netrc``.

requests reads all of it again for every request, which takes longer than to send one. A crawl reads
it once, and once a host what depends on the host; the next crawl reads it anew.
"""

import os
from collections.abc import Mapping
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from requests.utils import get_environ_proxies

from usp._lazy import lazy_property
from usp.web_client._http.credentials import Homepage
from usp.web_client._http.urls import Login, host_of

__all__ = ["Environment"]

_CA_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_EXCEPTIONS: Final = "no"
"""The name that ``NO_PROXY`` has among the proxies."""
_NETRC_FILES: Final = ("~/.netrc", "~/_netrc")
"""Where logins are, as for requests, unless ``NETRC`` says it."""
_DEFAULT: Final = "default"
"""The name that ``netrc`` has for the entry of all hosts that have none."""


class Environment:
    """The environment of one crawl; any thread may ask."""

    def __init__(self) -> None:
        self._proxies: dict[str, Mapping[str, str]] = {}

    @lazy_property
    def ca_bundle(self) -> str | None:
        """The CA bundle that is used instead of that of certifi."""
        return os.environ.get(self.ca_bundle_variable) or None

    @lazy_property
    def ca_bundle_variable(self) -> str:
        """The variable that names it; empty if none does."""
        return next((name for name in _CA_BUNDLES if os.environ.get(name)), "")

    @lazy_property
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

    def login_for(self, url: str, homepage: Homepage, *, is_redirect: bool = False) -> Login | None:
        """Return the user and password of ``.netrc`` that a URL gets in a crawl.

        The ``default`` entry names no host: a host that the caller did not name does not get it.
        """
        if not homepage.allows_netrc(url):
            return None
        logins, default = self._logins
        is_named = homepage.is_at(url) or (homepage.is_anywhere and not is_redirect)
        return logins.get(host_of(url), default if is_named else None)

    @lazy_property
    def _logins(self) -> tuple[Mapping[str, Login | None], Login | None]:
        """The logins of ``.netrc`` by host, and the default; a file that can't be read has none."""
        named = os.environ.get("NETRC")
        try:
            paths = [
                Path(name).expanduser() for name in (_NETRC_FILES if named is None else (named,))
            ]
            found = next((path for path in paths if path.exists()), None)
            entries = netrc(found).hosts if found else {}
        except (NetrcParseError, OSError, RuntimeError, UnicodeError):  # runtime: there is no home
            entries = {}
        logins = {host: _login(*entry) for host, entry in entries.items()}
        default = logins.pop(_DEFAULT, None)
        return logins, default


def _login(user: str | None, account: str | None, password: str | None) -> Login | None:
    """Return the login of an entry: as for requests, the account is the user if there is none."""
    return (user or account or "", password or "") if user or account or password else None
