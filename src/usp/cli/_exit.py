"""The exit codes of all commands."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit code of a command."""

    DONE = 0
    NO = 1
    """No sitemap was found."""
    USAGE = 2
    """The arguments are wrong, also the path of an output (argparse uses the same code)."""
    FAILED = 3
    """It could not be determined: blocked, unreachable, or a disk is full."""
