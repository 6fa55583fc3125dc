"""The command ``usp``.

- ``cli``: the entry point; ``_arguments``: the commands and their own options; ``_options``: the
  options that they share, as a table; ``_value_types``: the values that they take; ``_parser``:
  the parser, made from these; ``_config``: options from a file;
- ``_settings``, ``_source``: what the options and the source mean to the library;
- ``_ls``, ``_export``, ``_find``, ``_completion``, ``_demo``: one file for each command, which runs
  it; ``_rows``: formats of exports as output of ``usp ls``;
- ``_text_file``: files that options name;
- ``_target``, ``_output``, ``_log``, ``_progress``, ``_outcome``, ``_exit``: where results go, and
  what is said about them.

Results go to stdout or a file, all else to stderr. A command returns its exit code; it never ends
the process itself. A command's file is imported when the command runs, so that ``--help`` and
``--version`` are fast and Ctrl-C works from the start. Logic that a program could want belongs in
the library, not here.
"""

from usp.cli.cli import main

__all__ = ["main"]
