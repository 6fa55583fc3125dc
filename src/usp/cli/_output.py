"""stdout and stderr as they may be: closed, full, or pipes that nobody reads.

Rules of the room: stdout is the answer, so trouble with it is raised. stderr is talk: trouble with
it changes neither the answer nor the exit code.
"""

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO
from urllib.parse import quote

_CONTROLS: Final = {code: quote(chr(code)) for code in (*range(0x20), *range(0x7F, 0xA0))}
"""Characters that would break a line or steer a terminal, and what stands for them."""


def prepare() -> None:
    """Make the streams fit to be written to.

    stdout is UTF-8 whatever the locale says; what UTF-8 can't hold is written as an escape.

    Raises:
        OSError: stdout is closed.

    """
    if sys.stderr is None:  # closed; print() and argparse would take stdout instead
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 -- to the end
    if sys.stdout is None:
        raise OSError("stdout is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def settle() -> None:
    """Write what is still buffered, or let it go nowhere: Python's own end would complain."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            _settle(stream)


def _settle(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:
        with suppress(io.UnsupportedOperation):  # a caller's own stream, with no file behind it
            target = stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, target)
            os.close(nowhere)


def one_line(text: str) -> str:
    """Return the text with control characters percent-encoded: one line, and harmless."""
    return text.translate(_CONTROLS)


def tell(message: str) -> None:
    """Say one line on stderr, if anybody can hear it."""
    with suppress(OSError):
        print(f"usp: {one_line(message)}", file=sys.stderr, flush=True)
