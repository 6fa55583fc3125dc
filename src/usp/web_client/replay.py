"""Clients that replay: they answer from a recording, without a network.

A replayed crawl gives what the recorded one gave, whatever the order in which its requests come,
and doesn't wait before retries. Recordings of other tools can be replayed, too.
"""

import sys
from collections.abc import AsyncGenerator, Iterator
from os import PathLike
from typing import Self

from usp._closing import ClosesAtExit
from usp._parse import decompress_all
from usp.objects.fetch_info import Validators
from usp.web_client._http import encodings, error_responses, settings
from usp.web_client._warc.playback import Playback, PlaybackScope, ReplayedDocument
from usp.web_client._warc.reader import Recording
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

__all__ = ["AioReplayWebClient", "Recording", "ReplayWebClient"]

Recording.__module__ = __name__  # this is its public module


class _ReplayedResponse(AbstractWebClientSuccessResponse):
    """A response that brings a document, from a recording."""

    def __init__(self, document: ReplayedDocument, max_length: int | None) -> None:
        self._document = document
        self._max_length = max_length or sys.maxsize

    def status_code(self) -> int:
        """Return the HTTP status."""
        return self._document.status

    def status_message(self) -> str:
        """Return the reason phrase of the status."""
        return error_responses.reason_phrase(self._document.status, self._document.reason)

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        return self._document.header(case_insensitive_name)

    def raw_data(self) -> bytes:
        """Return the body, decompressed, up to the limit."""
        named = encodings.labels(self.header("Content-Encoding"))
        layers = sum(name in encodings.DECODED_BY_PARSER for name in named)
        data, _ = decompress_all(self.chunks(), self._max_length, max_layers=layers)
        return data

    def chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks, up to the limit."""
        left = self._max_length
        for chunk in self._document.chunks():
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        return self._document.url

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return self._document.redirects


class ReplayWebClient(AbstractWebClient, ClosesAtExit):
    """Answers from a recording. Needs the extra ``warc``."""

    streams = True
    thread_safe = True
    replays = True

    def __init__(self, recording: str | PathLike[str] | Recording) -> None:
        """Open a recording.

        :param recording: a file, ``.warc.gz`` or ``.warc``, or a recording that is open.
        :raises MissingExtraError: if warcio is not installed.
        :raises UsageError: if the file can't be read, or is not a recording.
        """
        self._playback = Playback(_opened(recording))
        self._outside = self._playback.scope("")
        self._max_length: int | None = None

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Set the maximum number of bytes read from a body; None or 0 for no limit."""
        self._max_length = settings.length(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        """Return what the recording has for a URL."""
        return self._replayed(self._outside, settings.url(url), None)

    def for_crawl(self, homepage_url: str) -> CrawlScope:
        """Return the scope of a crawl: each one begins the recording anew."""
        return _ReplayCrawlScope(self, self._playback.scope(homepage_url))

    def for_asyncio(self) -> "AioReplayWebClient":
        """Return a client for asyncio that goes on with the same recording."""
        return AioReplayWebClient._of(self._playback)

    def _replayed(
        self, scope: PlaybackScope, url: str, validators: Validators | None
    ) -> AbstractWebClientResponse:
        found = scope.get(url, conditional=bool(validators))
        if isinstance(found, ReplayedDocument):
            return _ReplayedResponse(found, self._max_length)
        return found


class _ReplayCrawlScope(CrawlScope):
    """A recording for one crawl."""

    client: ReplayWebClient

    def __init__(self, client: ReplayWebClient, playback: PlaybackScope) -> None:
        super().__init__(client)
        self._playback = playback

    def get(self, url: str, validators: Validators | None = None) -> AbstractWebClientResponse:
        """Return what the recording has for a request."""
        return self.client._replayed(self._playback, url, validators)

    def order_in_recording(self, url: str, validators: Validators | None = None) -> float:
        """Return when the next response for a URL comes, in the order of the recording."""
        return self._playback.order(url, conditional=bool(validators))

    def cancel(self) -> bool:
        """Return True: nothing takes long."""
        return True


class _AioReplayedResponse(AbstractAioWebClientSuccessResponse):
    """A response in asyncio that brings a document, from a recording."""

    def __init__(self, document: ReplayedDocument) -> None:
        self._document = document

    def status_code(self) -> int:
        """Return the HTTP status."""
        return self._document.status

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        return self._document.header(case_insensitive_name)

    def header_values(self, case_insensitive_name: str) -> tuple[str, ...]:
        """Return all values of a header that may be repeated."""
        return self._document.header_values(case_insensitive_name)

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        return self._document.url

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return self._document.redirects

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body in chunks; other tasks run in between."""
        import asyncio

        for chunk in self._document.chunks():
            yield chunk
            await asyncio.sleep(0)


class AioReplayWebClient(AbstractAioWebClient):
    """Answers from a recording in asyncio. Needs the extra ``warc``, and not aiohttp."""

    replays = True

    def __init__(self, recording: str | PathLike[str] | Recording) -> None:
        """Open a recording.

        :param recording: a file, ``.warc.gz`` or ``.warc``, or a recording that is open.
        :raises MissingExtraError: if warcio is not installed.
        :raises UsageError: if the file can't be read, or is not a recording.
        """
        self._begin(Playback(_opened(recording)))

    @classmethod
    def _of(cls, playback: Playback) -> Self:
        made = cls.__new__(cls)
        made._begin(playback)
        return made

    def _begin(self, playback: Playback) -> None:
        self._playback = playback
        self._outside = playback.scope("")

    async def get(self, url: str) -> AbstractWebClientResponse:
        """Return what the recording has for a URL."""
        return _aio_replayed(self._outside, settings.url(url), None)

    def for_crawl(self, homepage_url: str) -> AioCrawlScope:
        """Return the scope of a crawl: each one begins the recording anew."""
        return _AioReplayCrawlScope(self, self._playback.scope(homepage_url))


class _AioReplayCrawlScope(AioCrawlScope):
    """A recording for one crawl in asyncio."""

    def __init__(self, client: AioReplayWebClient, playback: PlaybackScope) -> None:
        super().__init__(client)
        self._playback = playback

    async def get(
        self, url: str, validators: Validators | None = None
    ) -> AbstractWebClientResponse:
        """Return what the recording has for a request."""
        return _aio_replayed(self._playback, url, validators)

    async def head(self, url: str) -> AbstractWebClientResponse:
        """Return what the recording has for the head of a URL."""
        return _aio_replayed(self._playback, url, None, "HEAD")

    def order_in_recording(
        self, url: str, validators: Validators | None = None, *, method: str = "GET"
    ) -> float:
        """Return when the next response for a URL comes, in the order of the recording."""
        return self._playback.order(url, conditional=bool(validators), method=method)


def _aio_replayed(
    scope: PlaybackScope, url: str, validators: Validators | None, method: str = "GET"
) -> AbstractWebClientResponse:
    found = scope.get(url, conditional=bool(validators), method=method)
    return _AioReplayedResponse(found) if isinstance(found, ReplayedDocument) else found


def _opened(recording: str | PathLike[str] | Recording) -> Recording:
    return recording if isinstance(recording, Recording) else Recording(recording)
