"""URLs as our clients send them."""

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import requests

from usp._display import redact_argument, without_credentials

__all__ = ["Login", "host_of", "is_web_url", "location_text", "prepare_url", "split_login"]

Login = tuple[str, str]
"""A user and a password."""
_ASCII: Final = bytes(range(128))
_PREPARED_URL: Final = re.compile(
    r"https?://[a-z0-9](?:[a-z0-9.-]*+)(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?(?:/(?!\.)[\w~!$&'()*+,;=:@.-]*+)++"
    r"(?:\?[\w~!$&'()*+,;=:@/.-]++)?",
    re.ASCII,
)
"""URLs that are sent as they are: nothing to quote, no dots after a slash; as nearly all are."""

_WEB_URL: Final = re.compile(
    r"""\s*+ https?://
    (?: [^/?\#@]*+ @ )*+                                            # user and password
    (?: \[ [^][/?\#@\\]*+ \] | [^][/?\#@\\:\x00-\x20\x7f]++ )  # host
    (?: : [0-9]*+ )?+ (?: [/?\#] | \Z )
    """,
    re.IGNORECASE | re.VERBOSE,
)
r"""A URL whose host every parser reads in the same way.

For ``urllib.parse``, ``http://evil.test\.site.example/`` belongs to ``site.example``. urllib3
connects to ``evil.test``, as browsers do, and would send the secrets of ``site.example`` there.
"""


def is_web_url(url: str) -> bool:
    """Tell whether a URL is for HTTP or HTTPS, with a host that can't be mistaken for another."""
    return _WEB_URL.match(url) is not None


def prepare_url(url: str) -> str:
    """Return an HTTP(S) URL as it is sent: illegal characters quoted, the host name in ASCII.

    :raises ValueError: if it can't be sent.
    """
    if _PREPARED_URL.fullmatch(url):
        return url
    request = requests.PreparedRequest()
    request.prepare_url(url, None)
    return request.url or url


def location_text(location: bytes) -> str:
    """Return the ``Location`` of a redirect: UTF-8, or else bytes that a URL has percent-encoded.

    So browsers read it; to guess another encoding would lead to another URL.
    """
    try:
        return location.decode()
    except UnicodeDecodeError:
        return quote(location, safe=_ASCII)


def split_login(url: str) -> tuple[str, Login | None]:
    """Return a URL without its user and password, and those.

    So no library that is given the URL can put them into a message.

    :raises requests.exceptions.InvalidURL: if it is malformed, perhaps because of its password.
    """
    if "@" not in url:
        return url, None
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        message = f"the URL is malformed: {redact_argument(url)}"
        raise requests.exceptions.InvalidURL(message) from None
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    has_login = bool(user or password)
    return without_credentials(url), (unquote(user), unquote(password)) if has_login else None


@lru_cache(maxsize=512)  # several rules ask for the host of each request
def host_of(url: str) -> str:
    """Return the host of a URL as connections name it: lower case, without a trailing dot."""
    return (urlsplit(url).hostname or "").rstrip(".")
