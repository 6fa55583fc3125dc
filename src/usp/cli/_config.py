"""Options from a file: ``[tool.usp]`` of a pyproject.toml, or a usp.toml.

The names are those of the long options; a table with the name of a command is for that command
alone. The nearest file counts, from the current folder upwards; in one folder, usp.toml does. What
the command line says goes before it. Files that it names are found beside it.
"""

import argparse
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from usp._validate import hint
from usp.cli._arguments import COMMANDS, Command
from usp.cli._options import UNCONFIGURABLE, Option
from usp.exceptions import UsageError

_OWN: Final = "usp.toml"
_PROJECT: Final = "pyproject.toml"
_SECTION: Final = "tool.usp."
_MAY_HAVE_SECTION: Final = re.compile(
    r"tool[\"'\s]*+\.[\"'\s]*+usp|\[\s*+[\"']?tool[\"']?\s*+\]|tool[\"'\s]*+=|\\[uU]"
)
"""Finds every way to write the table, and what only looks like one; keys may have escapes. Most
projects say nothing about us: to parse their files takes longer than to start without that."""
_MAX_CHARACTERS: Final = 1024 * 1024
"""What a config file may have; a device may have no end."""


_OPPOSITES: Final = {
    "replace": "append",
    "append": "replace",
    "record": "replay",
    "replay": "record",
}
"""Options that exclude each other: the one that is typed goes before the other of the file."""


class _ConfigFile(NamedTuple):
    """A config file."""

    name: str
    section: str
    """The prefix of its keys."""
    table: dict[str, Any]


class _Configured(NamedTuple):
    """The value of an option."""

    value: object
    place: str
    """The file, and the key in it."""


def complete(args: argparse.Namespace, command: Command) -> None:
    """Set each option that was not given to its value in the config file, or to its default.

    :raises UsageError: if the file can't be read, or has something that is no option.
    """
    typed = {option.name for option in command.options if _is_typed(option, args)}
    typed |= {other for name, other in _OPPOSITES.items() if name in typed}
    left = {option.name: option for option in command.options if option.name not in typed}
    found_file = _found_file(args) if command.is_configurable else None
    configured = _options(found_file, command, left) if found_file else {}
    of_file: dict[str, _Configured] = {}
    for option in command.options:
        if getattr(args, option.dest) is None:
            found = configured.get(option.name) if option.name in left else None
            setattr(args, option.dest, found.value if found else option.default)
            if found:
                of_file[option.flags[-1]] = found
    if of_file:
        args.configured = of_file


def _is_typed(option: Option, args: argparse.Namespace) -> bool:
    """Tell whether the command line says the value, if only by the suffix of the output."""
    if getattr(args, option.dest) is not None:
        return True
    output = getattr(args, "output", None)
    return bool(output and option.is_said_by and option.is_said_by(output))


def located(error: UsageError, args: argparse.Namespace) -> UsageError:
    """Return an error about an option as one about the key of the config file that set it.

    An error about an option begins with it, and one about a file with the name of the file.
    """
    message = str(error)
    of_file: dict[str, _Configured] = getattr(args, "configured", {})
    for flag, (_, place) in of_file.items():
        if message.startswith((f"{flag} ", f"{flag}:")):
            return UsageError(f"{place}{message.removeprefix(flag)}")
    named = message.removeprefix("cannot write ").removeprefix("cannot read ")
    for value, place in of_file.values():
        paths = {value, os.path.realpath(value)} if isinstance(value, str) and value else ()
        if any(named.startswith((f"{path} ", f"{path}:")) for path in paths):
            return UsageError(f"{place}: {message}")
    return error


def _found_file(args: argparse.Namespace) -> _ConfigFile | None:
    """Return the config file, and name it among the arguments: nothing may be written there."""
    found = _find(args.config) if args.config or not args.no_config else None
    if found:
        args.config = found.name
    return found


