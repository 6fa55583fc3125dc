"""The helper functions of 1.8.1, under their names and with their errors.

Each calls what the rest of the package uses. Nothing is parsed or decoded here, and the package
itself calls only ``strip_url_to_homepage``.
"""

import logging
import re
import time
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from usp import _parse
from usp._crawl.options import RecurseCallback as RecurseCallbackType
from usp._crawl.options import RecurseListCallback as RecurseListCallbackType
from usp._drive.events import log_helper_failure
from usp._validate import shown_argument
from usp.exceptions import (
    GunzipException,
    SitemapException,
    StripURLToHomepageException,
    UsageError,
)
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

__all__ = [
    "HAS_DATETIME_NEW_ISOPARSER",
    "AbstractWebClient",
    "AbstractWebClientResponse",
    "AbstractWebClientSuccessResponse",
    "GunzipException",
    "RecurseCallbackType",
    "RecurseListCallbackType",
    "SitemapException",
    "StripURLToHomepageException",
    "WebClientErrorResponse",
    "get_url_retry_on_client_errors",
    "gunzip",
    "html_unescape_strip",
    "is_http_url",
    "log",
    "parse_iso8601_date",
    "parse_rfc2822_date",
    "strip_url_to_homepage",
    "ungzipped_response_content",
]

HAS_DATETIME_NEW_ISOPARSER: Final = True
"""Whether ``datetime.fromisoformat()`` reads all of ISO 8601: always, from Python 3.11 on."""
log: Final = logging.getLogger(__name__)

_GZIP: Final = b"\x1f\x8b"
_MAX_RATIO: Final = 1100
"""No gzip file holds more than 1,032 times its size."""
_UNUSABLE: Final = re.compile(r"\s|^[^:]*://(?:[^/?#]*@)?\.")
"""Whitespace in a URL, or a host that begins with a dot."""


def is_http_url(url: str | None) -> bool:
    """Return whether this is an HTTP(S) URL with a host and without whitespace."""
    if url is None or len(url) == 0:
        return False
    return _parse.is_http_url(url) and not _UNUSABLE.search(url)


def html_unescape_strip(string: str | None) -> str | None:
    """Return a text trimmed and with its entities decoded; None if nothing but whitespace is left.

    None and an empty text are returned as they are.
    """
    return (_parse.clean_text(string) or None) if string else string


def parse_iso8601_date(date_string: str) -> datetime | None:
    """Return the date of a sitemap, or None if the text isn't one that can be read.

    :raises UsageError: if the text is empty.
    """
    return _parse_date(date_string)


def parse_rfc2822_date(date_string: str) -> datetime | None:
    """Return the date of a feed, or None if the text isn't one that can be read.

    :raises UsageError: if the text is empty.
    """
    return _parse_date(date_string)


def _parse_date(text: str) -> datetime | None:
    if not text:
        raise UsageError("date_string must not be empty.")
    return _parse.parse_date(text)


def get_url_retry_on_client_errors(
    url: str,
    web_client: AbstractWebClient,
    retry_count: int = 5,
    sleep_between_retries: int = 1,
    quiet_404: bool = False,
) -> AbstractWebClientResponse:
    """Return the response to a URL, requested again while the failure is retryable.

    :param retry_count: how often to request the URL at most; at least once.
    :param sleep_between_retries: seconds between two requests.
    :param quiet_404: whether a 404 is expected, so that no warning is logged.
    """
    for attempts_left in range(max(retry_count, 1) - 1, -1, -1):
        response = web_client.get(url)
        if not isinstance(response, WebClientErrorResponse):
            break
        message = response.message()
        log_helper_failure(url, message, expected=quiet_404 and message.startswith("404"))
        if not response.retryable() or not attempts_left:
            break
        time.sleep(sleep_between_retries)
    return response


def gunzip(data: bytes, max_output_bytes: int | None = None) -> bytes:
    """Return the content of a gzip file.

    :raises GunzipException: if the data is not one whole gzip file, or if the content is larger
        than ``max_output_bytes``.
    """
    if not isinstance(data, bytes):
        raise GunzipException(f"data must be bytes, not {type(data).__name__}.")
    if not data.startswith(_GZIP):
        raise GunzipException(f"data must be a gzip file; it begins with {data[:2]!r}.")
    limit = len(data) * _MAX_RATIO if max_output_bytes is None else max(max_output_bytes, 0)
    content, problems = _parse.decompress_all([data], limit, max_layers=1)
    if problems:
        raise GunzipException(f"The data can't be decompressed: {problems[0].message}.")
    return content


def ungzipped_response_content(
    url: str,  # noqa: ARG001 -- 1.8.1 looks at its ending; ours at the first bytes of the body
    response: AbstractWebClientSuccessResponse,
    max_uncompressed_bytes: int | None = None,
) -> str:
    """Return the text of a response, decompressed if it is gzip by its first bytes.

    :param max_uncompressed_bytes: the rest of a larger body is not read.
    """
    limit = max_uncompressed_bytes
    data, _ = _parse.decompress_all(
        [response.raw_data()], _parse.MAX_DOCUMENT_BYTES if limit is None else limit
    )
    return _parse.decode_document(data)


def strip_url_to_homepage(url: str) -> str:
    """Return the homepage of the site that a URL belongs to.

    :raises StripURLToHomepageException: if this is not an HTTP(S) URL.
    """
    if not isinstance(url, str):
        raise StripURLToHomepageException(f"url must be str, not {type(url).__name__}.")
    try:
        scheme, host, *_ = urlsplit(url)
    except ValueError:  # brackets that are not those of an IPv6 address
        scheme = host = ""
    if scheme not in {"http", "https"}:
        raise StripURLToHomepageException(f"url must be an HTTP(S) URL, not {shown_argument(url)}.")
    return urlunsplit((scheme, host, "/", "", ""))
