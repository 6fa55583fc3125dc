"""Clients that record: they fetch with another client, and write all of it to a WARC file.

The recording of a crawl replays it without a network (``usp.web_client.replay``). It has no
credentials; ``docs/reference/recording.md`` says what is removed.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from usp._validate import check_flags, check_instance, check_optional_instance
from usp.exceptions import CancelledFetchError
from usp.objects.fetch_info import Validators
from usp.web_client import (
    as_web_client,
    body_chunks,
    default_aio_client,
    default_client,
    is_success,
    is_transient,
)
from usp.web_client._warc.in_progress import FetchInProgress, RecordedCrawl
from usp.web_client._warc.writer import RecordingFile
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
    AioCrawlScope,
)
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    CrawlScope,
)

__all__ = ["AioRecordingWebClient", "RecordingWebClient"]

_WRITTEN_IN_LOOP: Final = 64 * 1024
"""The size of a body up to which the loop writes it; a thread writes longer ones."""


class RecordingWebClient(AbstractWebClient):
    """Fetches with another client, and records every request and response.

    The file is there when the client is closed: use it in a ``with`` block. Needs the extra
    ``warc``.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        client: AbstractWebClient | None = None,
        *,
        replace: bool = False,
        source: str | None = None,
        close_client: bool = False,
    ) -> None:
        """Begin a recording; it has a temporary name until the client is closed.

        :param path: the file to write, such as ``site.warc.gz``.
        :param client: the client to fetch with; by default a ``RequestsWebClient`` of its own.
        :param replace: whether a file of that name may be replaced.
        :param source: what is recorded, if it isn't the homepage of the crawl; noted in the file.
        :param close_client: whether closing this client closes the other one, too.
        :raises MissingExtraError: if warcio is not installed.
        :raises UsageError: if the file can't be written, or exists.
        """
        given = None if client is None else as_web_client(client)
        self._file = _recording_file(path, source, replace=replace)
        self._owns_client = given is None or close_client
        self._client = default_client() if given is None else given
        self._outside = RecordedCrawl(self._file)
        self.streams = self._client.streams
        self.thread_safe = self._client.thread_safe
        self.replays = self._client.replays

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set the limit of the client that fetches."""
        self._client.set_max_response_data_length(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL outside of any crawl, and record that."""
        with self._outside.begin(url) as fetch:
            response = self._client.get(url)
        return _recorded(response, fetch)

    def for_crawl(self, homepage_url: str) -> CrawlScope:
        """Return the scope of a crawl, which is recorded."""
        crawl = RecordedCrawl(self._file, self._file.next_crawl(), homepage_url)
        return _RecordingCrawlScope(self, self._client.for_crawl(homepage_url), crawl)

    def for_asyncio(self, client: AbstractAioWebClient | None = None) -> "AioRecordingWebClient":
        """Return a client for asyncio that records into the same file, which this one finishes.

        :param client: the client to fetch with, which is closed with the new one; by default an
            ``AioWebClient``.
        """
        return AioRecordingWebClient._into(self._file, client)

    def abort(self) -> bool:
        """End what the client that fetches has in flight."""
        return self._client.abort()

    def close(self) -> None:
        """Finish the recording, which gets its name.

        :raises StorageError: if it could not be written; then there is no file.
        """
        self._close()

    def _close(self, interrupted: str = "") -> None:
        try:
            self._file.close(interrupted)
        finally:
            if self._owns_client:
                self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A crawl that fails is what a recording is wanted for.
        self._close(kind.__name__ if kind else "")


class _RecordingCrawlScope(CrawlScope):
    """The scope of the client that fetches, recorded."""

    def __init__(self, client: RecordingWebClient, scope: CrawlScope, crawl: RecordedCrawl) -> None:
        super().__init__(client)
        self._scope = scope
        self._crawl = crawl

    def get(self, url: str, validators: Validators | None = None) -> AbstractWebClientResponse:
        """Fetch a URL for this crawl, and record that."""
        with self._crawl.begin(url, validators) as fetch:
            response = self._scope.get(url, validators)
        return _recorded(response, fetch)

    def order_in_recording(self, url: str, validators: Validators | None = None) -> float:
        """Return when the next response for a URL comes, if a recording is replayed."""
        return self._scope.order_in_recording(url, validators)

    def cancel(self) -> bool:
        """End what is in flight for this crawl."""
        return self._scope.cancel()

    def close(self) -> None:
        """Release what belongs to the crawl."""
        self._scope.close()


