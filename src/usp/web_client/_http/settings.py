"""What a caller may set on a client of ours: looked at when it is set, and here for all of them.

Rules of this room: a check returns what is meant or raises ``SitemapException`` in one line that
names the setting. What is longer than a month is no limit, as far as waiting goes.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from usp._validate import argument_error, check_flags, check_int, check_number

if TYPE_CHECKING:
    import ssl

__all__ = [
    "Timeout",
    "Verify",
    "headers",
    "length",
    "limit",
    "proxies",
    "timeout",
    "url",
    "verify",
    "verify_or_context",
    "wait",
]

Verify: TypeAlias = "bool | str | Path | ssl.SSLContext"
"""Whether certificates are checked, the authorities (file or folder), or all settings of TLS."""
Timeout = tuple[float | None, float | None]
"""Seconds to connect, and to wait for bytes."""

_MONTH: Final = 30 * 24 * 3600.0
_TEXTS: Final = "a mapping of texts to texts"
_NO_HEADER: Final = re.compile(r"[\r\n\0]")
_SHORTEST: Final = 1e-6
"""No seconds at all would let nothing come."""


def wait(given: object, random_wait: object) -> float:
    """Return the seconds between requests; None is none."""
    check_flags(random_wait=random_wait)
    return 0.0 if given is None else min(check_number("wait", given, 0, math.inf), _MONTH)


def timeout(given: object) -> Timeout:
    """Return how long to wait: one number for both, or a pair; None waits for ever."""
    pair = given if isinstance(given, tuple) else (given, given)
    if len(pair) != 2:  # noqa: PLR2004 -- a pair
        raise argument_error("timeout", "seconds, or (to connect, for bytes)", given)
    connect, read = (limit("timeout", seconds) for seconds in pair)
    return connect, read


def limit(name: str, given: object) -> float | None:
    """Return how many seconds something may take; None is no limit."""
    if given is None:
        return None
    seconds = check_number(name, given, _SHORTEST, math.inf)
    return None if seconds > _MONTH else seconds


def length(given: object) -> int | None:
    """Return how many bytes are read at most; None and 0 are no limit."""
    return None if given is None else check_int("max_response_data_length", given, 0) or None


def proxies(given: object) -> dict[str, str]:
    """Return proxies by scheme; None, as in requests, is none whatever the environment says."""
    found = _mapping("proxies", given)
    return _texts("proxies", {scheme: "" if url is None else url for scheme, url in found.items()})


def headers(given: object) -> dict[str, str]:
    """Return headers by name."""
    found = _texts("headers", _mapping("headers", given))
    if any(_NO_HEADER.search(part) for header in found.items() for part in header):
        raise argument_error("headers", "texts without line breaks", given)
    return found


def url(given: object) -> str:
    """Return what is to be fetched; whether it can be is another matter."""
    if not isinstance(given, str):
        raise argument_error("url", "a text", given)
    return given


def _mapping(name: str, given: object) -> Mapping[object, object]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise argument_error(name, _TEXTS, given)
    return given


def _texts(name: str, given: Mapping[object, object]) -> dict[str, str]:
    found = {
        key: text for key, text in given.items() if isinstance(key, str) and isinstance(text, str)
    }
    if len(found) < len(given):
        raise argument_error(name, _TEXTS, given)
    return found


def verify(given: object) -> bool | str:
    """Return whom to trust; 0 and 1 are no and yes, as programs of 1.8.1 may have it."""
    if isinstance(given, int) and given in (0, 1):
        return bool(given)
    if isinstance(given, str | Path) and str(given):
        return str(given)
    raise argument_error("verify", "True, False or the path of authorities", given)


def verify_or_context(given: object) -> "bool | str | ssl.SSLContext":
    """Return whom to trust, where all settings of TLS may be given as well."""
    import ssl  # the sync client and its parents are loaded without it

    return given if isinstance(given, ssl.SSLContext) else verify(given)
