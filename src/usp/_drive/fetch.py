"""One request, carried out: asked of a client, put to rest in the store, looked at.

This is the worker's edge: whatever a client raises ends here, as a failed fetch.
"""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event
from typing import Final, Protocol, Self
from urllib.parse import urlsplit

from usp._crawl.messages import FetchFailed, FetchRequest, FetchResult
from usp._drive import events as report
from usp._parse import Kind, Source, http_charset, inspect, parse_date
from usp._store import Store
from usp.exceptions import NoWebClientException
from usp.objects.fetch_info import FetchInfo
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

_STATUSES: Final = range(100, 1000)
_UNWANTED: Final = FetchFailed("the crawl is over")


class Response(Protocol):
    """What the responses of all clients can say of themselves."""

    def url(self) -> str: ...
    def header(self, case_insensitive_name: str) -> str | None: ...
    def redirects(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """What is known of a document before its body is read."""

    request: FetchRequest
    url: str
    charset: str | None
    link_header: str | None
    last_modified: str | None
    redirects: tuple[str, ...]
    began: float

    @classmethod
    def of(cls, response: Response, request: FetchRequest, began: float) -> Self:
        """Read what a response says of itself; a client of the caller's may raise anything.

        :raises ValueError: if the URL that answered is none.
        """
        url = str(response.url())
        urlsplit(url)
        return cls(
            request,
            url,
            http_charset(response.header("Content-Type")),
            response.header("Link") if request.kind is Kind.HOMEPAGE else None,
            response.header("Last-Modified"),
            tuple(map(str, response.redirects())),
            began,
        )

    def look_at(self, kept: Iterable[bytes], body: "Reading") -> FetchResult:
        """Look at the body, which is at rest; a fault in the middle of it cut it off."""
        fault = body.fault
        if fault and not body.size:
            return replace(fault, no_response=True)
        now = datetime.now(UTC)
        seconds = time.monotonic() - self.began
        modified = parse_date(self.last_modified) if self.last_modified else None
        source = Source(
            kept,
            self.url,
            self.request.url,
            self.charset,
            body.limit,
            truncated=fault.message if fault else "",
            link_header=self.link_header,
            extensions=self.request.extensions,
        )
        fetch_info = FetchInfo(
            self.redirects, body.size, now, seconds, modified, truncated=bool(fault)
        )
        document = replace(inspect(source, self.request.kind), fetch_info=fetch_info)
        if self.request.counted is not None:
            chosen = self.request.counted.choose(document.pages)
            document = replace(document, page_count=sum(1 for _ in chosen))
        return replace(fault, partial_document=document) if fault else document


class Reading:
    """How a body is read: up to a limit; a fault in the middle ends it, and is kept."""

    def __init__(self, url: str, limit: int) -> None:
        self.url = url
        self.limit = limit
        self.size = 0
        self.fault: FetchFailed | None = None

    @property
    def goes_on(self) -> bool:
        """Whether more of it is wanted: one byte more than allowed shows that it was cut."""
        return self.size <= self.limit and self.fault is None

    def count(self, chunk: bytes | None) -> bytes | None:
        """Count a piece of it; what isn't bytes is a TypeError."""
        self.size += memoryview(chunk or b"").nbytes
        return chunk


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
        began = time.monotonic()
        if self._over.is_set():
            return _UNWANTED
        try:
            response = self._client.get(request.url)
            if not isinstance(response, AbstractWebClientSuccessResponse):
                return refused(response)
            with ExitStack() as undo:
                undo.callback(response.close)
                head = ResponseHead.of(response, request, began)
                body = _Body(response, head.url, self._max_bytes, self._over)
                undo.pop_all()
        except Exception as error:  # noqa: BLE001 -- the worker's edge: any client, any fault
            return broken(error)
        return head.look_at(self._store.keep(body), body)

    def stop(self) -> bool:
        """Fetch nothing more, and have what is under way ended; emit if it is over in a moment."""
        self._over.set()
        return bool(self._client.abort())


class _Body(Reading):
    """The body of a response; what nobody wants any more is not read on."""

    def __init__(
        self, response: AbstractWebClientSuccessResponse, url: str, limit: int, over: Event
    ) -> None:
        super().__init__(url, limit)
        self._response = response
        self._chunks = iter(response.chunks() if _streams(response) else [response.raw_data()])
        self._over = over

    def __iter__(self) -> Iterator[bytes]:
        try:
            while (chunk := self._next()) is not None:
                yield chunk
                if self._over.is_set():
                    self.fault = _UNWANTED
        finally:
            self._close()

    def _next(self) -> bytes | None:
        try:
            return self.count(next(self._chunks, None)) if self.goes_on else None
        except Exception as error:  # noqa: BLE001 -- the worker's edge
            self.fault = truncated(error)
            return None

    def _close(self) -> None:
        try:
            self._response.close()
        except Exception as error:  # noqa: BLE001 -- the worker's edge; the body is here already
            report.not_closed(self.url, error)


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


def _status(said: object) -> int | None:
    """Read the status that a client of the caller's names, where it is one."""
    return said if isinstance(said, int) and said in _STATUSES else None


def _status_in(message: str) -> int | None:
    """Find the status in a message such as ``404 Not Found``: all that 1.8.1's clients emit."""
    match = re.match(r"(?:HTTP\s+)?([1-5]\d\d)(?![\w.])", message)  # no address
    return int(match[1]) if match else None


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
