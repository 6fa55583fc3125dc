"""The client that a crawl in asyncio fetches with: what users implement to bring their own.

As in ``abstract_client``, ``get()`` is the only door, and whatever it raises is a failed fetch; an
error is the same ``WebClientErrorResponse``. A crawl that is cancelled cancels its ``get()`` and
closes what it had been given.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import Self

from usp.web_client.abstract_client import AbstractWebClientResponse

__all__ = ["AbstractAioWebClient", "AbstractAioWebClientSuccessResponse"]


class AbstractAioWebClientSuccessResponse(AbstractWebClientResponse):
    """A document came; its body is read piece by piece."""

    @abstractmethod
    def status_code(self) -> int:
        """Return the HTTP status, such as 200."""

    @abstractmethod
    def header(self, case_insensitive_name: str) -> str | None:
        """Return a header's value, or None if it isn't there."""

    @abstractmethod
    def url(self) -> str:
        """Return the URL that answered, after redirects."""

    def redirects(self) -> tuple[str, ...]:
        """Return the URLs that led on to others, in order; none where a client doesn't say."""
        return ()

    @abstractmethod
    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes. What is packed with gzip or zlib may stay so."""

    async def close(self) -> None:
        """Let go of the connection, whether the body was read or not."""


class AbstractAioWebClient(ABC):
    """Fetches URLs, in asyncio; many crawls may share one."""

    @abstractmethod
    async def get(self, url: str) -> AbstractWebClientResponse:
        """Fetch a URL, following redirects: a success response, or a ``WebClientErrorResponse``."""

    def for_crawl(
        self,
        homepage_url: str,  # noqa: ARG002 -- a hook
    ) -> AbstractAsyncContextManager["AbstractAioWebClient"]:
        """Return the client for one crawl: by default, this one for all of them."""
        return nullcontext(self)

    async def close(self) -> None:  # noqa: B027 -- a hook
        """Let go of all connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
