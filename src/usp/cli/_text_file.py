"""Text files that options name, with one value a line."""

from pathlib import Path

from usp._source import STDIN, standard_input
from usp.exceptions import UsageError


def read_lines(option: str, file: str) -> list[str]:
    """Return the lines of a file; empty ones and comments don't count.

    :param option: the option that names the file, for messages.
    :param file: its name, or ``-`` for standard input.
    :raises UsageError: if it can't be read.
    """
    try:
        data = standard_input().read() if file == STDIN else Path(file).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{option}: cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{option}: {file} is not a text in UTF-8") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
