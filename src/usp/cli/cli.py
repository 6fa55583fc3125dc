"""The entry of the command: reads the arguments, runs one command, turns its end into an exit code.

What can go wrong at the edge of the process is dealt with here and only here: wrong use, Ctrl-C,
a pipe that closes, a disk that is full. None of them ever shows a traceback.
"""

import argparse
import os
import sys
from typing import Final

from usp._version import __version__
from usp.cli import _demo, _ls
from usp.cli._util import Exit, tell, write_utf8
from usp.exceptions import SitemapException

COMMANDS: Final = (_ls.COMMAND, _demo.COMMAND)

_RIVAL: Final = "ultimate-sitemap-parser"
"""Another distribution that installs the import name ``usp``: the two would mix."""


def parse_args(arg_list: list[str] | None) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """Return the arguments as read, and the parser that read them.

    Without a command the namespace has no ``func``.
    """
    parser = argparse.ArgumentParser(
        prog="usp", description="Find, fetch and read the sitemaps of a website."
    )
    parser.add_argument("-v", "--version", action="version", version=f"%(prog)s v{__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        subparser = subparsers.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            formatter_class=argparse.RawTextHelpFormatter,
        )
        command.configure(subparser)
        subparser.set_defaults(func=command.run)
    return parser.parse_args(arg_list), parser


def main(arg_list: list[str] | None = None) -> None:
    """Run the command; come back when it worked, else exit with a code that is not zero."""
    code = _guarded(arg_list)
    if code != Exit.DONE:
        sys.exit(int(code))


def _guarded(arg_list: list[str] | None) -> Exit:
    try:
        try:
            return _run(arg_list)
        finally:
            # Here and not when Python ends, which would complain about a closed pipe.
            print(end="", flush=True)
    except SitemapException as error:
        tell(f"error: {error}")
        return Exit.USAGE
    except BrokenPipeError:
        _drop_stdout()
        return Exit.DONE  # the reader has what it wanted
    except OSError as error:
        _drop_stdout()
        tell(f"error: {error}")
        return Exit.UNANSWERED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _run(arg_list: list[str] | None) -> Exit:
    write_utf8()
    args, parser = parse_args(arg_list)
    if "func" not in args:
        parser.print_help()
        return Exit.DONE
    _warn_of_double_install()
    code: Exit = args.func(args)
    return code


def _drop_stdout() -> None:
    """Let what is still buffered for stdout go nowhere, so that Python's own end stays quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _warn_of_double_install() -> None:
    from importlib import metadata

    try:
        metadata.distribution(_RIVAL)
    except metadata.PackageNotFoundError:
        return
    tell(
        f"warning: {_RIVAL} is installed too and has the same import name; "
        "uninstall both, then install usp again"
    )
