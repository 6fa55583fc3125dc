"""Fetching one document: request, store, inspect.

The errors of a client end here. Most of them are a failed fetch, which is data; those that mean a
bug in the client (``CLIENT_BUGS``) are raised, and reach the caller of the crawl.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Protocol, Self
from urllib.parse import urlsplit

from usp._crawl.messages import (
    FetchFailed,
    FetchRequest,
    FetchResult,
    NotModified,
    TruncatedBody,
)
from usp._crawl.unchanged import (
    is_about_another,
    same_document,
    unchanged_document,
    unconditional,
)
from usp._display import without_credentials
from usp._drive import events
from usp._drive import response_facts as facts
from usp._drive.partial_content import PartialContent
from usp._drive.response_facts import CLIENT_BUGS
from usp._drive.thread_start import is_thread_start, thread_start_error
from usp._drive.time_limit import TimeLimit
from usp._parse import (
    Document,
    Ended,
    Kind,
    Pages,
    Source,
    http_charset,
    inspect,
    read_robots_rules,
)
from usp._store import Store
from usp.exceptions import NoWebClientException
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo
from usp.web_client import (
    body_chunks,
    described,
    interruption,
    is_error,
    is_success,
    is_transient,
)
from usp.web_client.abstract_client import (
    AbstractWebClientSuccessResponse,
    CrawlScope,
    WebClientNotModifiedResponse,
)

END: Final[Any] = object()
"""What an iterator of chunks returns at its end."""
CRAWL_ENDED: Final = FetchFailed("the crawl has ended")
"""The result of a request that was not carried out to its end, since the crawl ended."""


class ResponseWithHead(Protocol):
    """What the responses of all clients have before a body is read."""

    def url(self) -> str: ...
    def header(self, case_insensitive_name: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """What is known of a document before its body is read."""

    request: FetchRequest
    url: str
    link_header: str | None
    fetch_info: FetchInfo
    started: float
    part: PartialContent | None = None
    """What the response claims to have of the document, if it is a part."""
    refusal: FetchFailed | None = None
    """What the response is instead of a document, if it is a bot challenge."""

    @classmethod
    def read(cls, response: ResponseWithHead, request: FetchRequest, started: float) -> Self:
        """Read URL, headers and status; the caller's client may raise anything here.

        :raises ValueError: if the URL after redirects is not a URL.
        """
        url = response.url()
        if not isinstance(url, str):
            raise TypeError(f"url() of the response must return a string, not {url!r}")
        url = without_credentials(url)
        urlsplit(url)
        status = facts.status_of(response)
        info = facts.fetch_info(response, status, request.attempt)
        is_homepage = request._options.kind is Kind.HOMEPAGE
        link_header = facts.text(response.header("Link")) if is_homepage else None
        part = PartialContent.of(response, status)
        refusal = _refusal(response, status, info, started)
        return cls(request, url, link_header, info, started, part, refusal)

    def inspect_body(
        self, stored: Iterable[bytes], body: "BodyReading", ended: Ended
    ) -> FetchResult:
        """Inspect the stored body; an error in the middle of it truncated it."""
        if self.refusal:
            return self.refusal
        error = body.error
        if error is CRAWL_ENDED:
            return error
        if error and not body.size:
            info = self._complete_info(body, truncated=True)
            return replace(error, no_response=True, fetch_info=info)
        part = None if self.part and self.part.is_whole(body.size) else self.part
        if part and not (part.is_beginning and body.size):
            return replace(part.failure, fetch_info=self._complete_info(body, truncated=True))
        if part:
            error = error or part.failure
        try:
            document = self._document(stored, body, error, ended)
        except TimeoutError:
            return CRAWL_ENDED
        return TruncatedBody(error, document) if error else document

    def _document(
        self,
        stored: Iterable[bytes],
        body: "BodyReading",
        error: FetchFailed | None,
        ended: Ended,
    ) -> Document:
        options = self.request._options
        info = self._complete_info(body, truncated=bool(error))
        if same := same_document(self.request, self.url, info):
            return same
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
        document = inspect(source, options.kind, options.children, ended)
        count = None
        if options.count_pages is not None and isinstance(document.pages, Pages):
            count = sum(1 for _ in options.count_pages.choose(document.pages.walk(ended)))
        rules, agent = None, options.robots_agent
        if agent is not None and isinstance(document.pages, Pages):
            rules = agent, read_robots_rules(source, agent)
        return document._replace(fetch_info=info, page_count=count, robots_rules=rules)

    def _complete_info(self, body: "BodyReading", *, truncated: bool) -> FetchInfo:
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
        self.error = head.refusal  # then nothing is read
        self._hash = sha256() if head.request._options.hash_body else None

    @property
    def wants_more(self) -> bool:
        """Whether to read on: one byte more than the limit shows that the body is longer."""
        return self.size <= self.limit and self.error is None

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of what was read, if the request asked for it."""
        return self._hash.hexdigest() if self._hash else None

    def count(self, chunk: bytes) -> bytes:
        """Count a chunk, and return what is wanted of it: that doesn't depend on its size.

        :raises TypeError: if it is not bytes: that is a bug in the client.
        """
        try:
            view = memoryview(chunk)
        except TypeError:
            kind = type(chunk).__name__
            raise TypeError(f"the body of a response must be bytes, not {kind}") from None
        room = self.limit + 1 - self.size
        if view.nbytes > room:
            chunk = bytes(view)[:room]
        self.size += min(view.nbytes, room)
        if self._hash:
            self._hash.update(chunk)
        return chunk


