"""Which files a command reads and writes: what one option writes, no other one may name.

The rows of the options say which of them name files. What is in the files is checked elsewhere.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, Final, NamedTuple

from usp._whole_file import is_special
from usp.cli._value_types import FILE, FOLDER, HEADERS, OUTPUT, ValueType
from usp.exceptions import UsageError

_LOG: Final = "--log-file"
_NO_FILE: Final = "-"
"""Standard input or output."""


class _NamedFile(NamedTuple):
    """A file, and what names it."""

    option: str
    path: str
    is_written: bool

    def spoils(self, other: "_NamedFile") -> bool:
        """Tell whether one of two is written over the other.

        A device, such as /dev/null, takes everything but a log beside it.
        """
        if not (self.is_written or other.is_written):
            return False
        one, another = os.path.realpath(self.path), os.path.realpath(other.path)
        if one != another:
            return _is_table_of(one, another) or _is_table_of(another, one)
        is_log = self.is_written and other.is_written and _LOG in {self.option, other.option}
        return is_log or not is_special(Path(self.path))


def _is_table_of(file: str, folder: str) -> bool:
    """Tell whether a file has the name of a table in a folder: an export writes, or is, all."""
    if os.path.dirname(file) != folder:  # noqa: PTH120 -- both are resolved already
        return False
    from usp._tables.schema import TABLES  # few commands name a folder and a file in it

    return os.path.basename(file).partition(".")[0] in TABLES  # noqa: PTH119


def check_files(args: argparse.Namespace) -> None:
    """Check that nothing that a command writes is named a second time, to be written or read.

    :raises UsageError: if two options, or an option and a source, name the same file.
    """
    options = list(_of_options(args))
    _check(chain(combinations(options, 2), product(options, _of_sources(args))))


def check_listed_sources(args: argparse.Namespace, names: Iterable[str]) -> None:
    """Check the same of sources that a list names, which is known when it was read.

    :raises UsageError: if an option names one of them.
    """
    _check(product(_of_options(args), _existing("a source", names)))


def _check(pairs: Iterable[tuple[_NamedFile, _NamedFile]]) -> None:
    for one, other in pairs:
        if one.spoils(other):
            raise UsageError(f"{one.option} and {other.option} name the same file: {other.path}")


def _of_options(args: argparse.Namespace) -> Iterator[_NamedFile]:
    for option in args.command.options:
        value = getattr(args, option.dest)
        paths = _PATHS[option.type](value) if value and option.type in _PATHS else []
        if option.is_written and option.is_written(args):
            yield from (_NamedFile(option.flags[-1], path, True) for path in paths)
        else:
            yield from _existing(option.flags[-1], paths)


def _of_sources(args: argparse.Namespace) -> Iterator[_NamedFile]:
    for argument in args.command.arguments:
        given: str | list[str] = getattr(args, argument.name.lower())
        yield from _existing(argument.name, [given] if isinstance(given, str) else given)


def _existing(option: str, names: Iterable[str]) -> Iterator[_NamedFile]:
    """Yield the files that are read: a name may also be that of a website, or of a run in a state.

    What is not there is told by who reads it.
    """
    for name in names:
        state = name.rpartition("@")[0]  # site.db@-1
        # Unlike that of Path, it says no where the system can't even look.
        found = next((path for path in (name, state) if path and os.path.exists(path)), None)  # noqa: PTH110 -- see above
        if found:
            yield _NamedFile(option, found, False)


def _named(value: str) -> list[str]:
    return [] if value == _NO_FILE else [value]


def _of_headers(value: list[str]) -> list[str]:
    return [text[1:] for text in value if text.startswith("@")]


_PATHS: Final[dict[ValueType, Callable[[Any], list[str]]]] = {
    FILE: _named,
    OUTPUT: _named,
    FOLDER: _named,
    HEADERS: _of_headers,
}
"""The kinds of values that name files, and which."""
