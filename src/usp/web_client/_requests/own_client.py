"""The client that a crawl makes for itself; imported where it is needed, since requests is."""

from collections.abc import Mapping
from typing import Any

from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.requests_client import RequestsWebClient

__all__ = ["OwnClient"]


class OwnClient(RequestsWebClient):
    """Fetches with some settings; so does what it returns for asyncio."""

    thread_safe = True  # like its base class with a session of its own

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Take settings that both of our clients have.

        :raises UsageError: if one is wrong.
        """
        super().__init__(**settings)
        self._settings = settings

    def for_asyncio(self) -> AbstractAioWebClient:
        """Return a new client for asyncio with the same settings."""
        from usp.web_client.aio_client import AioWebClient  # takes long to import

        return AioWebClient(**self._settings)
