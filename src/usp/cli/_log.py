"""The log of a command: on stderr or in a file, and never in the way of the answer."""

import logging
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from usp.cli._output import tell
from usp.exceptions import SitemapException

_NEVER: Final = logging.CRITICAL + 1


class _Forgiving(logging.Handler):
    """Ends the log, with one line, where it can't be written; all else goes on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's own name
        del record
        self.setLevel(_NEVER)
        tell(f"warning: the log ends here: {sys.exception()}")
        with suppress(OSError):  # what is still buffered finds no room either
            self.close()


class _StderrHandler(_Forgiving, logging.StreamHandler):  # type: ignore[type-arg]  # at run time
    pass


class _FileHandler(_Forgiving, logging.FileHandler):
    pass


def setup_logging(level: int, log_file: str | None = None) -> None:
    """Send the log to stderr, or to the end of a file and nowhere else.

    Raises:
        SitemapException: the file can't be opened.

    """
    try:
        handler = _file_handler(log_file) if log_file else _StderrHandler()
    except OSError as error:
        raise SitemapException(f"cannot write the log to {log_file}: {error.strerror}") from error
    logging.basicConfig(level=level, handlers=[handler])


def _file_handler(path: str) -> logging.Handler:
    return _FileHandler(Path(path), encoding="utf-8", errors="backslashreplace")
