"""Options from a file: ``[tool.usp]`` of a pyproject.toml, or a usp.toml.

The names are those of the long options; a table with the name of a command is for that command
alone. The nearest file counts, from the current folder upwards; in one folder, usp.toml does. What
the command line says goes before it. Files that it names are found beside it.
"""

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from usp._validate import hint
from usp.cli._arguments import COMMANDS, Command
from usp.cli._options import UNCONFIGURABLE, Option
from usp.exceptions import UsageError

_OWN: Final = "usp.toml"
_PROJECT: Final = "pyproject.toml"


def complete(args: argparse.Namespace, command: Command) -> None:
    """Set each option that was not given to its value in the config file, or to its default.

    :raises UsageError: if the file can't be read, or has something that is no option.
    """
    configured = _options(args, command) if command.is_configurable else {}
    typed_output = getattr(args, "output", None)
    for option in command.options:
        if getattr(args, option.dest) is None:
            is_said = typed_output and option.is_said_by and option.is_said_by(typed_output)
            chosen = {} if is_said else configured
            setattr(args, option.dest, chosen.get(option.name, option.default))


def _options(args: argparse.Namespace, command: Command) -> dict[str, object]:
    """Return the options of the config file that are for a command, by name."""
    found = _find(args.config) if args.config or not args.no_config else None
    if found is None:
        return {}
    file, section, table = found
    general = {name: value for name, value in table.items() if not isinstance(value, dict)}
    every = {
        option.name: option
        for known in COMMANDS
        if known.is_configurable
        for option in known.options
    }
    options = {**every, **_known_to(command)}
    chosen = _checked(file, section, general, options)
    for name, own in table.items():
        if isinstance(own, dict):
            checked = _checked_command(file, section, name, own)
            chosen |= checked if name == command.name else {}
    return chosen


def _checked_command(
    file: str, section: str, name: str, table: Mapping[str, object]
) -> dict[str, object]:
    commands = {command.name: command for command in COMMANDS if command.is_configurable}
    if name not in commands:
        raise UsageError(f"{file}: {section}{name} is no command{hint(name, commands)}")
    return _checked(file, f"{section}{name}.", table, _known_to(commands[name]))


def _known_to(command: Command) -> dict[str, Option]:
    return {option.name: option for option in command.options}


def _checked(
    file: str, section: str, table: Mapping[str, object], options: Mapping[str, Option]
) -> dict[str, object]:
    where, folder = f"{file}: {section}", os.path.dirname(file)  # noqa: PTH120 -- empty if it is here
    known = {name: option for name, option in options.items() if name not in UNCONFIGURABLE}
    checked: dict[str, object] = {}
    for name, value in table.items():
        if name not in known:
            raise UsageError(f"{where}{name} is no option{hint(name, known)}")
        try:
            checked[name] = known[name].configured(value, folder)
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{where}{name} {error}") from None
    return checked


def _find(named: str | None) -> tuple[str, str, dict[str, Any]] | None:
    """Return the config file, the prefix of its keys, and its table; None if there is none."""
    if named:
        section, table = _read(Path(named))
        return (named, section, table or {})
    for file in _candidates():
        if file.is_file():
            section, table = _read(file)
            if table is not None:
                return os.path.relpath(file), section, table
    return None


def _candidates() -> Iterator[Path]:
    try:
        here = Path.cwd()
    except OSError:  # the folder was removed
        return
    for folder in (here, *here.parents):
        yield from (folder / _OWN, folder / _PROJECT)


def _read(file: Path) -> tuple[str, dict[str, Any] | None]:
    """Return the prefix of the keys of a file, and the table with the options, if it has one."""
    import tomllib  # few folders have a config file

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:  # TOML or UTF-8
        raise UsageError(f"{file} is not valid TOML: {error}") from error
    except RecursionError:
        raise UsageError(f"{file} is not valid TOML: it is nested too deeply") from None
    if file.name != _PROJECT:
        return "", content
    table = content.get("tool", {})
    table = table.get("usp") if isinstance(table, dict) else None
    return "tool.usp.", table if isinstance(table, dict) else None
