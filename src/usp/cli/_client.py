"""The client of a command. It is imported where it is needed: requests takes long to import."""

from collections.abc import Callable, Mapping
from typing import Any

from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.requests_client import RequestsWebClient

__all__ = ["CommandClient"]


class CommandClient(RequestsWebClient):
    """Fetches with the settings of a command; so does what it returns for asyncio."""

    thread_safe = True  # like its base class with a session of its own

    def __init__(
        self, make_aio_client: Callable[[], AbstractAioWebClient], settings: Mapping[str, Any]
    ) -> None:
        """Take the settings of the command.

        :raises UsageError: if a setting is wrong.
        """
        super().__init__(**settings)
        self._make_aio_client = make_aio_client

    def for_asyncio(self) -> AbstractAioWebClient:
        """Return a new client for asyncio with the same settings."""
        return self._make_aio_client()
