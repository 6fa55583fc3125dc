"""A page for each command: how it is called, every option with its name in a config file, examples.

All of it comes from the table of commands, of which the argument parser and the help are made.
"""

from collections.abc import Iterator
from typing import Final

from usp.cli._arguments import COMMANDS, Command
from usp.cli._options import GROUPS, Option

FOLDER: Final = "reference/commands"

_INDEX: Final = """\
# Commands and their options

Every command with all of its options, as `usp COMMAND --help` prints them.
[The command](../command.md) explains what they share: sources, output, configuration.

| command | what it does |
|---|---|
"""


def pages() -> dict[str, str]:
    """Return a page for each command, and their index, by their paths in the site."""
    rows = "".join(f"| [`usp {one.name}`]({one.name}.md) | {one.summary} |\n" for one in COMMANDS)
    made = {f"{FOLDER}/{one.name}.md": "\n".join(_page(one)) + "\n" for one in COMMANDS}
    return {f"{FOLDER}/index.md": _INDEX + rows, **made}


def _page(command: Command) -> Iterator[str]:
    yield f"# `usp {command.name}`"
    yield from ("", f"{command.summary[0].upper()}{command.summary[1:]}.")
    yield from ("", "```text", command.usage, "```")
    if command.argument:
        yield from ("", f"`{command.argument.name}` is {_cell(command.argument.help)}.")
    for group, title in GROUPS.items():
        yield from _options(title, [one for one in command.options if one.group == group])
    if command.examples:
        yield from ("", "## Examples")
        for line, meaning in command.examples:
            yield from (
                "",
                f"{meaning[0].upper()}{meaning[1:]}:",
                "",
                "```console",
                f"$ {line}",
                "```",
            )
    yield from ("", "[What the exit codes mean](../exit-codes.md), [all commands](index.md).")


def _options(title: str, options: list[Option]) -> Iterator[str]:
    if not options:
        return
    yield from ("", f"## Options: {title}", "")
    yield "| option | value | what it does |"
    yield "|---|---|---|"
    for option in options:
        flags = ", ".join(f"`{flag}`" for flag in option.spellings)
        yield f"| {flags} | {_value(option)} | {_cell(option.help)} |"


def _value(option: Option) -> str:
    return f"`{_cell(option.placeholder)}`" if option.placeholder else "none"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*")
