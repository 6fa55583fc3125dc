"""The command `usp`: speaks to a person at a terminal, and to pipes.

Rules of the room: one file a command, each with its row in ``cli.COMMANDS``. Data goes to stdout
and talk to stderr; a command returns its exit code and never ends the process itself. Whatever
needs the network is imported when a command runs, so that help and version come at once.
"""
