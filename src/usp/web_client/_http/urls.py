"""URLs as our clients send them."""

from urllib.parse import urlsplit

import requests

__all__ = ["host_of", "is_web_url", "prepare_url"]


def is_web_url(url: str) -> bool:
    """Tell whether a URL is for HTTP or HTTPS."""
    return url.lstrip().lower().startswith(("http://", "https://"))


def prepare_url(url: str) -> str:
    """Return an HTTP(S) URL as it is sent: illegal characters quoted, the host name in ASCII.

    :raises ValueError: if it can't be sent.
    """
    request = requests.PreparedRequest()
    request.prepare_url(url, None)
    return request.url or url


def host_of(url: str) -> str:
    """Return the host of a URL as connections name it: lower case, without a trailing dot."""
    return (urlsplit(url).hostname or "").rstrip(".")
