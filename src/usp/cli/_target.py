"""Where a command writes its result: stdout, or the file of ``-o``."""

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from usp._whole_file import whole_file
from usp.exceptions import UsageError

STDOUT: Final = "-"


@contextmanager
def output(args: argparse.Namespace) -> Iterator[TextIO]:
    """Open the output of a command, as text in UTF-8; a file is whole or absent.

    :raises UsageError: if the file exists, and nothing says that it may be changed.
    """
    check_output(args)
    if not args.output or args.output == STDOUT:
        yield sys.stdout
        sys.stdout.flush()  # before anything is said about what was printed
        return
    with whole_file(args.output, replace=bool(args.replace), append=bool(args.append)) as file:
        text = io.TextIOWrapper(
            file, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=False
        )
        try:
            yield text
            text.flush()
        finally:
            text.detach()  # whole_file closes it


def check_output(args: argparse.Namespace) -> None:
    """Check the file of ``-o``, and what is to become of one that exists.

    :raises UsageError: if nothing says that it may be changed, or two options say different things.
    """
    if args.replace and args.append:
        raise UsageError("--replace and --append exclude each other")
    is_file = args.output and args.output != STDOUT and Path(args.output).is_file()
    if is_file and not (args.replace or args.append):
        raise UsageError(f"{args.output} exists already: use --replace or --append")
