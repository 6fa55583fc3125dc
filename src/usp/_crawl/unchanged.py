"""Unchanged documents: where a server answers 304, or sends the same bytes again, the stored
document is used.

The headers of conditional requests (``ETag``, ``Last-Modified``) are those of ``Validators`` in
``objects.fetch_info``; the clients send them.
"""

from dataclasses import replace

from usp._crawl.messages import FetchFailed, FetchRequest, NotModified
from usp._crawl.resource_table import normalized
from usp._parse import Document, Ended, Kind, Source, http_charset, inspect, known_document
from usp.objects.fetch_info import FetchInfo, StoredDocument, Validators


def is_about_another(request: FetchRequest, url: str) -> bool:
    """Tell whether a 304 from a URL says nothing about the stored document: that is of another URL.

    Validators are those of one URL (RFC 9110 8.8). After a new redirect, a date that is later than
    that of the other document would make it seem unchanged; and relative URLs in it mean others.

    :param url: the URL after redirects.
    """
    stored = request._options.stored
    return stored is not None and normalized(stored.url)[0] != normalized(url)[0]


def unconditional(request: FetchRequest) -> FetchRequest:
    """Return a request that doesn't depend on the stored document."""
    options = replace(request._options, stored=None)
    return replace(request, validators=Validators(), _options=options)


def unchanged_document(
    request: FetchRequest, result: NotModified, ended: Ended | None = None
) -> Document | FetchFailed:
    """Return the stored document of a conditional request that was answered with 304.

    What the 304 response says goes before what was stored (RFC 9111 4.3.4).

    :raises TimeoutError: if ``ended`` says so, which is asked after each part of the document.
    """
    stored = request._options.stored
    if stored is None:
        message = "304 Not Modified in answer to an unconditional request"
        return FetchFailed(message, status=304, fetch_info=result.fetch_info)
    known, new = stored.fetch_info, result.fetch_info
    fetch_info = replace(
        new,
        content_type=known.content_type,
        content_encoding=known.content_encoding,
        etag=new.etag or known.etag,
        last_modified=new.last_modified or known.last_modified,
        http_last_modified=new.http_last_modified or known.http_last_modified,
        sha256=known.sha256,
        status=304,
        unchanged=True,
    )
    return _stored_document(request, stored, ended)._replace(fetch_info=fetch_info)


def same_document(request: FetchRequest, url: str, info: FetchInfo) -> Document | None:
    """Return the stored document if a response brought the very same one; None if it is another.

    :param url: the URL after redirects.
    """
    stored = request._options.stored
    if stored is None or stored.kind is None or info.truncated or info.sha256 is None:
        return None
    known = stored.fetch_info
    if (stored.url, known.sha256, known.content_type) != (url, info.sha256, info.content_type):
        return None
    document = _stored_document(request, stored, None)
    return document._replace(fetch_info=replace(info, unchanged=True))


def _stored_document(
    request: FetchRequest, stored: StoredDocument, ended: Ended | None
) -> Document:
    """Return a stored document; it is inspected only if nothing is known of it."""
    options = request._options
    source = Source(
        stored.body,
        stored.url,
        request.url,
        http_charset(stored.fetch_info.content_type),
        options.max_bytes,
        extensions=options.extensions,
    )
    if stored.kind is None:
        return inspect(source, options.kind, options.children, ended)
    return known_document(source, Kind(stored.kind), stored.children, options.children)