def _options(
    config: _ConfigFile, command: Command, left: Mapping[str, Option]
) -> dict[str, _Configured]:
    """Return the options of the config file that are for a command, by name.

    A general value must be one for the command, if that takes it from there: ``left`` has what it
    does, unless the command's own table has it. Otherwise, some command must take it.
    """
    file, section, table = config
    general = {name: value for name, value in table.items() if not isinstance(value, dict)}
    own = table.get(command.name)
    of_command = own if isinstance(own, dict) else {}
    used = {name: [option] for name, option in left.items() if name not in of_command}
    chosen = _checked(file, section, general, {**_of_all_commands(), **used})
    for name, value in table.items():
        if isinstance(value, dict):
            checked = _checked_command(file, section, name, value)
            chosen |= checked if name == command.name else {}
    return chosen


def _checked_command(
    file: str, section: str, name: str, table: Mapping[str, object]
) -> dict[str, _Configured]:
    commands = {command.name: command for command in COMMANDS if command.is_configurable}
    if name not in commands:
        raise UsageError(f"{file}: {section}{name} is no command{hint(name, commands)}")
    known = {option.name: [option] for option in commands[name].options}
    return _checked(file, f"{section}{name}.", table, known)


def _of_all_commands() -> dict[str, list[Option]]:
    """Return the options by name; several commands may have one with other values."""
    found: dict[str, list[Option]] = {}
    for command in COMMANDS:
        for option in command.options if command.is_configurable else ():
            found.setdefault(option.name, []).append(option)
    return found


def _checked(
    file: str, section: str, table: Mapping[str, object], options: Mapping[str, list[Option]]
) -> dict[str, _Configured]:
    """Check values; each must be one for the option of its name, or for one of several."""
    where, folder = f"{file}: {section}", os.path.dirname(file)  # noqa: PTH120 -- empty if it is here
    known = {name: found for name, found in options.items() if name not in UNCONFIGURABLE}
    checked: dict[str, _Configured] = {}
    for name, value in table.items():
        if name not in known:
            raise UsageError(f"{where}{name} is no option{hint(name, known)}")
        try:
            taken = _taken(value, known[name], folder)
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{where}{name} {error}") from None
        checked[name] = _Configured(taken, f"{where}{name}")
    return checked


def _taken(value: object, options: list[Option], folder: str) -> object:
    """Return a value as the first option gives it that takes it.

    :raises argparse.ArgumentTypeError: if none does.
    """
    for option in options:
        with suppress(argparse.ArgumentTypeError):
            return option.configured(value, folder)
    every = tuple(dict.fromkeys(choice for option in options for choice in option.choices))
    return options[-1]._replace(choices=every).configured(value, folder)  # which raises


def _find(named: str | None) -> _ConfigFile | None:
    """Return the config file; None if there is none."""
    if named:
        section, table = _read(Path(named))
        return _ConfigFile(named, section, table or {})
    for file in _candidates():
        if file.is_file():
            section, table = _read(file)
            if table is not None:
                return _ConfigFile(os.path.relpath(file), section, table)
    return None


def _candidates() -> Iterator[Path]:
    try:
        here = Path.cwd()
    except OSError:  # the folder was removed
        return
    for folder in (here, *here.parents):
        yield from (folder / _OWN, folder / _PROJECT)


def _text_of(file: Path) -> str:
    with file.open(encoding="utf-8") as opened:
        text = opened.read(_MAX_CHARACTERS + 1)
    if len(text) > _MAX_CHARACTERS:
        raise UsageError(f"{file} is no config file: it has more than a million characters")
    return text


def _read(file: Path) -> tuple[str, dict[str, Any] | None]:
    """Return the prefix of the keys of a file, and the table with the options, if it has one."""
    try:
        text = _text_of(file)
        if file.name == _PROJECT and not _MAY_HAVE_SECTION.search(text):
            return _SECTION, None
        import tomllib  # few folders have a config file

        content = tomllib.loads(text)
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:  # TOML or UTF-8
        raise UsageError(f"{file} is not valid TOML: {error}") from error
    except RecursionError:
        raise UsageError(f"{file} is not valid TOML: it is nested too deeply") from None
    if file.name != _PROJECT:
        return "", content
    tools = content.get("tool", {})
    table = tools.get("usp") if isinstance(tools, dict) else None
    if not isinstance(table, dict | None):
        raise UsageError(f"{file}: tool.usp must be a table of options")
    return _SECTION, table
