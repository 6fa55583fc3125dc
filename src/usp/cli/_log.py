"""Logging of a command, to stderr or to a file.

A log that can't be written stops; it never changes the output or the exit code.
"""

import argparse
import logging
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, TypeAlias

from usp._display import shown
from usp.cli._output import tell
from usp.exceptions import UsageError

_LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)
"""The log level for each number of ``-v`` options."""
_OFF: Final = logging.CRITICAL + 1
_ExceptionInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class _OneLineFormatter(logging.Formatter):
    """Writes one line a record, and no credentials, whichever library logs it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- logging's own name
        return shown(super().formatMessage(record))

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 -- logging's own name
        return "\n".join(map(shown, super().formatException(ei).splitlines()))


class _StopsOnError(logging.Handler):
    """Stops the log with one warning when it can't be written."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's own name
        del record
        self.setLevel(_OFF)
        tell(f"warning: logging stopped: {sys.exception()}")
        with suppress(OSError):  # the buffer can't be written either
            self.close()


class _StderrHandler(_StopsOnError, logging.StreamHandler):  # type: ignore[type-arg]  # not generic at run time
    pass


class _FileHandler(_StopsOnError, logging.FileHandler):
    pass


def setup_logging_for(args: argparse.Namespace) -> None:
    """Log as the options of a command say; without them, only what ends it.

    :raises UsageError: if the log file can't be opened.
    """
    has_log = bool(args.verbose or args.log_file)
    verbosity = min(args.verbose or 0, len(_LEVELS) - 1)
    setup_logging(_LEVELS[verbosity] if has_log else logging.ERROR, args.log_file)


def setup_logging(level: int, log_file: str | None = None) -> None:
    """Log to stderr, or append to a file.

    :raises UsageError: if the file can't be opened.
    """
    try:
        handler = _file_handler(log_file) if log_file else _StderrHandler()
    except OSError as error:
        raise UsageError(f"--log-file: cannot write {log_file}: {error.strerror}") from error
    handler.setFormatter(_OneLineFormatter(logging.BASIC_FORMAT))
    logging.basicConfig(level=level, handlers=[handler])


def _file_handler(path: str) -> logging.Handler:
    return _FileHandler(Path(path), encoding="utf-8", errors="backslashreplace")
