"""What a response said about a document, its validators for conditional requests (ETag), and how a
sitemap was found.

Neither is part of what makes two sitemaps equal.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Final

from usp.objects.outcome import FoundBy


@dataclass(frozen=True, slots=True)
class Validators:
    """What makes a request conditional: the server answers 304 if the document has not changed."""

    etag: str | None = None
    """The ``ETag`` header of the last response, sent as ``If-None-Match``."""
    last_modified: str | None = None
    """The ``Last-Modified`` header of the last response, sent as ``If-Modified-Since``."""

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)

    def headers(self) -> dict[str, str]:
        """Return the headers of a conditional request (RFC 9110 13.1)."""
        sent = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in sent.items() if value}


@dataclass(frozen=True, slots=True)
class FetchInfo:
    """Status, headers, redirects, sizes and times of the response that brought a document."""

    status: int | None = None
    """The HTTP status: 200, or 304 if the document has not changed."""
    content_type: str | None = None
    """The ``Content-Type`` header."""
    content_encoding: str | None = None
    """The ``Content-Encoding`` header."""
    etag: str | None = None
    """The ``ETag`` header."""
    last_modified: str | None = None
    """The ``Last-Modified`` header, as text."""
    http_last_modified: datetime | None = None
    """The ``Last-Modified`` header, as a time in UTC."""
    redirects: tuple[str, ...] = ()
    """The URLs that redirected, in order."""
    bytes_received: int | None = None
    """The size of the body as received, before decompression."""
    attempts: int = 0
    """The number of requests that were made for the URL, retries included."""
    fetched_at: datetime | None = None
    """When the body was complete, in UTC."""
    seconds: float | None = None
    """The time from the request to the end of the body."""
    sha256: str | None = None
    """The SHA-256 of the body as received, if the policy asked for it (``hash_bodies``)."""
    truncated: bool = False
    """The connection ended in the middle of the body."""

    @property
    def validators(self) -> Validators:
        """What the next request for the document can be made conditional with."""
        return Validators(self.etag, self.last_modified)

    @property
    def not_modified(self) -> bool:
        """Whether the server answered that the document has not changed (304)."""
        return self.status == HTTPStatus.NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document that an earlier crawl fetched and the caller stored: used if it is unchanged."""

    url: str
    """The URL after redirects."""
    body: Iterable[bytes]
    """The body as received, in chunks; iterated as often as the document is read."""
    fetch_info: FetchInfo
    """What the response said; its validators make the next request conditional."""


NOT_FETCHED: Final = FetchInfo()
"""The fetch info of a document that no request brought."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a sitemap was found."""

    found_by: FoundBy | None = None
    declared_url: str | None = None
    """The URL as it was declared, before redirects."""
    index_lastmod: datetime | None = None
    """The ``<lastmod>`` that the index gives for the sitemap."""
    fetch_info: FetchInfo = NOT_FETCHED


UNKNOWN: Final = Provenance()
"""The provenance of a sitemap that the caller built, or parsed from a string."""
