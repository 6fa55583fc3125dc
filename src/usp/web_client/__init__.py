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

from usp.web_client._http.described import described
from usp.web_client._http.foreign_client import as_web_client
from usp.web_client._http.foreign_response import body_chunks, is_error, is_success
from usp.web_client._http.signals import interruption
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import AbstractWebClient

__all__ = [
    "as_web_client",
    "body_chunks",
    "default_aio_client",
    "default_client",
    "described",
    "interruption",
    "is_error",
    "is_success",
    "is_transient",
]


def default_client() -> AbstractWebClient:
    """Return a new ``RequestsWebClient``."""
    from usp.web_client.requests_client import RequestsWebClient

    return RequestsWebClient()


def default_aio_client() -> AbstractAioWebClient:
    """Return a new ``AioWebClient``."""
    from usp.web_client.aio_client import AioWebClient

    return AioWebClient()


def is_transient(error: BaseException) -> bool:
    """Tell whether an error that ended a body is transient, so that a retry makes sense."""
    from usp.web_client._http.errors import is_transient

    return is_transient(error)


def __getattr__(name: str) -> object:
    if name != "requests_client":  # in 1.8.1 it is there as soon as usp.tree is imported
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("usp.web_client.requests_client")
