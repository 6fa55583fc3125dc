"""``usp completion``: prints the completion script of a shell, which shtab makes of the parser."""

import argparse
from typing import Any, Final

from usp.cli._arguments import build_parsers
from usp.cli._exit import Exit
from usp.exceptions import UsageError

_FILES: Final = frozenset({"FILE", "PATH", "SOURCE"})
"""Names of values that are, or may be, files."""


def run(args: argparse.Namespace) -> Exit:
    """Print the script.

    :raises UsageError: if shtab is not installed.
    """
    try:
        import shtab
    except ImportError:
        raise UsageError('completions need the extra "cli": pip install "usp[cli]"') from None
    parser, commands = build_parsers()
    for command in commands.values():
        for action in command._actions:
            if action.metavar in _FILES:
                files: Any = action  # shtab reads this attribute
                files.complete = shtab.FILE
    print(shtab.complete(parser, args.shell))
    return Exit.DONE
