"""The key of a URL: equal for the spellings that usually lead to the same page."""

import re
from typing import Final
from urllib.parse import urlsplit

_INDEX_PAGE: Final = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)\Z", re.IGNORECASE)
_DEFAULT_PORTS: Final = (":80", ":443")


def url_key(url: str) -> str:
    """Return the URL without scheme, ``www.``, case, final slash, index page and parameter order.

    A text that is no URL is its own key.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # for example an incomplete IPv6 address
        return url
    host = parts.netloc.rpartition("@")[2].lower().removeprefix("www.")
    for port in _DEFAULT_PORTS:
        host = host.removesuffix(port)
    path = _INDEX_PAGE.sub("", parts.path).rstrip("/").lower()
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return f"{host}{path}?{query}" if query else f"{host}{path}"
