"""What kinds of values options take, on the command line and in a config file."""

import math
import os
from collections.abc import Callable
from typing import Final, NamedTuple


class ValueType(NamedTuple):  # importing dataclasses would take longer than printing the help
    """What kind of value an option takes, on the command line and in a config file."""

    action: str
    """The action of argparse; ``switch`` for ``--name`` and ``--no-name``."""
    expected: str
    """What is accepted, for messages: ``an integer``."""
    read: Callable[[str], object]
    """Converts the text of the command line; raises ValueError if it can't."""
    classes: tuple[type, ...]
    """What a config file may have instead."""
    beside: Callable[[str, str], str] | None = None
    """Finds the file that a value names in a folder, that of the config file."""


def _names(text: str) -> list[str]:
    return [name.strip() for name in _given(text.strip(" ,")).split(",") if name.strip()]


def _given(text: str) -> str:
    if not text:
        raise ValueError  # an empty variable of a shell, most likely
    return text


def _output(text: str) -> str:
    return "-" if text == "/dev/stdout" else _given(text)  # which may be a file, not to be replaced


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError  # nothing would ever end it
    return number


def _beside(folder: str, name: str) -> str:
    is_elsewhere = name == "-" or "://" in name  # standard input or output, a bucket
    return name if is_elsewhere else os.path.join(folder, name)  # noqa: PTH118 -- keeps a slash at the end


def _header_beside(folder: str, text: str) -> str:
    return f"@{_beside(folder, text[1:])}" if text.startswith("@") else text


FLAG: Final = ValueType("store_true", "true or false", bool, (bool,))
"""The option alone: there is no value."""
SWITCH: Final = ValueType("switch", "true or false", bool, (bool,))
"""``--name`` and ``--no-name``; neither leaves the choice to the command."""
COUNT: Final = ValueType("count", "an integer", int, (int,))
"""How often the option is given."""
TEXT: Final = ValueType("store", "a text", str, (str,))
FILE: Final = ValueType("store", "the name of a file", _given, (str,), _beside)
OUTPUT: Final = FILE._replace(read=_output)
FOLDER: Final = ValueType("store", "the name of a folder", str, (str,), _beside)
"""A folder, or a URL of fsspec."""
OPTIONAL_TEXT: Final = ValueType("store", "a text or a number", str, (str, int))
"""The option alone, which stands for its ``meaning``, or with a text."""
INTEGER: Final = ValueType("store", "an integer", int, (int,))
NUMBER: Final = ValueType("store", "a finite number", _finite, (int, float))
MOMENT: Final = ValueType("store", "a date, a time or a duration such as '48h'", str, (str,))
TEXTS: Final = ValueType("append", "a text or a list of texts", str, (str,))
"""A text; the option may be repeated."""
HEADERS: Final = TEXTS._replace(beside=_header_beside)
NAMES: Final = ValueType("extend", "names with commas between, or a list of them", _names, (str,))
"""Several names; those of an option that is repeated are added."""
