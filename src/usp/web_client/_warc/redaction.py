"""What never gets into a recording: credentials. Recordings are attached to bug reports.

Of the headers that were sent, only the values of those in a list are kept: any other may be a key
that the caller's server wants. Of the headers that were received, cookies are removed. No URL in a
header, and no URL of a record, has a user or password. Bodies are kept as they came.
"""

from collections.abc import Iterable
from typing import Final

from usp._display import redact, without_credentials

__all__ = ["REDACTED", "redacted_response_headers", "sent_headers"]

REDACTED: Final = "[redacted]"
_HARMLESS_SENT: Final = frozenset(
    {
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "host",
        "if-modified-since",
        "if-none-match",
        "pragma",
        "range",
        "referer",
        "user-agent",
    }
)
"""The headers of a request whose values are kept."""
_SECRET_RECEIVED: Final = frozenset(
    {"authorization", "cookie", "proxy-authorization", "set-cookie", "set-cookie2"}
)
"""The headers of a response whose values are removed."""
_URLS: Final = frozenset({"content-location", "location", "referer"})
"""The headers whose value is a URL as a whole: in a text, a malformed one may not be noticed."""


def sent_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of a request as a recording has them."""
    return [
        (name, _bare(name, value) if name.lower() in _HARMLESS_SENT else REDACTED)
        for name, value in headers
    ]


def redacted_response_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of a response as a recording has them."""
    return [
        (name, REDACTED if name.lower() in _SECRET_RECEIVED else _bare(name, value))
        for name, value in headers
    ]


def _bare(name: str, value: str) -> str:
    """Return the value of a header without the user and password of any URL."""
    return without_credentials(value) if name.lower() in _URLS else redact(value)