def _recorded(
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


class AioRecordingWebClient(AbstractAioWebClient):
    """Fetches with another client in asyncio, and records every request and response.

    The file is there when the client is closed: use it in an ``async with`` block. Needs the extra
    ``warc``.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        client: AbstractAioWebClient | None = None,
        *,
        replace: bool = False,
        source: str | None = None,
        close_client: bool = False,
    ) -> None:
        """Begin a recording; it has a temporary name until the client is closed.

        :param path: the file to write, such as ``site.warc.gz``.
        :param client: the client to fetch with; by default an ``AioWebClient`` of its own.
        :param replace: whether a file of that name may be replaced.
        :param source: what is recorded, if it isn't the homepage of the crawl; noted in the file.
        :param close_client: whether closing this client closes the other one, too.
        :raises MissingExtraError: if warcio is not installed.
        :raises UsageError: if the file can't be written, or exists.
        """
        check_optional_instance("client", client, AbstractAioWebClient)
        self._owns_file = True
        self._owns_client = client is None or close_client
        self._begin(_recording_file(path, source, replace=replace), client)

    @classmethod
    def _into(cls, file: RecordingFile, client: AbstractAioWebClient | None) -> Self:
        """Return a client that records into a file which somebody else finishes."""
        check_optional_instance("client", client, AbstractAioWebClient)
        made = cls.__new__(cls)
        made._owns_file, made._owns_client = False, True
        made._begin(file, client)
        return made

    def _begin(self, file: RecordingFile, client: AbstractAioWebClient | None) -> None:
        self._file = file
        self._client = default_aio_client() if client is None else client
        self._outside = RecordedCrawl(file)
        self.replays = self._client.replays

    async def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL outside of any crawl, and record that."""
        with self._outside.begin(url) as fetch:
            response = await self._client.get(url)
        return _aio_recorded(response, fetch)

    def for_crawl(self, homepage_url: str) -> AioCrawlScope:
        """Return the scope of a crawl, which is recorded."""
        crawl = RecordedCrawl(self._file, self._file.next_crawl(), homepage_url)
        return _AioRecordingCrawlScope(self, self._client.for_crawl(homepage_url), crawl)

    async def close(self) -> None:
        """Finish the recording, which gets its name.

        :raises StorageError: if it could not be written; then there is no file.
        """
        await self._close()

    async def _close(self, interrupted: str = "") -> None:
        try:
            if self._owns_file:
                self._file.close(interrupted)
        finally:
            if self._owns_client:
                await self._client.close()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close(kind.__name__ if kind else "")


class _AioRecordingCrawlScope(AioCrawlScope):
    """The scope of the client that fetches, recorded."""

    def __init__(
        self, client: AioRecordingWebClient, scope: AioCrawlScope, crawl: RecordedCrawl
    ) -> None:
        super().__init__(client)
        self._scope = scope
        self._crawl = crawl

    async def get(
        self, url: str, validators: Validators | None = None
    ) -> AbstractWebClientResponse:
        """Fetch a URL for this crawl, and record that."""
        with self._crawl.begin(url, validators) as fetch:
            response = await self._scope.get(url, validators)
        return _aio_recorded(response, fetch)

    async def head(self, url: str) -> AbstractWebClientResponse:
        """Request the head of a URL for this crawl, and record that."""
        with self._crawl.begin(url, method="HEAD") as fetch:
            response = await self._scope.head(url)
        return _aio_recorded(response, fetch)

    def order_in_recording(self, url: str, validators: Validators | None = None) -> float:
        """Return when the next response for a URL comes, if a recording is replayed."""
        return self._scope.order_in_recording(url, validators)

    async def close(self) -> None:
        """Release what belongs to the crawl."""
        await self._scope.close()


def _aio_recorded(
    response: AbstractWebClientResponse, fetch: FetchInProgress
) -> AbstractWebClientResponse:
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


def _recording_file(
    path: str | PathLike[str], source: str | None, *, replace: bool
) -> RecordingFile:
    check_instance("path", path, str | PathLike)  # type: ignore[arg-type]  # a union is fine
    check_flags(replace=replace)
    check_optional_instance("source", source, str)
    return RecordingFile(Path(path), source, replace=bool(replace))
