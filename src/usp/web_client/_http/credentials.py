"""Which hosts get the caller's credentials: the ``Authorization`` and ``Cookie`` headers.

They go to the domain of the homepage only. Credentials of a host, from its URL or from ``.netrc``,
are not the caller's for the crawl and go to that host.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from usp.web_client._http.urls import host_of, prepare_url

__all__ = ["CREDENTIAL_HEADERS", "Homepage", "basic_auth", "is_same_site", "split_headers"]

CREDENTIAL_HEADERS: Final = ("Authorization", "Cookie")


@dataclass(frozen=True, slots=True)
class Homepage:
    """The homepage of a crawl."""

    url: str | None = None
    host: str | None = None
    """The host as connections name it; None if the URL has none."""

    @classmethod
    def of(cls, url: str) -> "Homepage":
        """Return the homepage at a URL."""
        try:
            return cls(url, host_of(prepare_url(url)))
        except ValueError:
            return cls(url)

    def is_trusted(self, url: str) -> bool:
        """Tell whether a URL gets the caller's credentials; without a homepage, every URL does.

        Hosts outside the homepage's domain don't. Nor does a URL without TLS if the homepage has
        it: a sitemap declared with http, or tried over http, would expose them.
        """
        domain = (self.host or "").removeprefix("www.")
        if not domain:
            return True
        host = host_of(url)
        is_inside = host == domain or host.endswith(f".{domain}")
        is_secure = (self.url or "").lower().startswith("https:")
        return is_inside and (not is_secure or url.lower().startswith("https:"))


def split_headers(headers: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the caller's headers in two parts: those for every host, and the credentials."""
    secret = {name.lower(): name for name in CREDENTIAL_HEADERS}
    plain = {name: value for name, value in headers.items() if name.lower() not in secret}
    credentials = {
        secret[name.lower()]: value for name, value in headers.items() if name.lower() in secret
    }
    return plain, credentials


def basic_auth(user: str, password: str) -> str:
    """Return the ``Authorization`` header of a user (RFC 7617)."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def is_same_site(url: str, target: str) -> bool:
    """Tell whether a redirect may carry credentials along: same host, and TLS is kept."""
    is_downgrade = url.lower().startswith("https:") and not target.lower().startswith("https:")
    return host_of(url) == host_of(target) and not is_downgrade
