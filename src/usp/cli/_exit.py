"""The exit codes that a command can end with."""

from enum import IntEnum


class Exit(IntEnum):
    """What the shell is told."""

    DONE = 0
    NO = 1
    """The question was answered, and the answer is no."""
    USAGE = 2
    """The command was used wrongly (argparse says the same)."""
    UNANSWERED = 3
    """The question could not be answered: blocked, unreachable, no room for the output."""
