"""What aiohttp fetched: the body as it comes, bodies that nobody wants, and what it failed at.

Rules of this room: bodies are left as packed as they came, since the reader knows gzip and deflate
by their first bytes and has a ceiling on what comes out.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack
from http import HTTPStatus
from typing import Final

import aiohttp
from requests.exceptions import TooManyRedirects

from usp.exceptions import ConnectionDroppedError, DeadlineError
from usp.web_client._http import defaults as defaults
from usp.web_client._http import encodings as encodings
from usp.web_client._http import error_responses as error_responses
from usp.web_client._http.errors import is_transient, is_untrusted
from usp.web_client.abstract_aio_client import AbstractAioWebClientSuccessResponse
from usp.web_client.abstract_client import RETRYABLE_HTTP_STATUS_CODES, WebClientErrorResponse

__all__ = [
    "AioWebClientErrorResponse",
    "AioWebClientSuccessResponse",
    "drain",
    "failed",
    "is_begun",
    "refused",
]

_DROPPED: Final = (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError)
"""What aiohttp raises where a connection ends too early."""
_NO_RESPONSE: Final = (
    aiohttp.ClientConnectionError,
    aiohttp.ClientResponseError,  # what came is no HTTP
    TimeoutError,
)


class AioWebClientErrorResponse(WebClientErrorResponse):
    """No document came."""


class AioWebClientSuccessResponse(AbstractAioWebClientSuccessResponse):
    """A document that aiohttp fetched; its body is read when it is asked for.

    It takes one of the client's places until it is read to its end or closed.
    """

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        passed: tuple[str, ...],
        due: float | None,
        give_back: Callable[[], None],
    ) -> None:
        """Wrap a response.

        :param passed: the URLs that were asked, as they were written; the last one answered.
        :param due: when the body has to be there, by the clock of the loop.
        :param give_back: called once, when the response is done with.
        """
        self._response = response
        self._passed = passed
        self._due = due
        self._give_back: Callable[[], None] | None = give_back
        self._fault: Exception | None = None
        self._first: bytes | None = None

    def status_code(self) -> int:
        """Return the HTTP status."""
        return self._response.status

    def header(self, case_insensitive_name: str) -> str | None:
        """Return a header's value, or None if it isn't there."""
        return self._response.headers.get(case_insensitive_name)

    def url(self) -> str:
        """Return the URL that answered, after redirects."""
        return self._passed[-1]

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that led on to others, in order."""
        return self._passed[:-1]

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body piece by piece, as it came: packed with gzip or zlib, if it was.

        What came before a fault is yielded before the fault is raised.

        :raises DeadlineError: if the body has not come in time.
        :raises ConnectionDroppedError: if the connection ended before the body did.
        """
        try:
            unlabelled = encodings.Unlabelled(self._encoding)
            while piece := await self._read():
                for chunk in unlabelled.feed(piece):
                    yield chunk
        finally:
            await self.close()

    async def _read(self) -> bytes:
        """Return what has come, or wait for it; nothing at the end."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        content = self._response.content
        deadline = asyncio.timeout_at(self._due)
        try:
            if self._fault is not None:
                raise self._fault
            async with deadline:
                return await content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if deadline.expired():
                raise DeadlineError(error_responses.DEADLINE_MESSAGE) from error
            # aiohttp keeps what came before the fault, and hands out the fault first.
            if self._fault is None and (rest := content._read_nowait(-1)):
                self._fault = error
                return rest
            if isinstance(error, _DROPPED):
                raise ConnectionDroppedError(str(error)) from error
            raise

    @property
    def _encoding(self) -> str:
        return ",".join(self._response.headers.getall("Content-Encoding", ()))

    async def foreign_packing(self) -> str | None:
        """Return the encodings of the body, if it can't be undone; the response is closed then.

        Servers name packings that they don't use: how the body begins decides.
        """
        name = encodings.foreign(self._encoding)
        if name is None:
            return None
        with ExitStack() as undo:
            undo.callback(self._let_go)
            try:
                self._first = await self._read()
            except (aiohttp.ClientError, OSError, DeadlineError, ConnectionDroppedError) as error:
                self._fault = error  # for whoever reads
            if not self._first or encodings.is_readable(self._first):
                undo.pop_all()
                return None
        return name

    async def close(self) -> None:
        """Let go of the connection: kept if the body was read to its end, else closed."""
        self._let_go()

    def _let_go(self) -> None:
        self._response.close()
        if self._give_back is not None:
            self._give_back()
            self._give_back = None


async def drain(response: aiohttp.ClientResponse) -> None:
    """Empty a body that nobody wants, if that is quickly done; else close its connection."""
    left = defaults.DRAINED
    try:
        if (response.content_length or 0) <= left:
            async with asyncio.timeout(defaults.DRAIN_SECONDS):
                while left > 0 and (chunk := await response.content.readany()):
                    left -= len(chunk)
    except (aiohttp.ClientError, OSError):  # also what takes too long
        pass
    finally:
        response.close()


async def refused(response: aiohttp.ClientResponse) -> WebClientErrorResponse:
    """Say that a server answered, with a status that is no success."""
    await drain(response)
    return error_responses.refusal(
        AioWebClientErrorResponse,
        response.status,
        response.reason,
        response.headers.get("Retry-After"),
    )


def is_begun(error: Exception) -> bool:
    """Tell whether a connection was lost in the middle of headers: aiohttp shows what came."""
    lost = isinstance(error, aiohttp.ServerDisconnectedError)
    return lost and not isinstance(getattr(error, "message", ""), str)


def failed(error: Exception) -> WebClientErrorResponse:
    """Say what aiohttp raised instead of an answer."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return AioWebClientErrorResponse(
            f"the proxy said {error.status} {error.message}",
            error.status in RETRYABLE_HTTP_STATUS_CODES,
            status_code=error.status,
        )
    words = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientResponseError):  # its status is made up by aiohttp
        words = f"the answer can't be read: {' '.join(error.message.split())[:200]}"
    if is_begun(error):
        words = error_responses.DROPPED_IN_HEAD
    silent = isinstance(error, _NO_RESPONSE)
    retryable = is_transient(error) or isinstance(error, _DROPPED)
    return AioWebClientErrorResponse(
        words,
        retryable,
        # Redirects without end are answers: the other client tells their status, too.
        status_code=HTTPStatus.FOUND.value if isinstance(error, TooManyRedirects) else None,
        no_response=silent,
        untrusted=is_untrusted(error),
    )
