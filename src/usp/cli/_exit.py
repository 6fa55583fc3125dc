"""The exit codes, and nothing else: they are wanted before anything else is imported."""

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
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 and the number of SIGINT."""
