"""Clients that record: they fetch with another client, and write all of it to a WARC file.

The recording of a crawl replays it without a network (``usp.web_client.replay``). It has no
credentials; ``docs/reference/recording.md`` says what is removed.
"""

from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from usp._validate import check_flags, check_instance, check_optional_instance
from usp.objects.fetch_info import Validators
from usp.web_client import (
    as_web_client,
    default_aio_client,
    default_client,
)
from usp.web_client._warc.in_progress import RecordedCrawl
from usp.web_client._warc.recorded_responses import aio_recorded, recorded
from usp.web_client._warc.writer import RecordingFile
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AioCrawlScope,
)
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    CrawlScope,
)

__all__ = ["AioRecordingWebClient", "RecordingWebClient"]


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
        return recorded(response, fetch)

    def for_crawl(self, homepage_url: str) -> CrawlScope:
        """Return the scope of a crawl, which is recorded."""
        crawl = RecordedCrawl(self._file, self._file.next_crawl(), homepage_url)
        return _RecordingCrawlScope(self, self._client.for_crawl(homepage_url), crawl)

    def check_settings(self) -> None:
        """Raise if a setting of the client that fetches is wrong."""
        self._client.check_settings()

    def for_asyncio(self, client: AbstractAioWebClient | None = None) -> "AioRecordingWebClient":
        """Return a client for asyncio that records into the same file, which this one finishes.

        :param client: the client to fetch with, which is closed with the new one; by default,
            what ``for_asyncio()`` of the client that fetches here returns.
        """
        fetching = self._client.for_asyncio() if client is None else client
        return AioRecordingWebClient._into(self._file, fetching)

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
        return recorded(response, fetch)

    def order_in_recording(self, url: str, validators: Validators | None = None) -> float:
        """Return when the next response for a URL comes, if a recording is replayed."""
        return self._scope.order_in_recording(url, validators)

    def cancel(self) -> bool:
        """End what is in flight for this crawl."""
        return self._scope.cancel()

    def close(self) -> None:
        """Release what belongs to the crawl."""
        self._scope.close()


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
        fetching = default_aio_client() if client is None else client
        self._begin(_recording_file(path, source, replace=replace), fetching)

    @classmethod
    def _into(cls, file: RecordingFile, client: AbstractAioWebClient) -> Self:
        """Return a client that records into a file which somebody else finishes."""
        check_instance("client", client, AbstractAioWebClient)
        made = cls.__new__(cls)
        made._owns_file, made._owns_client = False, True
        made._begin(file, client)
        return made

    def _begin(self, file: RecordingFile, client: AbstractAioWebClient) -> None:
        self._file = file
        self._client = client
        self._outside = RecordedCrawl(file)
        self.replays = self._client.replays

    async def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL outside of any crawl, and record that."""
        with self._outside.begin(url) as fetch:
            response = await self._client.get(url)
        return aio_recorded(response, fetch)

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
        return aio_recorded(response, fetch)

    async def head(self, url: str) -> AbstractWebClientResponse:
        """Request the head of a URL for this crawl, and record that."""
        with self._crawl.begin(url, method="HEAD") as fetch:
            response = await self._scope.head(url)
        return aio_recorded(response, fetch)

    def order_in_recording(
        self, url: str, validators: Validators | None = None, *, method: str = "GET"
    ) -> float:
        """Return when the next response for a URL comes, if a recording is replayed."""
        return self._scope.order_in_recording(url, validators, method=method)

    async def close(self) -> None:
        """Release what belongs to the crawl."""
        await self._scope.close()


def _recording_file(
    path: str | PathLike[str], source: str | None, *, replace: bool
) -> RecordingFile:
    check_instance("path", path, str | PathLike)  # type: ignore[arg-type]  # a union is fine
    check_flags(replace=replace)
    check_optional_instance("source", source, str)
    return RecordingFile(Path(path), source, replace=bool(replace))
