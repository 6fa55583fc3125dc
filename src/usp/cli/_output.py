"""Writing to stdout and stderr, which may be closed, full, or pipes without a reader.

Errors of stdout are raised, since it carries the result. Errors of stderr are ignored: they change
neither the result nor the exit code.
"""

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from usp._display import shown

_STDOUT: Final = 1
"""The descriptor of stdout."""


def prepare() -> None:
    """Prepare stdout and stderr.

    stdout is UTF-8, whatever the locale; characters that UTF-8 can't encode are escaped. A closed
    one gives an error to who writes to it: a command whose output is a file doesn't.
    """
    if sys.stdout is None:  # before another file gets its descriptor
        sys.stdout = _unwritable_stdout()
    if sys.stderr is None:  # closed; print() and argparse would write to stdout
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 -- open until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def _unwritable_stdout() -> TextIO:
    """Return a stream for a closed stdout; no file that is opened later gets its descriptor."""
    devnull = os.open(os.devnull, os.O_RDONLY)
    if devnull != _STDOUT:
        os.dup2(devnull, _STDOUT)
        os.close(devnull)
    return open(_STDOUT, "w", encoding="utf-8", closefd=False)


def check_stdout() -> None:
    """Check that stdout can be written, before anything is done for what is printed there.

    :raises OSError: if it was closed.
    """
    descriptor = getattr(sys.stdout, "fileno", None)  # a program may have put anything there
    try:
        if descriptor:
            os.write(descriptor(), b"")
    except OSError as error:  # other ones are told by who writes, as of any other output
        if error.errno == errno.EBADF:
            raise


def flush_or_discard() -> None:
    """Flush both streams; discard what can't be written, so that Python's exit prints no error."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            _flush_or_discard(stream)


def _flush_or_discard(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:
        with suppress(io.UnsupportedOperation):  # a replaced stream without a file
            target = stream.fileno()
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, target)
            os.close(devnull)


def tell(message: str) -> None:
    """Print a one-line message to stderr; errors of stderr are ignored."""
    say(f"usp: {message}")


def say(line: str) -> None:
    """Print a line to stderr as it is; errors of stderr are ignored."""
    with suppress(OSError):
        print(shown(line), file=sys.stderr, flush=True)
