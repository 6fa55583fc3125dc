"""From the parsed options to what the library takes: a policy, a web client, discovery switches.

The rows of ``_options`` say where each value goes. A value that the library rejects is reported
under the name of its option.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from usp._crawl.policy import Policy, agent_name
from usp._extras import load
from usp.cli._options import Destination, Option
from usp.cli._text_file import read_lines
from usp.cli._value_types import FLAG
from usp.exceptions import UsageError
from usp.web_client import ClientSettings, own_aio_client, own_client
from usp.web_client.abstract_client import AbstractWebClient

_SEPARATORS: Final = {"cookie": "; "}
"""What joins the values of a header that is given twice; a comma for all others (RFC 9110 5.3)."""
_DISCOVERY: Final[dict[str, Any]] = {"use_robots": True, "use_known_paths": True}
"""What a command does unless an option says otherwise: the scope of 1.8.1, so that every command
finds the same pages. ``usp crawl`` has no such settings: many sites get fewer requests."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options of a command say to the library."""

    policy: Policy
    client: ClientSettings
    discovery: Mapping[str, Any]
    """``use_robots`` and ``use_known_paths``: the same for all commands that read one site."""
    options: tuple[Option, ...] = ()
    """The options of the command, for errors."""
    source: str | None = None
    """What a recording says of its source, if it is one."""
    replaces: bool = False
    """Whether a recording that is there may be replaced."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> "Settings":
        """Return the settings of a command.

        :raises UsageError: if a value is wrong; the message names the option.
        """
        options = args.command.options
        client = client_settings(args)
        discovery, fields = (
            chosen_values(args, target) for target in (Destination.DISCOVERY, Destination.POLICY)
        )
        agent = agent_name(client.user_agent or "")
        if agent:  # the rules that are obeyed are those for the name that is sent
            fields["robots_agent"] = agent
        try:
            policy = Policy(**fields)
        except UsageError as error:
            raise named_by_option(error, options) from None
        replaces = bool(getattr(args, "replace", False))
        return cls(policy, client, _DISCOVERY | discovery, options, _only_source(args), replaces)

    @property
    def is_recording(self) -> bool:
        """Whether a recording is written, or read instead of the network."""
        return self.client.record is not None or self.client.replay is not None

    def web_client(self) -> AbstractWebClient:
        """Return a new client.

        :raises UsageError: if a recording can't be read or written.
        """
        if self.client.insecure:
            from urllib3 import disable_warnings

            disable_warnings()  # the user has asked for it
        return own_client(self.client, self.source, replace=self.replaces)

    def check_aio_client(self) -> None:
        """Check that live pages can be requested, before anything is.

        :raises UsageError: if a setting is wrong.
        :raises MissingExtraError: if aiohttp is not installed.
        """
        load("aiohttp", "--live", "async")
        own_aio_client(replace(self.client, record=None))


def _only_source(args: argparse.Namespace) -> str | None:
    """Return what the command reads, if it is one source; a comparison has two others."""
    given: str | Sequence[str] = getattr(args, "source", ())
    named = [given] if isinstance(given, str) else given
    return named[0] if len(named) == 1 and not getattr(args, "from", None) else None


def client_settings(args: argparse.Namespace) -> ClientSettings:
    """Return the settings of a web client that the user chose.

    :raises UsageError: if a value is wrong; the message names the option.
    """
    chosen = chosen_values(args, Destination.CLIENT)
    if "headers" in chosen:
        chosen["headers"] = _headers(chosen["headers"])
    if {"record", "replay"} <= chosen.keys():
        raise UsageError("--record and --replay can't be used together.")
    try:
        return ClientSettings(**chosen)
    except UsageError as error:
        raise named_by_option(error, args.command.options) from None


def chosen_values(args: argparse.Namespace, target: Destination) -> dict[str, Any]:
    """Return the values for a target, by keyword: those that the user chose."""
    return dict(_values(args, target))


def _values(args: argparse.Namespace, target: Destination) -> Iterator[tuple[str, Any]]:
    options: tuple[Option, ...] = args.command.options
    for option in options:
        value = getattr(args, option.dest)
        if option.target is target and value is not None:
            if option.type is not FLAG:
                yield option.keyword, value
            elif value:
                yield option.keyword, option.meaning


def named_by_option(error: UsageError, options: Iterable[Option]) -> UsageError:
    """Return an error about a parameter of the library, as one about its option."""
    message = str(error)
    for option in options:
        if option.keyword and message.startswith((f"{option.keyword} ", f"{option.keyword}:")):
            return UsageError(f"{option.flags[-1]}{message.removeprefix(option.keyword)}")
    return error


def _headers(given: Iterable[str]) -> dict[str, str]:
    """Return headers by name; no message quotes one, since it may be a secret."""
    headers: dict[str, str] = {}
    for text in given:
        lines = read_lines("--header", text[1:]) if text.startswith("@") else [text]
        for line in lines:
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not colon or not name:
                lacks = "there is no name before the colon" if colon else "there is no colon"
                raise UsageError(f"--header must be 'NAME: VALUE' or @FILE; {lacks}.")
            known = next((one for one in headers if one.lower() == name.lower()), None)
            if known is None:
                headers[name] = value
            else:
                headers[known] += _SEPARATORS.get(name.lower(), ", ") + value
    return headers