def is_304_elsewhere(response: object, request: FetchRequest) -> bool:
    """Tell whether a 304 is about another URL than that of the stored document."""
    if not isinstance(response, WebClientNotModifiedResponse):
        return False
    return is_about_another(request, without_credentials(response.url()))


def not_modified(
    response: WebClientNotModifiedResponse, request: FetchRequest, started: float
) -> NotModified:
    """Return the result of a conditional request that was answered with 304."""
    head = ResponseHead.read(response, request, started)
    return NotModified(_timed(replace(head.fetch_info, bytes_received=0), started))


def fresh_document(request: FetchRequest, ended: Ended) -> FetchResult | None:
    """Return the stored document if it is to be used without a request; else None."""
    if not request._options.is_fresh:
        return None
    return inspect_stored(request, NotModified(FetchInfo(bytes_received=0)), ended)


def inspect_stored(request: FetchRequest, result: NotModified, ended: Ended) -> FetchResult:
    """Inspect the stored document of a 304 response here, so that the crawl core needn't."""
    try:
        return replace(result, _document=unchanged_document(request, result, ended))
    except TimeoutError:
        return CRAWL_ENDED


class Fetcher:
    """Fetches documents for one crawl into one store."""

    def __init__(self, scope: CrawlScope, store: Store, max_bytes: int, ended: TimeLimit) -> None:
        self._scope = scope
        self._store = store
        self._max_bytes = max_bytes
        self._ended = ended

    def __call__(self, request: FetchRequest) -> FetchResult:
        """Fetch one document and inspect it."""
        started = time.monotonic()
        if self._ended():
            return CRAWL_ENDED
        if fresh := fresh_document(request, self._ended):
            return fresh
        try:
            response = self._scope.get(request.url, request.validators or None)
            if is_304_elsewhere(response, request):
                request = unconditional(request)
                response = self._scope.get(request.url, None)
            if isinstance(response, WebClientNotModifiedResponse):
                unchanged = not_modified(response, request, started)
                return inspect_stored(request, unchanged, self._ended)
            if not is_success(response):
                return failed_fetch(response, request, started)
            with ExitStack() as undo:
                undo.callback(facts.if_there, response, "close")
                request._options.progress.began = True
                head = ResponseHead.read(response, request, started)
                body = ResponseBody(response, head, self._max_bytes, self._ended)
                undo.pop_all()
        except CLIENT_BUGS:
            raise
        except Exception as error:  # noqa: BLE001 -- any client, any error
            _raise_interruption(error)
            return failed_client(error)
        return head.inspect_body(self._store.keep(body), body, self._ended)

    def cancel(self) -> bool:
        """Fetch nothing more, and cancel what is in flight.

        :return: whether that takes only a moment.
        """
        self._ended.cancel()
        return bool(self._scope.cancel())


