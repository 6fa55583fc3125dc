"""``usp completion``: prints the completion script of a shell, which shtab makes of the parser."""

import argparse
from typing import Any, Final

from usp._extras import load
from usp.cli._arguments import COMMANDS
from usp.cli._exit import Exit
from usp.cli._parser import build_parsers
from usp.cli._value_types import FILE, FOLDER, OUTPUT

_FILES: Final = frozenset({"SOURCE", "A", "B", "DOMAINS"})
"""Arguments that are, or may be, files."""


def run(args: argparse.Namespace) -> Exit:
    """Print the script.

    :raises MissingExtraError: if shtab is not installed.
    """
    shtab = load("shtab", "A completion script", "cli")
    paths = {FILE: shtab.FILE, OUTPUT: shtab.FILE, FOLDER: shtab.DIRECTORY}
    parser, parsers = build_parsers()
    for command in COMMANDS:
        by_flag = {option.flags[-1]: option for option in command.options}
        completed: Any  # shtab reads attributes that argparse doesn't have
        for completed in parsers[command.name]._actions:
            option = by_flag.get((completed.option_strings or [""])[-1])
            if completed.metavar in _FILES and not option:
                completed.complete = shtab.FILE
            elif option and option.type in paths:
                completed.complete = paths[option.type]
            elif option and option.words:  # as choices, argparse would compare the whole list
                completed.choices = option.words
    print(shtab.complete(parser, args.shell))
    return Exit.DONE
