"""Which hosts get the caller's secrets: headers such as ``Authorization`` and ``Cookie``, cookies
without a domain.

They go to the site of the homepage only, at its port, and over https only if the homepage has it.
Those of one host, from its URL or from ``.netrc``, go to that host; ``.netrc`` follows the rules of
https and of the homepage's port, too. Its ``default`` entry names no host: it goes to that of the
homepage. Another port is another server (curl: CVE-2022-27776).
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from usp._display import without_credentials
from usp._domains import registered_domain
from usp.web_client._http.urls import host_of, prepare_url

__all__ = [
    "CREDENTIAL_HEADERS",
    "OUTSIDE",
    "Homepage",
    "allows_cookie_domain",
    "basic_auth",
    "is_credential",
    "is_registered",
    "is_same_server",
    "split_headers",
]

CREDENTIAL_HEADERS: Final = ("Authorization", "Cookie")
"""The headers for credentials that HTTP itself has; requests knows them, too."""
_CREDENTIAL_WORDS: Final = (
    "auth",
    "cookie",
    "credential",
    "jwt",
    "key",
    "passw",
    "secret",
    "session",
    "signature",
    "token",
)
"""What the name of a header for credentials has in it: ``X-Api-Key``, ``PRIVATE-TOKEN``."""
_WWW: Final = "www."
_USUAL_PORTS: Final = {"http": 80, "https": 443}
_NO_PORT: Final = -1
"""What a URL has for a port that can't be one."""


@dataclass(frozen=True, slots=True)
class Homepage:
    """The homepage of a crawl."""

    host: str | None = None
    """The host as connections name it; None if there is none, as in the crawl of a file."""
    port: int | None = None
    """The port; None for the usual one of http and https, so that http may become https."""
    is_secure: bool = True
    """Whether secrets go out over https only."""
    is_anywhere: bool = False
    """There is no crawl: the caller names each URL, so each gets the caller's secrets."""

    @classmethod
    def of(cls, url: str) -> "Homepage":
        """Return the homepage at a URL; an empty one is that of a crawl without a site."""
        try:
            sent = prepare_url(without_credentials(url))
        except ValueError:
            return cls()
        is_secure = url.lstrip().lower().startswith("https:")
        return cls(host_of(sent), _port_of(sent), is_secure=is_secure)

    def is_trusted(self, url: str) -> bool:
        """Tell whether a URL gets the caller's secrets: it belongs to the site of the homepage, and
        has its port.

        Nor does a URL without TLS get them if the homepage has it: a sitemap declared with http,
        or tried over http, would expose them.
        """
        if self.is_anywhere:
            return True
        is_ours = _port_of(url) == self.port and _belongs_to(host_of(url), self.host)
        return is_ours and self.allows_scheme(url)

    def allows_netrc(self, url: str) -> bool:
        """Tell whether a URL gets what ``.netrc`` has for its host.

        It names no port: that of the homepage's host is the homepage's.
        """
        is_other_port = host_of(url) == self.host and not self.is_at(url)
        return self.allows_scheme(url) and not is_other_port

    def is_at(self, url: str) -> bool:
        """Tell whether a URL has the homepage's own host, and its port."""
        return host_of(url) == self.host and _port_of(url) == self.port

    def allows_scheme(self, url: str) -> bool:
        """Tell whether secrets may go out by the scheme of a URL."""
        return not self.is_secure or url.lstrip().lower().startswith("https:")


OUTSIDE: Final = Homepage(is_secure=False, is_anywhere=True)
"""What requests outside of any crawl have for a homepage."""


def _belongs_to(host: str, home: str | None) -> bool:
    """Tell whether a host belongs to the site of a homepage.

    That is the homepage's own host, without ``www.``, and every host below it: within the domain
    that somebody registered, as the public suffix list has it. So ``www.com`` is a site of its own
    and not all of ``.com``, and nothing below ``github.io`` belongs to ``github.io``.
    """
    if not home or not host:
        return False
    bare = home.removeprefix(_WWW)
    if host == home or not (host == bare or host.endswith(f".{bare}")):
        return host == home
    registered = registered_domain(home)
    if registered is None:
        return False
    if not f".{bare}".endswith(f".{registered}"):
        bare = home
    return host == bare or host.endswith(f".{bare}")


def allows_cookie_domain(domain: str, host: str) -> bool:
    """Tell whether a cookie for all hosts of a domain goes to one of them.

    Nobody registered ``co.uk`` or ``github.io``: a cookie for all of it would go to the sites of
    others. It is for the host of that name alone (RFC 6265 5.3, step 5).
    """
    return domain.lstrip(".").lower() == host or is_registered(domain)


def is_registered(domain: str) -> bool:
    """Tell whether a domain is no public suffix, no IP address and no single name."""
    return registered_domain(domain.lstrip(".").lower()) is not None


def is_credential(name: str) -> bool:
    """Tell whether a header is for credentials, by its name: one that only looks so counts."""
    lowered = name.lower()
    return any(word in lowered for word in _CREDENTIAL_WORDS)


def split_headers(headers: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the caller's headers in two parts: those for every host, and the credentials."""
    spelling = {name.lower(): name for name in CREDENTIAL_HEADERS}
    plain = {name: value for name, value in headers.items() if not is_credential(name)}
    credentials = {
        spelling.get(name.lower(), name): value
        for name, value in headers.items()
        if is_credential(name)
    }
    return plain, credentials


def basic_auth(user: str, password: str) -> str:
    """Return the ``Authorization`` header of a user (RFC 7617)."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def is_same_server(url: str, target: str) -> bool:
    """Tell whether a redirect may carry credentials along: same host and port, and TLS is kept.

    From the usual port of http to that of https, it is the same server.
    """
    is_downgrade = url.lower().startswith("https:") and not target.lower().startswith("https:")
    is_same = host_of(url) == host_of(target) and _port_of(url) == _port_of(target)
    return is_same and not is_downgrade


def _port_of(url: str) -> int | None:
    """Return the port of a URL; None for the usual one of its scheme."""
    parts = urlsplit(url)
    try:
        return None if parts.port == _USUAL_PORTS.get(parts.scheme) else parts.port
    except ValueError:  # nobody listens there
        return _NO_PORT
