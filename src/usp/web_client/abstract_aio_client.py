"""The client that a crawl in asyncio fetches with: the classes to subclass for one of your own.

``get()`` is a coroutine and means what it means in ``abstract_client``; an error is the same
``WebClientErrorResponse``. A crawl that is cancelled cancels its ``get()`` and closes the responses
that it got.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

from usp.objects.fetch_info import Validators
from usp.web_client.abstract_client import AbstractWebClientResponse

__all__ = ["AbstractAioWebClient", "AbstractAioWebClientSuccessResponse", "AioCrawlScope"]


class AbstractAioWebClientSuccessResponse(AbstractWebClientResponse):
    """A response that brings a document; its body is read in chunks."""

    @abstractmethod
    def status_code(self) -> int:
        """Return the HTTP status, such as 200."""

    @abstractmethod
    def header(self, case_insensitive_name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""

    @abstractmethod
    def url(self) -> str:
        """Return the URL of the document, after redirects."""

    def header_values(self, case_insensitive_name: str) -> tuple[str, ...]:
        """Return all values of a header that may be repeated; by default, that of ``header()``."""
        value = self.header(case_insensitive_name)
        return () if value is None else (value,)

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that redirected, in order; by default, none."""
        return ()

    @abstractmethod
    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. It may still be compressed with gzip or zlib."""

    async def close(self) -> None:
        """Release the connection, whether the body was read or not."""


class AioCrawlScope:
    """A client's view for one crawl: it fetches for that crawl alone and ends with it.

    This one passes everything on to the client. A client that keeps something for each crawl, such
    as the homepage or cookies, returns a subclass from ``for_crawl()``.
    """

    def __init__(self, client: "AbstractAioWebClient") -> None:
        self.client = client

    async def get(
        self,
        url: str,
        validators: Validators | None = None,  # noqa: ARG002 -- for subclasses
    ) -> AbstractWebClientResponse:
        """Fetch a URL for this crawl; by default, with ``get()`` of the client.

        :param validators: make the request conditional with these, if the client can. It may
            return a ``WebClientNotModifiedResponse`` then.
        """
        return await self.client.get(url)

    async def head(self, url: str) -> AbstractWebClientResponse:
        """Request only the head of a URL, if the client can; by default, all of it."""
        return await self.client.get(url)

    def order_in_recording(
        self,
        url: str,  # noqa: ARG002 -- for subclasses
        validators: Validators | None = None,  # noqa: ARG002 -- for subclasses
        *,
        method: str = "GET",  # noqa: ARG002 -- for subclasses
    ) -> float:
        """Return when the next response for a URL comes, in the order of a recording.

        Called if the client replays one: results are taken in the order of the recording.

        :param method: ``HEAD`` for a request by ``head()``.
        """
        return 0.0

    async def close(self) -> None:
        """Release what belongs to the crawl. Called when it has ended."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


class AbstractAioWebClient(ABC):
    """Fetches URLs in asyncio; any number of crawls may share one."""

    replays: bool = False
    """Whether responses come from a recording: then no delay is needed before a retry."""

    @abstractmethod
    async def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects: a success response, or a ``WebClientErrorResponse``."""

    def for_crawl(self, homepage_url: str) -> AioCrawlScope:  # noqa: ARG002 -- a hook
        """Return the scope that a crawl of this homepage fetches with.

        Called once per crawl, before the first request.
        """
        return AioCrawlScope(self)

    async def close(self) -> None:  # noqa: B027 -- a hook
        """Close all connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
