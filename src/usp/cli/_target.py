"""Where a command writes its result: stdout, or the file of ``-o``."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from usp._whole_file import check_new, whole_file
from usp.cli._output import tell
from usp.exceptions import UsageError

STDOUT: Final = "-"
_COMPRESSED: Final = (".gz", ".zst")
"""The suffixes of compressed files."""


@contextmanager
def output(
    args: argparse.Namespace, is_kept: Callable[[], bool] = lambda: True
) -> Iterator[TextIO]:
    """Open the output of a command, as text in UTF-8; a file is whole or absent.

    :param is_kept: tells at the end whether a file is written, or what is there stays.
    :raises UsageError: if the file exists, and nothing says that it may be changed.
    """
    check_output(args)
    if str(args.output or "").lower().endswith(_COMPRESSED):
        raise UsageError(
            f"-o {args.output}: this command writes plain text. Use usp export, or a pipe to gzip."
        )
    if not args.output or args.output == STDOUT:
        yield sys.stdout
        sys.stdout.flush()  # before anything is said about what was printed
        return
    changes = {"replace": bool(args.replace), "append": bool(args.append)}
    with whole_file(args.output, **changes, is_kept=is_kept) as file:
        text = io.TextIOWrapper(
            file, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=False
        )
        try:
            yield text
            text.flush()
        finally:
            text.detach()  # whole_file closes it


def check_output(args: argparse.Namespace, format: str | None = None) -> None:
    """Check the file of ``-o``, and what is to become of one that exists.

    :param format: the format, if it is not the one of ``-f``.
    :raises UsageError: if nothing says that it may be changed, or two options say different things.
    """
    check_choice(args)
    chosen = format or args.format
    if args.append and any(chosen in option.documents for option in args.command.options):
        raise UsageError(f"Nothing can be appended to the format {chosen}: a file is one document.")
    # Unlike that of Path, it says no where the system can't even look; that is told later.
    is_file = args.output and args.output != STDOUT and os.path.isfile(args.output)  # noqa: PTH113
    if is_file and not (args.replace or args.append):
        check_new(Path(args.output), args.output, can_append=True)


def check_choice(args: argparse.Namespace) -> None:
    """Check that the options choose one thing to do with a file that exists.

    :raises UsageError: if they don't.
    """
    if args.replace and args.append:
        raise UsageError("--replace and --append exclude each other")


def tell_not_written(args: argparse.Namespace) -> None:
    """Say that the file of ``-o`` is as it was, or absent; standard output has what it has."""
    if args.output and args.output != STDOUT and not args.quiet:
        tell(f"{args.output} is not written: nothing could be read")
