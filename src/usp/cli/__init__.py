"""The command ``usp``.

``cli`` is the entry point, ``_arguments`` has the options of all commands, and each command has one
file that runs it. Results go to stdout, messages and logs to stderr. A command returns its exit
code; it never ends the process itself. A command's file is imported when the command runs, so that
``--help`` and ``--version`` are fast and Ctrl-C works from the start. Logic that a program could
want belongs in the library, not here.
"""

from usp.cli.cli import main

__all__ = ["main"]