class ResponseBody(BodyReading):
    """The body of a response; it is not read to its end if the crawl has ended."""

    def __init__(
        self,
        response: AbstractWebClientSuccessResponse,
        head: ResponseHead,
        limit: int,
        ended: Ended,
    ) -> None:
        super().__init__(head, limit)
        self._response = response
        self._chunks = body_chunks(response)
        self._ended = ended

    def __iter__(self) -> Iterator[bytes]:
        try:
            while (chunk := self._next()) is not None:
                yield chunk
                if self._ended():
                    self.error = CRAWL_ENDED
        finally:
            self._close()

    def _next(self) -> bytes | None:
        try:
            chunk = next(self._chunks, END) if self.wants_more else END
            return None if chunk is END else self.count(chunk)
        except CLIENT_BUGS:
            raise
        except Exception as error:  # noqa: BLE001 -- any client, any error
            _raise_interruption(error)
            self.error = truncation(error)
            return None

    def _close(self) -> None:
        try:
            facts.if_there(self._response, "close")
        except CLIENT_BUGS:
            raise
        except Exception as error:  # noqa: BLE001 -- the body is here already
            events.log_close_error(self.url, error)


def failed_fetch(response: object, request: FetchRequest, started: float) -> FetchFailed:
    """Return the result for an error response; one that is not ours may have no newer methods.

    :raises TypeError: if it is not a response at all.
    """
    error: Any = response
    if not is_error(error):
        kind = type(error).__name__
        raise TypeError(f"get() of the client must return a response, not an object of {kind}")
    message = str(error.message())
    status = facts.status_of(error) or facts.status_in(message)
    info = NOT_FETCHED
    if status is not None:
        info = _timed(facts.fetch_info(error, status, request.attempt), started)
    challenge = facts.challenge(error)
    return FetchFailed(
        f"{message}, {challenge}" if challenge else message,
        bool(error.retryable()) and not challenge,
        status=status,
        challenged=bool(challenge),
        no_response=facts.if_there(error, "no_response") is True,
        untrusted=facts.if_there(error, "untrusted") is True,
        retry_after=facts.seconds(facts.if_there(error, "retry_after")),
        fetch_info=info,
    )


def _refusal(
    response: ResponseWithHead, status: int | None, info: FetchInfo, started: float
) -> FetchFailed | None:
    """Return the result for a bot challenge with a status of success; None for a document."""
    challenge = facts.challenge(response)
    if not challenge:
        return None
    message = f"HTTP {status}, {challenge}" if status else challenge
    info = _timed(info, started)
    return FetchFailed(message, status=status, challenged=True, fetch_info=info)


def _timed(info: FetchInfo, started: float) -> FetchInfo:
    """Return the fetch info of a response without a document, which ends now."""
    return replace(info, fetched_at=datetime.now(UTC), seconds=time.monotonic() - started)


def _raise_interruption(error: BaseException) -> None:
    """Raise what the caller's signal handler raised: it is not the client's error."""
    if interrupted := interruption(error):
        raise interrupted from None


def failed_client(error: BaseException) -> FetchFailed:
    """Return the result for an exception out of a client."""
    if is_thread_start(error):
        raise thread_start_error(error) from error
    if isinstance(error, NoWebClientException):
        return FetchFailed("the client has no network access", code="SM605")
    return FetchFailed(described(error), client_error=True)


def truncation(error: BaseException) -> FetchFailed:
    """Return what ended a body before its end."""
    return FetchFailed(described(error), retryable=is_transient(error))
