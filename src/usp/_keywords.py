"""The keywords of the functions that crawl: fields of the policy, and settings of the web client.

They are told apart here, and nowhere else.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from inspect import signature
from typing import TYPE_CHECKING, Any, Final, TypeVar

from usp._crawl.policy import (
    ROBOTS_AGENT,
    Policy,
    PolicyFields,
    agent_name,
    explains_policy,
    policy_or_default,
    policy_with,
    unexpected,
)
from usp._docstrings import explains_fields
from usp._drive.run import CrawlClient
from usp.exceptions import UsageError
from usp.web_client import OTHER_NAMES, ClientFields, ClientSettings
from usp.web_client.abstract_client import AbstractWebClient

if TYPE_CHECKING:
    from usp._drive.aio import AioCrawlClient
    from usp.web_client.abstract_aio_client import AbstractAioWebClient

_Choices = TypeVar("_Choices")
_Function = TypeVar("_Function")


class CrawlFields(PolicyFields, ClientFields, total=False):
    """The keywords of the functions that crawl: fields of ``Policy``, settings of the client."""


_KNOWN: Final = CrawlFields.__optional_keys__


def crawl_keywords(
    policy: Policy | None,
    web_client: AbstractWebClient | CrawlClient | None,
    given: Mapping[str, Any],
    source: object = None,
) -> tuple[Policy, CrawlClient]:
    """Return the policy of a crawl, and its client.

    :param web_client: the caller's client, or one that several crawls share.
    :param given: the keywords, ``CrawlFields``.
    :param source: what is crawled, if it is one source; a recording says it.
    :raises TypeError: if there is no such keyword.
    :raises UsageError: if a value is wrong, or there are settings for a client that was made.
    """
    chosen, settings = _told_apart(policy, web_client, given, _requests_client)
    if isinstance(web_client, CrawlClient):
        return chosen, CrawlClient(web_client.opened())
    return chosen, CrawlClient(web_client, settings, _name(source))


def aio_crawl_keywords(
    policy: Policy | None,
    web_client: "AbstractAioWebClient | None",
    given: Mapping[str, Any],
    source: object = None,
) -> "tuple[Policy, AioCrawlClient]":
    """Return the same for asyncio."""
    from usp._drive.aio import AioCrawlClient

    chosen, settings = _told_apart(policy, web_client, given, _aio_client)
    return chosen, AioCrawlClient(web_client, settings, _name(source))


def taken(choices: type[_Choices], given: Mapping[str, Any]) -> tuple[_Choices, dict[str, Any]]:
    """Return the keywords that are fields of a dataclass, as an instance of it; and the others."""
    names = {one.name for one in fields(choices)}  # type: ignore[arg-type]  # it is a dataclass
    chosen = choices(**{name: value for name, value in given.items() if name in names})
    return chosen, {name: value for name, value in given.items() if name not in names}


def _told_apart(
    policy: Policy | None,
    web_client: object,
    given: Mapping[str, Any],
    client_class: Callable[[], type],
) -> tuple[Policy, ClientSettings]:
    unknown = sorted(given.keys() - _KNOWN)
    if unknown:
        raise TypeError(_unexpected(unknown[0], client_class()))
    settings, changes = taken(ClientSettings, given)
    if web_client is not None and len(changes) < len(given):
        name = next(name for name in given if name not in changes)
        raise UsageError(f"{name} and web_client can't be used together: it is set on the client.")
    if settings.record is not None and os.path.lexists(settings.record):
        raise UsageError(
            f"record must be a new file: {os.fspath(settings.record)} exists already; "
            "RecordingWebClient(replace=True) replaces it."
        )
    base = policy_or_default(policy)
    if settings.user_agent and base.robots_agent == ROBOTS_AGENT:
        # The rules that are obeyed are those for the name that is sent.
        changes.setdefault("robots_agent", agent_name(settings.user_agent) or ROBOTS_AGENT)
    return policy_with(base, changes), settings  # type: ignore[arg-type]  # they are its fields


def _unexpected(name: str, client_class: type) -> str:
    """Return what to say of a keyword that there is not; settings of clients are often tried."""
    if name not in signature(client_class).parameters:
        return unexpected(name, _KNOWN)
    here = f"it is {OTHER_NAMES[name]} here; or " if name in OTHER_NAMES else ""
    call = f"{client_class.__name__}({name}=...)"
    return f"unexpected keyword argument {name!r}: {here}pass web_client={call}"


def _requests_client() -> type:
    from usp.web_client.requests_client import RequestsWebClient  # takes long to import

    return RequestsWebClient


def _aio_client() -> type:
    from usp.web_client.aio_client import AioWebClient  # takes long to import

    return AioWebClient


def _name(source: object) -> str | None:
    """Return what a recording says of its source; what is no source is told later."""
    name = os.fspath(source) if isinstance(source, os.PathLike) else source
    return name if isinstance(name, str) else None


_explains_client = explains_fields(
    ClientSettings,
    "The settings of the client, each a keyword here, unless ``web_client`` is given",
)


def explains_crawl(function: _Function) -> _Function:
    """Add the keywords that all functions that crawl have to a docstring."""
    return _explains_client(explains_policy(function))  # type: ignore[type-var]  # it is a function
