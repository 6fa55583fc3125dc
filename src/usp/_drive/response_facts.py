"""What a response says, read with care: its class may be the caller's own.

A method may be missing, or return whatever a mock returns. What is not of the expected type counts
as not said.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from usp._display import without_credentials
from usp._parse import parse_date
from usp.objects.fetch_info import FetchInfo
from usp.objects.page import as_utc
from usp.web_client import challenge_in

CLIENT_BUGS: Final = (
    TypeError,
    AttributeError,
    NameError,
    NotImplementedError,
    AssertionError,
)
"""What means a bug in a client rather than a failed fetch, out of its ``get()`` or a response."""
_STATUSES: Final = range(100, 1000)


def if_there(response: object, name: str) -> Any:  # noqa: ANN401 -- whatever it returns
    """Return what a method returns, or None if a response doesn't have it.

    1.8.1 calls none of these on a success response, so there are some that can't be called.
    """
    method = getattr(response, name, None)
    with suppress(*(CLIENT_BUGS if name == "status_code" else ())):
        return method() if callable(method) else None
    return None


def fetch_info(response: Any, status: int | None, attempts: int) -> FetchInfo:  # noqa: ANN401 -- any response
    """Return what the head of a response says; an error of 1.8.1 has no headers."""
    header = _header_of(response)
    last_modified = text(header("Last-Modified"))
    return FetchInfo(
        status=status,
        content_type=text(header("Content-Type")),
        content_encoding=text(header("Content-Encoding")),
        etag=text(header("ETag")),
        last_modified=last_modified,
        http_last_modified=as_utc(parse_date(last_modified)) if last_modified else None,
        redirects=tuple(
            without_credentials(str(url)) for url in if_there(response, "redirects") or ()
        ),
        attempts=attempts,
    )


def challenge(response: object) -> str:
    """Return how a response says that it is a bot challenge, in words; empty if it is none."""
    named = challenge_in(_header_of(response))
    return f"a bot challenge ({named})" if named else ""


def _header_of(response: object) -> Callable[[str], object]:
    header: Callable[[str], object] = getattr(response, "header", _no_header)
    return header


def _no_header(_: str) -> None:
    return None


def text(value: object) -> str | None:
    """Return the value of a header; that of a mock is not a string."""
    return value if isinstance(value, str) else None


def status_of(response: object) -> int | None:
    """Return the status that a response has, if it is one."""
    given = if_there(response, "status_code")
    return given if isinstance(given, int) and given in _STATUSES else None


def status_in(message: str) -> int | None:
    """Return the status in a message such as ``404 Not Found``: errors of 1.8.1 have no other."""
    match = re.match(r"(?:HTTP\s+)?([1-5]\d\d)(?![\w.])", message)  # no IP address
    return int(match[1]) if match else None


def seconds(delay: object) -> float | None:
    """Return the delay that the caller's client gives, if it is a number."""
    try:
        given = float(delay)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError, OverflowError):
        return None
    return given if given >= 0 else None  # NaN isn't
