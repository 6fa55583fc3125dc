"""Checks of the settings of our clients: the same for both.

A check returns the value in the form that the clients use, or raises ``UsageError`` in one line
that names the setting. Times above a month count as no limit.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from usp._validate import argument_error, check_flags, check_int, check_number
from usp.exceptions import UsageError
from usp.web_client._http.proxies import proxy_fault, proxy_url

if TYPE_CHECKING:
    import ssl

    import urllib3

__all__ = [
    "GivenTimeout",
    "Timeout",
    "headers",
    "length",
    "limit",
    "proxies",
    "timeout",
    "url",
    "user_agent",
    "verify",
    "verify_or_context",
    "wait",
]

Timeout = tuple[float | None, float | None]
"""Seconds to connect, and to wait for bytes."""
GivenTimeout: TypeAlias = "float | tuple[float | None, float | None] | urllib3.Timeout | None"
"""What a caller may give as a timeout."""

_MONTH: Final = 30 * 24 * 3600.0
_STRINGS: Final = "a mapping of strings to strings"
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 5.6.2
_NOT_IN_A_VALUE: Final = re.compile(r"[^\t -~\x80-\xff]")
_MIN_SECONDS: Final = 1e-6
"""Zero seconds would time out at once."""


def wait(given: object, random_wait: object) -> float:
    """Return the seconds between requests; None is zero, and not at random, as in 1.8.1."""
    check_flags(random_wait=False if random_wait is None else random_wait)
    return 0.0 if given is None else min(check_number("wait", given, 0, math.inf), _MONTH)


def timeout(given: object) -> Timeout:
    """Return a timeout: one number for both parts, a pair, or urllib3's; None for no limit."""
    if not isinstance(given, (int, float, str, bytes, tuple, type(None))):
        given = _parts_of_urllib3(given)
    pair = given if isinstance(given, tuple) else (given, given)
    if len(pair) != 2:  # noqa: PLR2004 -- a pair
        raise argument_error("timeout", "seconds, or (to connect, to wait for bytes)", given)
    connect, read = (limit("timeout", seconds) for seconds in pair)
    return connect, read


def _parts_of_urllib3(given: object) -> object:
    """Return the two parts of a ``urllib3.Timeout``, which programs for 1.8.1 pass through."""
    import urllib3  # the abstract clients are loaded without it

    if not isinstance(given, urllib3.Timeout):
        return given
    started = given.clone()
    started.start_connect()  # else a total has no part for reading
    resolve = urllib3.Timeout.resolve_default_timeout
    return resolve(started.connect_timeout), resolve(started.read_timeout)


def limit(name: str, given: object) -> float | None:
    """Return the maximum number of seconds; None is no limit."""
    if given is None:
        return None
    seconds = check_number(name, given, _MIN_SECONDS, math.inf)
    return None if seconds > _MONTH else seconds


def length(given: object) -> int | None:
    """Return the maximum number of bytes; None and 0 are no limit."""
    return None if given is None else check_int("max_response_data_length", given, 0) or None


def proxies(given: object) -> dict[str, str]:
    """Return proxies by scheme; None for one means no proxy, whatever the environment says."""
    found = _mapping("proxies", given)
    urls = _strings(
        "proxies", {scheme: "" if url is None else url for scheme, url in found.items()}
    )
    for url in filter(None, urls.values()):
        if fault := proxy_fault(url):
            raise UsageError(f"proxies must be {fault}.")
    return {scheme: url and proxy_url(url) for scheme, url in urls.items()}


def headers(given: object) -> dict[str, str]:
    """Return headers by name."""
    if not isinstance(given, Mapping | None):  # no message quotes one: it may be a secret
        raise UsageError(f"headers must be {_STRINGS}, not of type {type(given).__name__}.")
    found = _strings("headers", given or {})
    for name, value in found.items():
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError("headers must be what HTTP allows: the name of one isn't.")
        if _NOT_IN_A_VALUE.search(value):
            raise UsageError(f"headers must be what HTTP allows: the value of {name!r} isn't.")
    return found


def user_agent(given: object) -> str | None:
    """Return the user agent; None is the default."""
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip() or _NOT_IN_A_VALUE.search(given):
        raise argument_error("user_agent", "a string that can stand in a header", given)
    return given


def url(given: object) -> str:
    """Return the URL to fetch; whether it can be fetched is judged later."""
    if not isinstance(given, str):
        raise argument_error("url", "a string", given)
    return given


def _mapping(name: str, given: object) -> Mapping[object, object]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise argument_error(name, _STRINGS, given)
    return given


def _strings(name: str, given: Mapping[object, object]) -> dict[str, str]:
    found = {
        key: text for key, text in given.items() if isinstance(key, str) and isinstance(text, str)
    }
    if len(found) < len(given):
        names = ", ".join(repr(key) for key in given if key not in found)
        raise UsageError(f"{name} must be {_STRINGS}: {names} isn't.")
    return found


def verify(given: object) -> bool | str:
    """Return whether to check certificates, or the path of a CA bundle.

    0 and 1 are accepted, and None is the default, as in 1.8.1.
    """
    if given is None:
        return True
    if isinstance(given, int) and given in (0, 1):
        return bool(given)
    if isinstance(given, str | Path) and str(given):
        return str(given)
    raise argument_error("verify", "True, False or the path of a CA bundle", given)


def verify_or_context(given: object) -> "bool | str | ssl.SSLContext":
    """Return the same, or an ``ssl.SSLContext``."""
    import ssl  # the abstract clients are loaded without it

    return given if isinstance(given, ssl.SSLContext) else verify(given)
