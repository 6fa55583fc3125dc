"""URLs that a crawl can start from, and paths of a website: checked as arguments."""

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._parse import is_http_url
from usp._validate import argument_error, check_strings

_BAD_HOST: Final = re.compile(r'[\s%<>"\\^`{|}\x00-\x1f\x7f]|^\.|\.\.|[^.]{64}')
"""What no host name contains: separators, empty labels, labels too long for DNS."""
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: no bytes can be made of it, so it can't be sent or stored."""
_BARE_HOST: Final = re.compile(
    r"""(?: localhost | [\w-]+ (?=:) | [\w-]+ (?:\.[\w-]+)+ \.? | \[[0-9a-f:.]+\] ) (?: :\d+ )?""",
    re.IGNORECASE | re.VERBOSE,
)
"""A host as people type it without a scheme."""
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_ANY_SITE: Final = "http://site.example/"


def url_with_scheme(name: str) -> str:
    """Return the URL that a name stands for: a bare domain means https; "" if it is neither.

    One word alone, other than localhost, is more likely a mistake than a host.
    """
    if _SCHEME.match(name):
        return name
    host = re.split(r"[/?#]", name, maxsplit=1)[0]
    return f"https://{name}" if _BARE_HOST.fullmatch(host) else ""


def schemes_to_try(given: str, url: str) -> tuple[str, ...]:
    """Return the URL of a site with https and then http, if it was given without a scheme."""
    return (url,) if "://" in given else (url, url.replace("https:", "http:", 1))


def host_and_port(url: str) -> str:
    """Return the host of a URL, with its port if there is one; empty for what is no URL."""
    try:
        return urlsplit(url).netloc
    except ValueError:  # for example an incomplete IPv6 address
        return ""


def is_start_url(url: str) -> bool:
    """Tell whether a crawl can start at a URL: HTTP(S), with a usable host and port."""
    if not is_http_url(url) or LONE_SURROGATE.search(url):
        return False
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:  # not a number, or too large
        return False
    return port != 0 and ("[" in parts.netloc or not _BAD_HOST.search(parts.hostname or ""))


def check_start_url(name: str, given: object) -> str:
    """Return a URL at which a crawl can start."""
    if not isinstance(given, str) or not is_start_url(given):
        raise argument_error(name, "an HTTP(S) URL", given)
    return given


def check_homepage(name: str, given: object) -> str:
    """Return the URL of a homepage; a bare domain means https."""
    url = url_with_scheme(given) if isinstance(given, str) else ""
    if not is_start_url(url):
        raise argument_error(name, "an HTTP(S) URL or a domain", given)
    return url


def check_paths(name: str, given: object) -> list[str]:
    """Return paths of a website."""
    found = check_strings(name, given)
    for path in found:
        try:
            is_path = is_start_url(urljoin(_ANY_SITE, path))
        except ValueError:
            is_path = False
        if not is_path:
            raise argument_error(name, "paths below a homepage", path)
    return found
