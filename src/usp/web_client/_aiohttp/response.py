"""The responses of the client on aiohttp: bodies in chunks, and errors.

Bodies stay compressed as they arrived: the parser recognises gzip and zlib by their first bytes and
has a limit on decompressed bytes.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import ExitStack
from http import HTTPStatus
from typing import Final

import aiohttp
from requests.exceptions import TooManyRedirects

from usp.exceptions import ConnectionDroppedError, DeadlineError
from usp.web_client._aiohttp.head import header_text, reason_of, received_headers
from usp.web_client._http import encodings, error_responses
from usp.web_client._http.defaults import DRAIN_SECONDS, MAX_DRAINED_BYTES
from usp.web_client._http.errors import LIBRARY_BUGS, is_transient, is_untrusted
from usp.web_client._http.transcript import TRANSCRIPT
from usp.web_client.abstract_aio_client import AbstractAioWebClientSuccessResponse
from usp.web_client.abstract_client import (
    RETRYABLE_HTTP_STATUS_CODES,
    WebClientErrorResponse,
    WebClientNotModifiedResponse,
)

__all__ = [
    "AioWebClientErrorResponse",
    "AioWebClientSuccessResponse",
    "EndlessRedirects",
    "drain",
    "failure_response",
    "has_begun",
    "not_modified_response",
    "status_response",
]

_DROPPED: Final = (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError)
"""What aiohttp raises if a connection ends too early."""
_NO_RESPONSE: Final = (
    aiohttp.ClientConnectionError,
    aiohttp.ClientResponseError,  # the response is not HTTP
    TimeoutError,
)


class EndlessRedirects(TooManyRedirects):
    """More redirects than are followed."""

    def __init__(self, urls: Iterable[str]) -> None:
        """Say so, as requests does.

        :param urls: the URLs that redirected, in order.
        """
        self.urls = tuple(urls)
        super().__init__(f"Exceeded {len(self.urls)} redirects.")


class AioWebClientErrorResponse(WebClientErrorResponse):
    """The response to a request that brought no document."""


class AioWebClientSuccessResponse(AbstractAioWebClientSuccessResponse):
    """A response of aiohttp that brings a document; the body is read on demand.

    It counts towards the client's concurrency until it is read to its end or closed.
    """

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        urls: tuple[str, ...],
        deadline: float | None,
        release: Callable[[], None],
    ) -> None:
        """Wrap a response.

        :param urls: the URLs that were requested, as they were written, the last one after all
            redirects.
        :param deadline: when the body has to be complete, by the clock of the loop.
        :param release: called once, when the response is done with.
        """
        self._response = response
        self._urls = urls
        self._deadline = deadline
        self._release: Callable[[], None] | None = release
        self._error: Exception | None = None
        self._first: bytes | None = None
        self._transcript = TRANSCRIPT.get()

    def status_code(self) -> int:
        """Return the HTTP status."""
        return self._response.status

    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None; several are joined (RFC 9110, 5.2).

        The first one alone would hide that they contradict one another.
        """
        values = self.header_values(case_insensitive_name)
        return ", ".join(values) if values else None

    def header_values(self, case_insensitive_name: str) -> tuple[str, ...]:
        """Return all values of a header that may be repeated."""
        return tuple(map(header_text, self._response.headers.getall(case_insensitive_name, ())))

    def url(self) -> str:
        """Return the URL of the document, after redirects."""
        return self._urls[-1]

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order."""
        return self._urls[:-1]

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body in chunks as it arrives; gzip and zlib stay on it.

        What arrived before an error is yielded before it is raised.

        :raises DeadlineError: if the body is not complete in time.
        :raises ConnectionDroppedError: if the connection ends before the body does.
        :raises FetchError: if the body is raw deflate, and truncated or damaged.
        """
        try:
            raw_deflate = encodings.RawDeflate(self._encoding)
            while received := await self._read():
                for chunk in raw_deflate.feed(received):
                    yield chunk
            raw_deflate.end()
        finally:
            await self.close()

    async def _read(self) -> bytes:
        """Return what has arrived, or wait for it; nothing at the end."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        chunk = await self._receive()
        if self._transcript is not None:
            self._transcript.add_body(chunk)
        return chunk

    async def _receive(self) -> bytes:
        content = self._response.content
        deadline = asyncio.timeout_at(self._deadline)
        try:
            if self._error is not None:
                raise self._error
            if content.is_eof():  # nothing to wait for
                return content.read_nowait()
            async with deadline:
                return await content.readany()
        except LIBRARY_BUGS as error:
            raise ConnectionDroppedError(f"{type(error).__name__}: {error}") from error
        except (aiohttp.ClientError, OSError) as error:
            if deadline.expired():
                raise DeadlineError(error_responses.DEADLINE_MESSAGE) from error
            # aiohttp keeps what arrived before the error, and raises the error first.
            if self._error is None and (rest := content._read_nowait(-1)):
                self._error = error
                return rest
            if isinstance(error, _DROPPED):
                raise ConnectionDroppedError(str(error)) from error
            raise

    @property
    def _encoding(self) -> str:
        return ",".join(self.header_values("Content-Encoding"))

    async def undecodable(self) -> str | None:
        """Return the content encoding if it can't be decoded; the response is closed then.

        Servers name encodings that they don't use: the first bytes of the body decide.
        """
        name = encodings.undecodable(self._encoding)
        if name is None:
            return None
        with ExitStack() as undo:
            undo.callback(self._close)
            try:
                self._first = await self._read()
            except (aiohttp.ClientError, OSError, DeadlineError, ConnectionDroppedError) as error:
                self._error = error  # raised by chunks()
            if not self._first or encodings.is_readable(self._first):
                undo.pop_all()
                return None
        return name

    async def close(self) -> None:
        """Release the connection: kept if the body was read to its end, else closed."""
        self._close()

    def _close(self) -> None:
        self._response.close()
        if self._release is not None:
            self._release()
            self._release = None


async def drain(response: aiohttp.ClientResponse) -> None:
    """Read an unwanted body to its end if that is quickly done; else close its connection."""
    left = MAX_DRAINED_BYTES
    transcript = TRANSCRIPT.get()
    try:
        if (response.content_length or 0) <= left:
            async with asyncio.timeout(DRAIN_SECONDS):
                while left > 0:
                    chunk = await response.content.readany()
                    if transcript is not None:
                        transcript.add_body(chunk)
                    if not chunk:
                        break
                    left -= len(chunk)
    except (aiohttp.ClientError, OSError):  # also the timeout
        pass
    finally:
        response.close()


async def not_modified_response(
    response: aiohttp.ClientResponse, urls: tuple[str, ...]
) -> WebClientNotModifiedResponse:
    """Return the response to a conditional request whose document has not changed."""
    await drain(response)
    return WebClientNotModifiedResponse(urls[-1], received_headers(response), urls[:-1])


async def status_response(
    response: aiohttp.ClientResponse, urls: tuple[str, ...]
) -> WebClientErrorResponse:
    """Return the error for a status that is not a success."""
    await drain(response)
    return error_responses.status_response(
        AioWebClientErrorResponse,
        response.status,
        reason_of(response),
        received_headers(response),
        urls[:-1],
    )


def has_begun(error: Exception) -> bool:
    """Tell whether a connection was dropped in the middle of headers: the error has some then."""
    is_drop = isinstance(error, aiohttp.ServerDisconnectedError)
    return is_drop and not isinstance(getattr(error, "message", ""), str)


def failure_response(error: Exception) -> WebClientErrorResponse:
    """Return the error for what aiohttp raised."""
    if isinstance(error, aiohttp.ClientHttpProxyError):  # the status is no word of the site
        return AioWebClientErrorResponse(
            f"the proxy responded {error.status} {header_text(error.message)}",
            error.status in RETRYABLE_HTTP_STATUS_CODES,
        )
    message = _encodable(str(error) or type(error).__name__)
    if isinstance(error, aiohttp.ClientResponseError):  # aiohttp makes up a status for it
        message = f"the response is malformed: {_encodable(' '.join(error.message.split()))[:200]}"
    if has_begun(error):
        message = error_responses.DROPPED_IN_HEAD
    # A redirect loop has a status and its URLs, as it has in the client on requests.
    urls = error.urls if isinstance(error, EndlessRedirects) else ()
    return AioWebClientErrorResponse(
        message,
        is_transient(error) or isinstance(error, _DROPPED),
        status_code=HTTPStatus.FOUND.value if urls else None,
        no_response=isinstance(error, _NO_RESPONSE),
        untrusted=is_untrusted(error),
        redirects=urls,
    )


def _encodable(message: str) -> str:
    """Return a message of aiohttp, which may quote bytes as lone surrogates."""
    return message.encode("utf-8", "backslashreplace").decode()
