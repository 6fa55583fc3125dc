"""The exit codes of all commands."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit code of a command."""

    DONE = 0
    NO = 1
    """The question was answered, and the answer is no: there is no sitemap."""
    USAGE = 2
    """The arguments are wrong (argparse uses the same code)."""
    FAILED = 3
    """The question could not be answered: blocked, unreachable, or the output can't be written."""
