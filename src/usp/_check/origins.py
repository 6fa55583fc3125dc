"""The scheme and host of URLs, and the folder of a sitemap."""

import re
from typing import Final, NamedTuple

from usp._crawl.unique_urls import UniqueUrls
from usp._parse import BoundedLookup, keep

MAX_HOSTS: Final = 10_000
"""How many hosts are kept by name; a site with more is counted as a whole."""
_URL: Final = re.compile(
    r"(https?)://(?:[^/?#@]*+@)?(\[[^\]]*+\]|[^/?#:]*+)(:\d++)?", re.IGNORECASE
).match
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
MAX_HOST_NAME: Final = 300
"""How long the names of hosts are that are kept: those that exist have 253 characters at most."""
_AFTER_SCHEME: Final = len("https://")
_WWW: Final = "www."


class UrlOrigin(NamedTuple):
    """The scheme and host of a URL, in lower case."""

    scheme: str
    host: str
    """With its port, unless that is the usual one of the scheme."""

    @property
    def bare_host(self) -> str:
        """The host without ``www.``."""
        return self.host.removeprefix(_WWW)

    @property
    def is_www(self) -> bool:
        """Whether the host begins with ``www.``."""
        return self.host.startswith(_WWW)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}"


class Origins:
    """Looks up the origins of URLs; nearly all have one of a few."""

    def __init__(self) -> None:
        self._known = BoundedLookup(origin_of, MAX_HOSTS, MAX_HOST_NAME)

    def of(self, url: str) -> UrlOrigin | None:
        """Return the origin of a URL; None if it is no HTTP(S) URL with a host."""
        end = url.find("/", _AFTER_SCHEME)
        return self._known[url[:end] if end > 0 else url]


class ReadHosts:
    """The hosts of all listed pages: of other hosts, no sitemap was read."""

    def __init__(self) -> None:
        self._recent: dict[str, None] = {}
        self._all = UniqueUrls()

    def add(self, host: str) -> None:
        """Remember a host."""
        if host not in self._recent:
            if len(host) <= MAX_HOST_NAME:
                keep(self._recent, host, None, MAX_HOSTS)
            self._all.add(host)

    def __contains__(self, host: str) -> bool:
        return host in self._recent or host in self._all

    def has_hash(self, hashed: int) -> bool:
        """Tell whether a host with this hash is known."""
        return self._all.has_hash(hashed)


def origin_of(url: str) -> UrlOrigin | None:
    """Return the origin of a URL; None if it is no HTTP(S) URL with a host."""
    match = _URL(url)
    if match is None or not match[2]:
        return None
    scheme, host, port = match[1].lower(), match[2].lower(), match[3] or ""
    return UrlOrigin(scheme, host if port == _DEFAULT_PORTS[scheme] else host + port)


def host_of(url: str) -> str:
    """Return the host of a URL; empty if it is no HTTP(S) URL with a host."""
    origin = origin_of(url)
    return origin.host if origin else ""


def path_of(url: str) -> str:
    """Return the path of a URL, at least a slash, without parameters."""
    at = url.find("/", _AFTER_SCHEME)
    path = url[at:] if at > 0 else "/"
    return path.partition("#")[0].partition("?")[0]


def folder_of(url: str) -> str:
    """Return the folder of a URL: its path up to the last slash."""
    return path_of(url).rpartition("/")[0] + "/"
