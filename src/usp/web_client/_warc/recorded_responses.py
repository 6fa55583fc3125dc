"""Responses whose bodies are recorded while they are read: in threads, and in asyncio."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from types import TracebackType
from typing import Any, Final

from usp.exceptions import CancelledFetchError
from usp.web_client import body_chunks, is_success, is_transient
from usp.web_client._warc.in_progress import FetchInProgress
from usp.web_client.abstract_aio_client import AbstractAioWebClientSuccessResponse
from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
)

__all__ = ["aio_recorded", "recorded"]

_WRITTEN_IN_LOOP: Final = 64 * 1024
"""The size of a body up to which the loop writes it; a thread writes longer ones."""


def recorded(
    response: AbstractWebClientResponse, fetch: FetchInProgress
) -> AbstractWebClientResponse:
    """Return a response as it is, noted; the body of a document is recorded while it is read."""
    if is_success(response):
        return _RecordedResponse(response, fetch)
    fetch.note_without_document(response)
    return response


class _RecordedResponse(AbstractWebClientSuccessResponse):
    """A response whose body is recorded while it is read."""

    def __init__(self, response: AbstractWebClientSuccessResponse, fetch: FetchInProgress) -> None:
        self._response: Any = response
        self._fetch = fetch
        fetch.note_document(response)

    def status_code(self) -> int:
        """Return the HTTP status."""
        status: int = self._response.status_code()
        return status

    def status_message(self) -> str:
        """Return the reason phrase of the status."""
        return str(self._response.status_message())

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        value: str | None = self._response.header(case_insensitive_name)
        return value

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        url: str = self._response.url()
        return url

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        redirects = getattr(self._response, "redirects", None)
        return tuple(redirects()) if callable(redirects) else ()

    def raw_data(self) -> bytes:
        """Return the body, and record it."""
        with _BodyRecording(self._fetch):
            data: bytes = self._response.raw_data()
            self._fetch.add_chunk(data)
        return data

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks, and record them."""
        with _BodyRecording(self._fetch):
            for chunk in body_chunks(self._response):
                self._fetch.add_chunk(chunk)
                yield chunk

    def close(self) -> None:
        """Release the connection; what was read is recorded."""
        close = getattr(self._response, "close", None)
        if callable(close):
            close()
        if not self._fetch.has_ended:
            self._fetch.cut_body()
        self._fetch.write()


class _BodyRecording:
    """Records how a body ended: by itself, by an error, or since nobody reads on."""

    def __init__(self, fetch: FetchInProgress) -> None:
        self._fetch = fetch

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _note_end(self._fetch, error)
        self._fetch.write()


def _note_end(fetch: FetchInProgress, error: BaseException | None) -> None:
    if error is None:
        fetch.end_body()
    elif isinstance(error, Exception) and not isinstance(error, CancelledFetchError):
        fetch.end_body(error, transient=is_transient(error))
    elif not fetch.has_ended:  # the generator is closed, or the crawl has ended
        fetch.cut_body()


def aio_recorded(
    response: AbstractWebClientResponse, fetch: FetchInProgress
) -> AbstractWebClientResponse:
    """Return the same for a response in asyncio."""
    if isinstance(response, AbstractAioWebClientSuccessResponse):
        return _AioRecordedResponse(response, fetch)
    fetch.note_without_document(response)
    return response


class _AioRecordedResponse(AbstractAioWebClientSuccessResponse):
    """A response in asyncio whose body is recorded while it is read."""

    def __init__(
        self, response: AbstractAioWebClientSuccessResponse, fetch: FetchInProgress
    ) -> None:
        self._response = response
        self._fetch = fetch
        fetch.note_document(response)

    def status_code(self) -> int:
        """Return the HTTP status."""
        return self._response.status_code()

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        return self._response.header(case_insensitive_name)

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        return self._response.url()

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return self._response.redirects()

    def header_values(self, case_insensitive_name: str) -> tuple[str, ...]:
        """Return all values of a header that may be repeated."""
        return self._response.header_values(case_insensitive_name)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body in chunks, and record them."""
        with _AioBodyEnd(self._fetch):
            async for chunk in self._response.chunks():
                self._fetch.add_chunk(chunk)
                yield chunk
        await self._write()

    async def close(self) -> None:
        """Release the connection; what was read is recorded."""
        await self._response.close()
        if not self._fetch.has_ended:
            self._fetch.cut_body()
        await self._write()

    async def _write(self) -> None:
        if self._fetch.size <= _WRITTEN_IN_LOOP:
            self._fetch.write()
        else:
            await asyncio.to_thread(self._fetch.write)


class _AioBodyEnd(_BodyRecording):
    """Notes how a body ended; ``close()`` of the response writes it, where it can wait."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _note_end(self._fetch, error)
