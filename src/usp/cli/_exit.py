"""The exit codes of all commands."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit code of a command."""

    DONE = 0
    NO = 1
    """No sitemap was found."""
    USAGE = 2
    """The arguments are wrong (argparse uses the same code)."""
    FAILED = 3
    """It could not be determined: blocked, unreachable, or the output can't be written."""
