"""One request, carried out: asked of a client, put to rest in the store, looked at.

This is the worker's edge: whatever a client raises ends here, as a failed fetch.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from usp._crawl.messages import Answer, FetchFailed, FetchRequest
from usp._parse.document import Document, Source, inspect
from usp._store import Store
from usp.exceptions import NoWebClientException
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient

_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class Fetcher:
    """Fetches documents with one client into one store."""

    def __init__(self, client: AbstractWebClient, store: Store, max_bytes: int) -> None:
        self._client = client
        self._store = store
        self._max_bytes = max_bytes
        if not isinstance(client, RequestsWebClient):
            # Ours is left as the caller set it, and is stopped while reading. A client of the
            # caller's own may hand over its body whole, so it is told, as 1.8.1 tells it.
            client.set_max_response_data_length(max_bytes)

    def __call__(self, request: FetchRequest) -> Answer:
        """Fetch one document and look at it."""
        try:
            response = self._client.get(request.url)
            if isinstance(response, WebClientErrorResponse):
                return _failed(response)
            if not isinstance(response, AbstractWebClientSuccessResponse):
                return FetchFailed(f"the client returned a {type(response).__name__}")
            url = response.url()
            charset = _CHARSET.search(response.header("Content-Type") or "")
        except NoWebClientException:
            return FetchFailed("The sitemap was not fetched: there is no web client", code="SM605")
        except Exception as error:  # noqa: BLE001 -- the worker's edge: any client, any fault
            return FetchFailed(_describe(error))
        body = _Body(response, self._max_bytes)
        source = Source(
            self._store.keep(body),
            url,
            request.url,
            charset[1] if charset else None,
            self._max_bytes,
            cut_off=body.fault,
        )
        return self._answer(source, request, body)

    def _answer(self, source: Source, request: FetchRequest, body: "_Body") -> Answer:
        if body.fault and not body.size:
            return FetchFailed(body.fault, retryable=True)
        document: Document = inspect(source, probing=request.probing)
        if body.fault:
            salvaged = replace(document, cut_off=True)
            return FetchFailed(body.fault, retryable=True, salvaged=salvaged)
        return document


class _Body:
    """The body of a response, up to a limit; a fault in the middle ends it and is kept."""

    def __init__(self, response: AbstractWebClientSuccessResponse, limit: int) -> None:
        self._response = response
        self._limit = limit
        self.size = 0
        self.fault = ""

    def __iter__(self) -> Iterator[bytes]:
        chunks = self._response.chunks()
        while self.size <= self._limit:  # one byte more than allowed shows that it was cut
            try:
                chunk = next(chunks, None)
                self.size += memoryview(chunk or b"").nbytes  # a TypeError for what isn't bytes
            except Exception as error:  # noqa: BLE001 -- the worker's edge
                self.fault = _describe(error)
                break
            if chunk is None:
                break
            yield chunk
        self._response.close()


def _failed(response: WebClientErrorResponse) -> FetchFailed:
    """Read an error; a client of the caller's may have an error class without the newer parts."""
    return FetchFailed(
        response.message(),
        response.retryable(),
        status=getattr(response, "_status_code", None) or _status_in(response.message()),
        retry_after=getattr(response, "_retry_after", None),
    )


def _status_in(message: str) -> int | None:
    """Find the status in a message such as ``404 Not Found``: all that 1.8.1's clients tell."""
    match = re.match(r"(?:HTTP\s+)?([1-5]\d\d)\b", message)
    return int(match[1]) if match else None


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
