"""The clients that fetch, for the rest of the package and for programs that bring their own.

Public modules: ``abstract_client`` and ``abstract_aio_client`` (what to subclass),
``requests_client`` and ``aio_client`` (our clients on requests and on aiohttp), ``recording`` and
``replay`` (clients that write a recording, and read one instead of the network). This file is the
entry point for the rest of the package: it makes the default client, adapts other clients, and
classifies errors. Everything below an underscore is private to this package:

- ``_http``: what both of our clients share; nothing there opens a connection;
- ``_requests``, ``_aiohttp``: everything that relies on undocumented parts of a library;
- ``_warc``: the files of recordings, by warcio.

requests and aiohttp take longer to import than all the rest, so they are loaded when a function
here is called.
"""

from collections.abc import Mapping
from typing import Any

from usp.web_client._http.challenges import CHALLENGE_HEADERS, challenge_in
from usp.web_client._http.client_settings import OTHER_NAMES, ClientFields, ClientSettings
from usp.web_client._http.described import described
from usp.web_client._http.foreign_client import as_web_client
from usp.web_client._http.foreign_response import body_chunks, is_error, is_success
from usp.web_client._http.signals import interruption
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import AbstractWebClient

__all__ = [
    "CHALLENGE_HEADERS",
    "OTHER_NAMES",
    "ClientFields",
    "ClientSettings",
    "as_web_client",
    "body_chunks",
    "challenge_in",
    "check_aio_settings",
    "default_aio_client",
    "default_client",
    "described",
    "interruption",
    "is_error",
    "is_success",
    "is_transient",
    "own_aio_client",
    "own_client",
]


def default_client() -> AbstractWebClient:
    """Return a new ``RequestsWebClient``."""
    from usp.web_client.requests_client import RequestsWebClient

    return RequestsWebClient()


def default_aio_client() -> AbstractAioWebClient:
    """Return a new ``AioWebClient``."""
    from usp.web_client.aio_client import AioWebClient

    return AioWebClient()


def own_client(
    settings: ClientSettings, source: str | None = None, *, replace: bool = False
) -> AbstractWebClient:
    """Return a new client with these settings; whoever asks for it closes it.

    :param source: what is recorded, if it isn't the homepage of the crawl.
    :param replace: whether a recording that is there may be replaced.
    :raises UsageError: if a file can't be read or written.
    :raises MissingExtraError: if warcio is needed, and not installed.
    """
    if settings.replay is not None:
        from usp.web_client.replay import ReplayWebClient

        return ReplayWebClient(settings.replay)
    client = _fetching_client(settings.keywords())
    if settings.record is None:
        return client
    from usp.web_client.recording import RecordingWebClient

    return RecordingWebClient(
        settings.record, client, replace=replace, source=source, close_client=True
    )


def _fetching_client(keywords: Mapping[str, Any]) -> AbstractWebClient:
    if not keywords:
        return default_client()
    from usp.web_client._requests.own_client import OwnClient

    return OwnClient(keywords)


def own_aio_client(settings: ClientSettings, source: str | None = None) -> AbstractAioWebClient:
    """Return the same for asyncio."""
    if settings.replay is not None:
        from usp.web_client.replay import AioReplayWebClient

        return AioReplayWebClient(settings.replay)
    from usp.web_client.aio_client import AioWebClient

    client = AioWebClient(**settings.keywords())
    if settings.record is None:
        return client
    from usp.web_client.recording import AioRecordingWebClient

    return AioRecordingWebClient(settings.record, client, source=source, close_client=True)


def check_aio_settings(settings: ClientSettings) -> None:
    """Raise if settings are none of a client for asyncio.

    :raises UsageError: if one isn't.
    """
    from usp.web_client.aio_client import AioWebClient

    AioWebClient(**settings.keywords())


def is_transient(error: BaseException) -> bool:
    """Tell whether an error that ended a body is transient, so that a retry makes sense."""
    from usp.web_client._http.errors import is_transient

    return is_transient(error)


def __getattr__(name: str) -> object:
    if name != "requests_client":  # in 1.8.1 it is there as soon as usp.tree is imported
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("usp.web_client.requests_client")
