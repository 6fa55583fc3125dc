"""Unchanged documents: where a server answers 304, the stored document is used again.

The headers of conditional requests (``ETag``, ``Last-Modified``) are those of ``Validators`` in
``objects.fetch_info``; the clients send them.
"""

from dataclasses import replace

from usp._crawl.messages import FetchFailed, FetchRequest, NotModified
from usp._parse import Document, Ended, Source, http_charset, inspect


def unchanged_document(
    request: FetchRequest, result: NotModified, ended: Ended | None = None
) -> Document | FetchFailed:
    """Return the stored document of a conditional request that was answered with 304.

    What the 304 response says goes before what was stored (RFC 9111 4.3.4).

    :raises TimeoutError: if ``ended`` says so, which is asked after each part of the document.
    """
    options = request._options
    stored = options.stored
    if stored is None:
        message = "304 Not Modified in answer to an unconditional request"
        return FetchFailed(message, status=304, fetch_info=result.fetch_info)
    known, new = stored.fetch_info, result.fetch_info
    source = Source(
        stored.body,
        stored.url,
        request.url,
        http_charset(known.content_type),
        options.max_bytes,
        extensions=options.extensions,
    )
    fetch_info = replace(
        new,
        content_type=known.content_type,
        content_encoding=known.content_encoding,
        etag=new.etag or known.etag,
        last_modified=new.last_modified or known.last_modified,
        http_last_modified=new.http_last_modified or known.http_last_modified,
        sha256=known.sha256,
        status=304,
    )
    document = inspect(source, options.kind, options.children, ended)
    return replace(document, fetch_info=fetch_info)
