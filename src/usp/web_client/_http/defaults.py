"""What the clients of ours have in common: who they say they are, how long they wait, whom they
trust, and how they read what a server says about its answer.

Rules of this room: values and pure functions; nothing here asks the web.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import requests

from usp._version import __version__
from usp.web_client._http.address_guard import host_of

__all__ = [
    "CREDENTIALS",
    "DEADLINE",
    "DRAINED",
    "DRAIN_SECONDS",
    "SUCCESS",
    "TIMEOUT",
    "USER_AGENT",
    "host_of_homepage",
    "is_foreign_host",
    "is_web_url",
    "phrase",
    "prepared",
    "seconds",
]

USER_AGENT: Final = f"ultimate_sitemap_parser/{__version__}"
TIMEOUT: Final = (9.05, 60.0)
"""Seconds to connect (just over three TCP retransmissions) and to wait for bytes."""
DEADLINE: Final = 300.0
"""Seconds from the request to the end of the document."""
SUCCESS: Final = range(200, 300)
CREDENTIALS: Final = ("Authorization", "Cookie")
DRAINED: Final = 64 * 1024
"""So much of a body that nobody wants is read, to keep the connection."""
DRAIN_SECONDS: Final = 1.0


def is_web_url(url: str) -> bool:
    """Tell whether a URL is for HTTP or HTTPS."""
    return url.lstrip().lower().startswith(("http://", "https://"))


def prepared(url: str) -> str:
    """Return an HTTP(S) URL as it is sent: what may not stand in one is quoted, names in ASCII.

    :raises ValueError: if it can't be sent.
    """
    request = requests.PreparedRequest()
    request.prepare_url(url, None)
    return request.url or url


def host_of_homepage(url: str) -> str | None:
    """Return the host of a homepage as connections will name it; None if it has none."""
    try:
        return host_of(prepared(url))
    except ValueError:
        return None


def is_foreign_host(url: str, home: str | None, homepage_url: str | None) -> bool:
    """Tell whether a URL is none to send credentials to; without a homepage, none is.

    Those are hosts outside its domain, and where it is reached by https, whatever isn't: a sitemap
    declared with http, or tried that way, would give them to all who listen.
    """
    domain = (home or "").removeprefix("www.")
    if not domain:
        return False
    host = host_of(url)
    outside = host != domain and not host.endswith(f".{domain}")
    secure = (homepage_url or "").lower().startswith("https:")
    return outside or (secure and not url.lower().startswith("https:"))


def phrase(status: int, reason: str | None) -> str:
    """Return the words after a status: the server's, or else the usual ones."""
    if reason:
        return str(reason)
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown status"


def seconds(retry_after: str | None) -> float | None:
    """Read ``Retry-After``: seconds, or a date (RFC 9110 10.2.3)."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):  # a zone, too, may be beyond all numbers
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)
