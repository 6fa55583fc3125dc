"""The URL of a website, as people type it on the command line."""

import re
from typing import Final
from urllib.parse import urlsplit

from usp._validate import shown_argument
from usp.exceptions import SitemapException

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BARE_HOST: Final = re.compile(
    r"""(?: localhost | [\w-]+ (?=:) | [\w-]+ (?:\.[\w-]+)+ \.? | \[[0-9a-f:.]+\] ) (?: :\d+ )?""",
    re.IGNORECASE | re.VERBOSE,
)
"""A host without a scheme. A single word is rejected as a typo, except ``localhost``."""


def site_url(typed: str) -> str:
    """Return the URL of a website; a bare domain means https.

    Raises:
        SitemapException: it is not the URL of a website.

    """
    text = typed.strip()
    url = text if _SCHEME.match(text) else _url_of_bare_domain(text)
    if url is None or not _is_web_url(url):
        raise SitemapException(
            f"{shown_argument(typed)} is not the URL of a website: "
            "write it like https://example.org/ or example.org"
        )
    return url


def _url_of_bare_domain(text: str) -> str | None:
    host = re.split(r"[/?#]", text, maxsplit=1)[0]
    if not _BARE_HOST.fullmatch(host):
        return None
    return f"https://{text}/" if host == text else f"https://{text}"


def _is_web_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        return False
    clean = url.isprintable() and not re.search(r"\s", parts.netloc)
    return clean and has_host and parts.scheme in {"http", "https"}
