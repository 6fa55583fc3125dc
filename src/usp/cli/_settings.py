"""From the parsed options to what the library takes: a policy, a web client, discovery switches.

The rows of ``_options`` say where each value goes. A value that the library rejects is reported
under the name of its option.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from usp._crawl.policy import Policy
from usp._extras import load
from usp.cli._options import Destination, Option
from usp.cli._text_file import read_lines
from usp.cli._value_types import FLAG
from usp.exceptions import UsageError
from usp.web_client.abstract_client import AbstractWebClient

if TYPE_CHECKING:
    from usp.web_client.aio_client import AioWebClient

_SEPARATORS: Final = {"cookie": "; "}
"""What joins the values of a header that is given twice; a comma for all others (RFC 9110 5.3)."""
_DISCOVERY: Final[dict[str, Any]] = {"use_robots": True, "use_known_paths": True}
"""What a command does unless an option says otherwise: the scope of 1.8.1, so that every command
finds the same pages. ``usp crawl`` has no such settings: many sites get fewer requests."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options of a command say to the library."""

    policy: Policy
    client_settings: Mapping[str, Any]
    """Keywords of ``RequestsWebClient``, and of ``AioWebClient``: the same for both."""
    discovery: Mapping[str, Any]
    """``use_robots`` and ``use_known_paths``: the same for all commands that read one site."""
    options: tuple[Option, ...] = ()
    """The options of the command, for errors."""
    recording: "RecordingChoice | None" = None
    """The recording to write or to read, if there is one."""

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
        agent = str(client.get("user_agent") or "").partition("/")[0].split()
        if agent:  # the rules that are obeyed are those for the name that is sent
            fields["robots_agent"] = agent[0]
        try:
            policy = Policy(**fields)
        except UsageError as error:
            raise named_by_option(error, options) from None
        return cls(policy, client, _DISCOVERY | discovery, options, RecordingChoice.of(args))

    def web_client(self) -> AbstractWebClient:
        """Return a new client.

        :raises UsageError: if a setting is wrong; the message names the option.
        """
        if self.recording and self.recording.replay:
            from usp.web_client.replay import ReplayWebClient

            return ReplayWebClient(self.recording.replay)
        from usp.cli._client import CommandClient  # takes long to import

        if self.client_settings.get("verify") is False:
            from urllib3 import disable_warnings

            disable_warnings()  # the user has asked for it
        try:
            client = CommandClient(self.aio_client, self.client_settings)
        except UsageError as error:
            raise named_by_option(error, self.options) from None
        return self.recording.recorded(client) if self.recording else client

    def aio_client(self) -> "AioWebClient":
        """Return a new client for asyncio, with the same settings.

        :raises UsageError: if a setting is wrong; the message names the option.
        :raises MissingExtraError: if aiohttp is not installed.
        """
        load("aiohttp", "--live", "async")
        from usp.web_client.aio_client import AioWebClient

        try:
            return AioWebClient(**self.client_settings)
        except UsageError as error:
            raise named_by_option(error, self.options) from None


@dataclass(frozen=True, slots=True)
class RecordingChoice:
    """A recording to write, or to read instead of the network."""

    record: str | None
    replay: str | None
    source: str | None
    """What is recorded, if it is one source."""
    replace: bool

    @classmethod
    def of(cls, args: argparse.Namespace) -> "RecordingChoice | None":
        """Return what the options say; None if they say nothing.

        :raises UsageError: if a recording is to be written and read at once.
        """
        record, replay = getattr(args, "record", None), getattr(args, "replay", None)
        if record is not None and replay is not None:
            raise UsageError("--record and --replay can't be used together.")
        if record is None and replay is None:
            return None
        given: str | Sequence[str] = getattr(args, "source", ())  # a comparison has two others
        named = [given] if isinstance(given, str) else given
        is_one = len(named) == 1 and not getattr(args, "from", None)
        return cls(record, replay, named[0] if is_one else None, bool(args.replace))

    def recorded(self, client: AbstractWebClient) -> AbstractWebClient:
        """Return a client that records what another one fetches; closing it closes both."""
        from usp.web_client.recording import RecordingWebClient

        return RecordingWebClient(
            str(self.record), client, replace=self.replace, source=self.source, close_client=True
        )


def client_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of a web client that the user chose."""
    chosen = chosen_values(args, Destination.CLIENT)
    for name, convert in _CONVERSIONS.items():
        if name in chosen:
            chosen[name] = convert(chosen[name])
    return chosen


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
        if option.keyword and message.startswith(f"{option.keyword} "):
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
                raise UsageError("--header must be 'NAME: VALUE' or @FILE; there is no colon.")
            known = next((one for one in headers if one.lower() == name.lower()), None)
            if known is None:
                headers[name] = value
            else:
                headers[known] += _SEPARATORS.get(name.lower(), ", ") + value
    return headers


_CONVERSIONS: Final[Mapping[str, Any]] = {
    "headers": _headers,
    "proxies": lambda url: dict.fromkeys(("http", "https"), url or None),
}
"""Client settings that are written in another form on the command line."""
