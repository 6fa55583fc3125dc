"""The command `usp`: speaks to a person at a terminal, and to pipes.

Rules of the room: ``_arguments`` has the options of all commands, and one file a command has what
it does. Data goes to stdout and talk to stderr; a command returns its exit code and never ends the
process itself. ``cli`` imports next to nothing, and a command's own file is imported when it runs:
so help and version come at once, and Ctrl-C is answered from the first moment on.
"""

from usp.cli.cli import main

__all__ = ["main"]
