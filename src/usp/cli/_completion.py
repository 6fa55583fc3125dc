"""``usp completion``: prints the completion script of a shell, which shtab makes of the parser."""

import argparse
from typing import Any, Final

from usp._extras import load
from usp.cli._exit import Exit
from usp.cli._parser import build_parsers

_FILES: Final = frozenset({"FILE", "PATH", "SOURCE", "A", "B"})
"""Names of values that are, or may be, files."""


def run(args: argparse.Namespace) -> Exit:
    """Print the script.

    :raises MissingExtraError: if shtab is not installed.
    """
    shtab = load("shtab", "A completion script", "cli")
    parser, commands = build_parsers()
    for command in commands.values():
        for action in command._actions:
            if action.metavar in _FILES:
                files: Any = action  # shtab reads this attribute
                files.complete = shtab.FILE
    print(shtab.complete(parser, args.shell))
    return Exit.DONE
