"""Facts about the response that brought a document, validators for conditional requests (ETag), and
how a sitemap was found.

None of them is compared when two sitemaps are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Final

from usp.objects.named_fields import pickled_by_name
from usp.objects.outcome import FoundBy

__all__ = ["FetchInfo", "StoredDocument", "Validators"]


@pickled_by_name
@dataclass(frozen=True, slots=True)
class Validators:
    """What makes a request conditional: the server responds with 304 if nothing has changed.

    :param etag: the ``ETag`` header of the last response, sent as ``If-None-Match``.
    :param last_modified: the ``Last-Modified`` header of the last response, sent as
        ``If-Modified-Since``.
    """

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)

    def headers(self) -> dict[str, str]:
        """Return the headers of a conditional request (RFC 9110 13.1)."""
        sent = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in sent.items() if value}


@pickled_by_name
@dataclass(frozen=True, slots=True)
class FetchInfo:
    """Status, headers, redirects, sizes and times of the response that brought a document.

    :param status: the HTTP status: 200, or 304 if the document has not changed.
    :param content_type: the ``Content-Type`` header.
    :param content_encoding: the ``Content-Encoding`` header.
    :param etag: the ``ETag`` header.
    :param last_modified: the ``Last-Modified`` header, as text.
    :param http_last_modified: the ``Last-Modified`` header, as a time in UTC.
    :param redirects: the URLs that redirected, in order.
    :param bytes_received: the size of the body as received, before decompression.
    :param attempts: the number of requests that were made for the URL, retries included.
    :param fetched_at: when the body was complete, in UTC.
    :param seconds: the time from the request to the end of the body.
    :param sha256: the SHA-256 of the body as received, with ``Policy(hash_bodies=True)``.
    :param truncated: whether the body is not whole: the connection ended in the middle of it, or
        the server sent a part only (206).
    :param unchanged: whether the document is the one that an earlier crawl stored: the server said
        so (304), or the body has the same SHA-256.
    """

    status: int | None = None
    content_type: str | None = None
    content_encoding: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    http_last_modified: datetime | None = None
    redirects: tuple[str, ...] = ()
    bytes_received: int | None = None
    attempts: int = 0
    fetched_at: datetime | None = None
    seconds: float | None = None
    sha256: str | None = None
    truncated: bool = False
    unchanged: bool = False

    @property
    def validators(self) -> Validators:
        """The validators for the next request for the document."""
        return Validators(self.etag, self.last_modified)

    @property
    def not_modified(self) -> bool:
        """Whether the server responded that the document has not changed (304)."""
        return self.status == HTTPStatus.NOT_MODIFIED


@pickled_by_name
@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document that an earlier crawl fetched and the caller stored: used if it is unchanged.

    :param url: the URL after redirects.
    :param body: the body as received, in chunks; iterated each time the document is parsed.
    :param fetch_info: that of the earlier response; its validators make the request conditional.
    :param kind: the kind of the document, if the caller knows it (``SitemapParsed.kind``): then an
        unchanged document is not inspected again.
    :param children: the sitemaps that it lists, each with its ``<lastmod>`` as written; needed if
        the kind is given.
    :param fresh: whether to use it without a request.
    """

    url: str
    body: Iterable[bytes]
    fetch_info: FetchInfo
    kind: str | None = None
    children: tuple[tuple[str, str | None], ...] = ()
    fresh: bool = False


NOT_FETCHED: Final = FetchInfo()
"""The fetch info of a document that no request brought."""


@pickled_by_name
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
