"""The helper names of 1.8.1, thin over the rooms below."""

import time
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from usp import _parse
from usp._drive.events import log_helper_failure
from usp.exceptions import GunzipException, SitemapException, StripURLToHomepageException
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

HAS_DATETIME_NEW_ISOPARSER: Final = True
"""Whether ``datetime.fromisoformat()`` reads all of ISO 8601: always, from Python 3.11 on."""

_GZIP: Final = b"\x1f\x8b"


def is_http_url(url: str | None) -> bool:
    """Tell whether this is an HTTP(S) URL with a host."""
    return url is not None and _parse.is_http_url(url)


def html_unescape_strip(string: str | None) -> str | None:
    """Trim a text and decode its entities; blanks alone are None, and nothing stays nothing."""
    return (_parse.clean_text(string) or None) if string else string


def parse_iso8601_date(date_string: str) -> datetime | None:
    """Read the date of a sitemap; None if it can't be understood."""
    return _parse_date(date_string)


def parse_rfc2822_date(date_string: str) -> datetime | None:
    """Read the date of a feed; None if it can't be understood."""
    return _parse_date(date_string)


def _parse_date(text: str) -> datetime | None:
    if not text:
        raise SitemapException("There is no date to read.")
    return _parse.parse_date(text)


def get_url_retry_on_client_errors(
    url: str,
    web_client: AbstractWebClient,
    retry_count: int = 5,
    sleep_between_retries: int = 1,
    quiet_404: bool = False,
) -> AbstractWebClientResponse:
    """Fetch a URL, trying again while the failure is of the kind that passes."""
    for tries_left in range(max(retry_count, 1) - 1, -1, -1):
        response = web_client.get(url)
        if not isinstance(response, WebClientErrorResponse):
            break
        log_helper_failure(url, response.message(), expected=quiet_404)
        if not response.retryable() or not tries_left:
            break
        time.sleep(sleep_between_retries)
    return response


def gunzip(data: bytes, max_output_bytes: int | None = None) -> bytes:
    """Unpack a whole gzip file, or raise."""
    if not data:
        raise GunzipException("There is nothing to decompress.")
    if not data.startswith(_GZIP):
        raise GunzipException(f"The data is not gzip: it begins with {data[:2]!r}.")
    limit = max_output_bytes if max_output_bytes is not None else len(data) * 1100
    unpacked, problems = _parse.decompress_all([data], limit, wraps=1)
    lost = [problem for problem in problems if problem.code in {"SM214", "SM701"}]
    if lost:
        raise GunzipException(f"The data could not be unpacked whole: {lost[0].message}.")
    return unpacked


def ungzipped_response_content(
    url: str,  # noqa: ARG001 -- 1.8.1 has it, to judge by the name
    response: AbstractWebClientSuccessResponse,
    max_uncompressed_bytes: int | None = None,
) -> str:
    """Return the text of a response, unpacked if it is gzip by its first bytes."""
    limit = max_uncompressed_bytes
    data, _ = _parse.decompress_all(
        [response.raw_data()], _parse.MAX_DOCUMENT_BYTES if limit is None else limit
    )
    return _parse.decode_document(data)


def strip_url_to_homepage(url: str) -> str:
    """Return the homepage of the site that a URL belongs to."""
    if not url:
        raise StripURLToHomepageException("There is no URL.")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise StripURLToHomepageException(f"{url} is not a URL: {error}") from error
    if parts.scheme.lower() not in {"http", "https"}:
        raise StripURLToHomepageException(f"{url} is not a URL that begins with http or https.")
    return urlunsplit((parts.scheme, parts.netloc, "/", "", ""))
