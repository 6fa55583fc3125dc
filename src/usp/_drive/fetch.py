"""One request, carried out: asked of a client, put to rest in the store, looked at.

This is the worker's edge: whatever a client raises ends here, as a failed fetch.
"""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from threading import Event
from typing import Final, Protocol, Self
from urllib.parse import urlsplit

from usp._crawl.messages import (
    FetchFailed,
    FetchRequest,
    FetchResult,
    NotModified,
    TruncatedBody,
)
from usp._drive import events
from usp._parse import Kind, Source, http_charset, inspect, parse_date
from usp._store import Store
from usp.exceptions import NoWebClientException
from usp.objects.fetch_info import FetchInfo
from usp.objects.page import as_utc
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

_STATUSES: Final = range(100, 1000)
_UNWANTED: Final = FetchFailed("the crawl is over")


class Response(Protocol):
    """What the success responses of all clients have in common."""

    def status_code(self) -> int: ...
    def url(self) -> str: ...
    def header(self, case_insensitive_name: str) -> str | None: ...
    def redirects(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """What is known of a document before its body is read."""

    request: FetchRequest
    url: str
    link_header: str | None
    fetch_info: FetchInfo
    started: float

    @classmethod
    def read(cls, response: Response, request: FetchRequest, started: float) -> Self:
        """Read status, URL and headers; a client of the caller's may raise anything here.

        :raises ValueError: if the URL after redirects is not a URL.
        """
        url = str(response.url())
        urlsplit(url)
        last_modified = _text(response.header("Last-Modified"))
        info = FetchInfo(
            status=_status(response.status_code()),
            content_type=_text(response.header("Content-Type")),
            content_encoding=_text(response.header("Content-Encoding")),
            etag=_text(response.header("ETag")),
            last_modified=last_modified,
            http_last_modified=as_utc(parse_date(last_modified)) if last_modified else None,
            redirects=tuple(map(str, response.redirects())),
            attempts=request.attempt,
        )
        is_homepage = request._options.kind is Kind.HOMEPAGE
        link_header = _text(response.header("Link")) if is_homepage else None
        return cls(request, url, link_header, info, started)

    def inspect_body(self, stored: Iterable[bytes], body: "BodyReading") -> FetchResult:
        """Inspect the stored body; an error in the middle of it truncated it."""
        error = body.error
        if error and not body.size:
            return replace(error, no_response=True)
        options = self.request._options
        source = Source(
            stored,
            self.url,
            self.request.url,
            http_charset(self.fetch_info.content_type),
            body.limit,
            truncated=error.message if error else "",
            link_header=self.link_header,
            extensions=options.extensions,
        )
        document = replace(
            inspect(source, options.kind), fetch_info=self._complete_info(body, bool(error))
        )
        if options.count_pages is not None:
            chosen = options.count_pages.choose(document.pages)
            document = replace(document, page_count=sum(1 for _ in chosen))
        return TruncatedBody(error, document) if error else document

    def _complete_info(self, body: "BodyReading", truncated: bool) -> FetchInfo:
        return replace(
            self.fetch_info,
            bytes_received=body.size,
            fetched_at=datetime.now(UTC),
            seconds=time.monotonic() - self.started,
            sha256=body.sha256,
            truncated=truncated,
        )


class BodyReading:
    """Counts and hashes a body while it is read, up to a limit; keeps the error that ended it."""

    def __init__(self, head: ResponseHead, limit: int) -> None:
        self.url = head.url
        self.limit = limit
        self.size = 0
        self.error: FetchFailed | None = None
        self._hash = sha256() if head.request._options.hash_body else None

    @property
    def wants_more(self) -> bool:
        """Whether to read on: one byte more than the limit shows that the body is longer."""
        return self.size <= self.limit and self.error is None

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of what was read, if the request asked for it."""
        return self._hash.hexdigest() if self._hash else None

    def count(self, chunk: bytes | None) -> bytes | None:
        """Count a chunk; anything but bytes raises TypeError."""
        self.size += memoryview(chunk or b"").nbytes
        if self._hash and chunk:
            self._hash.update(chunk)
        return chunk


def not_modified(response: Response, request: FetchRequest) -> NotModified:
    """Return the result of a conditional request that was answered with 304."""
    head = ResponseHead.read(response, request, time.monotonic())
    return NotModified(replace(head.fetch_info, fetched_at=datetime.now(UTC)))


class Fetcher:
    """Fetches documents with one client into one store."""

    def __init__(self, client: AbstractWebClient, store: Store, max_bytes: int) -> None:
        self._client = client
        self._store = store
        self._max_bytes = max_bytes
        self._over = Event()
        if not client.streams:
            # Ours is left as the caller set it, and is stopped while reading. A client of the
            # caller's own may hand over its body whole, so it is told, as 1.8.1 tells it.
            client.set_max_response_data_length(max_bytes)

    def __call__(self, request: FetchRequest) -> FetchResult:
        """Fetch one document and look at it."""
        started = time.monotonic()
        if self._over.is_set():
            return _UNWANTED
        try:
            response = self._client.get(request.url)
            if not isinstance(response, AbstractWebClientSuccessResponse):
                return refused(response)
            with ExitStack() as undo:
                undo.callback(response.close)
                head = ResponseHead.read(response, request, started)
                body = _Body(response, head, self._max_bytes, self._over)
                undo.pop_all()
        except Exception as error:  # noqa: BLE001 -- the worker's edge: any client, any fault
            return broken(error)
        return head.inspect_body(self._store.keep(body), body)

    def stop(self) -> bool:
        """Fetch nothing more, and have what is under way ended; emit if it is over in a moment."""
        self._over.set()
        return bool(self._client.abort())


class _Body(BodyReading):
    """The body of a response; what nobody wants any more is not read on."""

    def __init__(
        self,
        response: AbstractWebClientSuccessResponse,
        head: ResponseHead,
        limit: int,
        over: Event,
    ) -> None:
        super().__init__(head, limit)
        self._response = response
        self._chunks = iter(response.chunks() if _streams(response) else [response.raw_data()])
        self._over = over

    def __iter__(self) -> Iterator[bytes]:
        try:
            while (chunk := self._next()) is not None:
                yield chunk
                if self._over.is_set():
                    self.error = _UNWANTED
        finally:
            self._close()

    def _next(self) -> bytes | None:
        try:
            return self.count(next(self._chunks, None)) if self.wants_more else None
        except Exception as error:  # noqa: BLE001 -- the worker's edge
            self.error = truncated(error)
            return None

    def _close(self) -> None:
        try:
            self._response.close()
        except Exception as error:  # noqa: BLE001 -- the worker's edge; the body is here already
            events.log_close_error(self.url, error)


def _streams(response: AbstractWebClientSuccessResponse) -> bool:
    """Emit whether to read a body piece by piece: not where a subclass says what its data is."""
    for known in type(response).__mro__:
        if "chunks" in vars(known):
            return True
        if "raw_data" in vars(known):
            return False
    return False


def refused(response: object) -> FetchFailed:
    """Read an error; a client of the caller's may have an error class without the newer parts."""
    if not isinstance(response, WebClientErrorResponse):
        return FetchFailed(f"the client returned a {type(response).__name__}")
    message = str(response.message())
    return FetchFailed(
        message,
        bool(response.retryable()),
        status=_status(response.status_code()) or _status_in(message),
        no_response=bool(response.no_response()),
        untrusted=bool(response.untrusted()),
        retry_after=_seconds(response.retry_after()),
    )


def broken(error: BaseException) -> FetchFailed:
    """Say that a client itself failed."""
    if isinstance(error, NoWebClientException):
        return FetchFailed("there is no web client", code="SM605")
    return FetchFailed(_describe(error), client_error=True)


def truncated(error: BaseException) -> FetchFailed:
    """Say what ended a body before its end."""
    from usp.web_client._http.errors import is_transient  # loads requests

    return FetchFailed(_describe(error), retryable=is_transient(error))


def _seconds(delay: object) -> float | None:
    """Read the delay that a client of the caller's names, where it is a number at all."""
    try:
        seconds = float(delay)  # type: ignore[arg-type]  # so we next_requests
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None  # NaN isn't


def _text(value: object) -> str | None:
    """Return a header's value; a client of the caller's may return something else."""
    return None if value is None else str(value)


def _status(said: object) -> int | None:
    """Read the status that a client of the caller's names, where it is one."""
    return said if isinstance(said, int) and said in _STATUSES else None


def _status_in(message: str) -> int | None:
    """Find the status in a message such as ``404 Not Found``: all that 1.8.1's clients emit."""
    match = re.match(r"(?:HTTP\s+)?([1-5]\d\d)(?![\w.])", message)  # no address
    return int(match[1]) if match else None


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
