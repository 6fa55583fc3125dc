"""Documents that the caller's own driver fetched, checked and inspected."""

from usp._crawl.messages import FetchRequest
from usp._crawl.urls import check_start_url
from usp._parse import Document, Source, http_charset, inspect
from usp._validate import check_instance, check_optional_instance
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo


def delivered_document(
    request: FetchRequest,
    data: bytes,
    url: str | None,
    content_type: str | None,
    fetch_info: FetchInfo | None,
    max_bytes: int,
) -> Document:
    """Return the document that a request brought; see ``Crawl.deliver`` for the arguments."""
    body = check_instance("data", data, bytes)
    check_instance("request", request, FetchRequest)
    final = request.url if url is None else check_start_url("url", url)
    given = check_optional_instance("content_type", content_type, str)
    info = check_optional_instance("fetch_info", fetch_info, FetchInfo) or NOT_FETCHED
    charset = http_charset(info.content_type if given is None else given)
    options = request._options
    source = Source([body], final, request.url, charset, max_bytes, extensions=options.extensions)
    return inspect(source, options.kind, options.children)._replace(fetch_info=info)
