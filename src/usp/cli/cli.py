"""The entry of the command: reads the arguments, runs one command, turns its end into an exit code.

What can go wrong at the edge of the process is dealt with here and only here: wrong use, Ctrl-C,
a pipe that closes, a disk that is full. None of them ever shows a traceback. So that Ctrl-C is
caught while modules are still being imported, all of them are imported inside ``main``.
"""

from __future__ import annotations

import sys

from usp._version import __version__

TYPE_CHECKING = False  # as typing has it, which takes a while to import
if TYPE_CHECKING:
    import argparse

    from usp.cli._exit import Exit

__all__ = ["__version__", "main", "parse_args"]

_INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells count it: 128 and the number of SIGINT."""


def parse_args(arg_list: list[str] | None) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """Return the arguments as read, and the parser that read them.

    Without a command the namespace has no ``func``.
    """
    from usp.cli._arguments import parser_of_all

    parser = parser_of_all()
    return parser.parse_args(arg_list), parser


def main(arg_list: list[str] | None = None) -> None:
    """Run the command; come back when it worked, else exit with a code that is not zero."""
    try:
        code = int(_guarded(arg_list))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    if code:
        sys.exit(code)


def _guarded(arg_list: list[str] | None) -> Exit:
    from usp.cli import _output as _streams
    from usp.cli._exit import Exit
    from usp.exceptions import SitemapException, StorageError

    try:
        _streams.prepare()
        return _answer(arg_list)
    except StorageError as error:
        _streams.tell(f"error: {error}")
        return Exit.UNANSWERED
    except SitemapException as error:
        _streams.tell(f"error: {error}")
        return Exit.USAGE
    except BrokenPipeError:
        return Exit.DONE  # the reader has what it wanted
    except OSError as error:
        _streams.tell(f"error: {error}")
        return Exit.UNANSWERED
    finally:
        _streams.settle()


def _answer(arg_list: list[str] | None) -> Exit:
    """Run the command and hand over all that it printed: only then has it worked."""
    try:
        code = _run(arg_list)
    except SystemExit:  # argparse has printed the help or the version
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _run(arg_list: list[str] | None) -> Exit:
    from usp.cli._exit import Exit

    args, parser = parse_args(arg_list)
    if "func" not in args:
        parser.print_help()
        return Exit.DONE
    code: Exit = args.func(args)
    return code
