"""The list of sites as people have it: plain lines, CSV, Tranco, Majestic; gzip, zstd and zip.

Blank lines and comments don't count. Every other line is one of the list, whatever is in it: a line
that names no site is kept, and says so later. What a line means is in ``_sites``; how files and
tables are read, in ``usp._inputs``.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TextIO, cast

from usp._extras import load
from usp._inputs.columns import cells_of, delimiter_of, first_column, named_column
from usp._inputs.kinds import kind_of_signature
from usp._inputs.text_file import compression_of, decoded, reading_errors
from usp._source import STDIN, standard_input
from usp.exceptions import UsageError

SiteListName = str | os.PathLike[str]
"""The name of a list: a file, an fsspec URL, or ``-`` for standard input."""

_BLANK: Final = "\ufeff \t\r\n"
"""What a blank line may have."""
_MAX_LINE: Final = 65_536
_ZIP: Final = b"PK\x03\x04"
_HEAD: Final = 16
"""Bytes that say what a file is."""
_ENCRYPTED: Final = 0x1
"""The bit of the flags of a zip member that is set if it is encrypted (APPNOTE 4.4.4)."""
_COLUMNS: Final = (
    "domain",  # Majestic, DomCop, Cloudflare Radar
    "domain name",
    "url",
    "site",
    "website",
    "homepage",
    "host",
    "hostname",
    "origin",  # the Chrome UX Report
)
"""The names of a column with sites, in order of preference."""
_CELLS_OF_A_RANK: Final = 2

_damage: tuple[type[Exception], ...] = (EOFError, zlib.error, zipfile.BadZipFile)
"""What reading a damaged zip archive raises."""
with suppress(ImportError):  # Python may be built without it
    from lzma import LZMAError

    _damage += (LZMAError,)


class InputLine(NamedTuple):
    """One line of a list."""

    number: int
    """Its number in the file, from 1."""
    text: str
    """What it has in the column of sites, as it is written."""


InputLine.__module__ = "usp.bulk"  # where users find it


def read_input(
    sites: SiteListName | Iterable[str], column: str | None = None
) -> Iterator[InputLine]:
    """Yield the lines of a list that count.

    :param sites: the name of a file, which may be compressed; or the lines themselves.
    :param column: the column of a CSV file that has the sites; found by its name if it is None.
    :raises UsageError: if the file can't be read, or has no such column.
    """
    if not isinstance(sites, str | os.PathLike):
        yield from _with_sites(enumerate(map(str, sites), 1), column)
        return
    name = os.fspath(sites)
    with ExitStack() as stack, reading_errors(name):
        try:
            yield from _with_sites(_numbered(_opened(name, stack)), column)
        except _damage as error:
            raise ValueError(str(error)) from error


def _opened(name: str, stack: ExitStack) -> TextIO:
    file = _binary(name, stack)
    if file.peek(len(_ZIP)).startswith(_ZIP):
        file = _only_member(file, stack)
    head = file.peek(_HEAD)
    if kind := kind_of_signature(head):
        raise ValueError(f"it is no text ({kind})")
    # What is no text stays visible, and no site has a backslash.
    return decoded(file, compression_of(head), errors="backslashreplace")


def _binary(name: str, stack: ExitStack) -> io.BufferedReader:
    if name == STDIN:
        return cast("io.BufferedReader", standard_input())
    if "://" not in name:
        return stack.enter_context(Path(name).open("rb"))
    fsspec = load("fsspec", f"Reading {name}", "scale")
    return io.BufferedReader(stack.enter_context(fsspec.open(name, "rb")))


def _only_member(file: BinaryIO, stack: ExitStack) -> io.BufferedReader:
    """Open the file in a zip archive; Tranco's has one."""
    seekable = file if file.seekable() else io.BytesIO(file.read())
    try:
        archive = stack.enter_context(zipfile.ZipFile(seekable))
        members = [one for one in archive.infolist() if not one.is_dir()]
        if len(members) != 1:
            raise UsageError(f"A zip archive must have one file; this one has {len(members)}.")
        if members[0].flag_bits & _ENCRYPTED:
            raise zipfile.BadZipFile("it is encrypted")
        member = stack.enter_context(archive.open(members[0]))
    except UnicodeDecodeError as error:
        raise zipfile.BadZipFile("the name of a file in it is damaged") from error
    except RuntimeError as error:  # a method that zipfile doesn't know, or has no module for
        raise zipfile.BadZipFile(str(error).rstrip(".")) from error
    return io.BufferedReader(cast("io.RawIOBase", member))


def _numbered(file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield all lines with their numbers; of one that is too long, what it begins with."""
    number = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        if len(line) == _MAX_LINE and not line.endswith("\n"):
            while (rest := file.readline(_MAX_LINE)) and not rest.endswith("\n"):
                pass
            line = f"{line[:100]}… (more than {_MAX_LINE:,} characters)"
        yield number, line


def _with_sites(lines: Iterable[tuple[int, str]], column: str | None) -> Iterator[InputLine]:
    """Yield the lines that count, each with what it has in the column of sites."""
    counted = (
        InputLine(number, content)
        for number, text in lines
        if (content := _content(text)) and not text.lstrip().startswith("#")
    )
    first = next(counted, None)
    if first is None:
        return
    layout = _Layout.of(first.text, column)
    if not layout.has_header:
        yield layout.line(first)
    yield from map(layout.line, counted)


def _content(text: str) -> str:
    """Return what a line has, without NULs around it; a line of nothing else is not blank."""
    line = text.strip(_BLANK)
    return line.strip(f"{_BLANK}\0") or line


class _Layout(NamedTuple):
    """How the lines of a list are divided."""

    delimiter: str = ""
    """Empty if a line is one site and nothing else."""
    column: int = 0
    has_header: bool = False

    @classmethod
    def of(cls, first: str, column: str | None) -> "_Layout":
        """Return the layout of a list, given its first line.

        :raises UsageError: if there is no such column.
        """
        delimiter = delimiter_of(first)
        cells = cells_of(first, delimiter)
        if column is None and len(cells) == _CELLS_OF_A_RANK and cells[0].strip().isdecimal():
            return cls(delimiter, 1)  # Tranco, and lists like it: a rank and a domain
        found = first_column(cells, _COLUMNS) if column is None else named_column(cells, column)
        if found is not None:
            return cls(delimiter, found, has_header=True)
        if column is not None:
            raise UsageError(f"There is no column {column!r}; there are {', '.join(cells)}.")
        return cls()

    def line(self, line: InputLine) -> InputLine:
        """Return a line with what it has in the column of sites."""
        if not self.delimiter:
            return line
        cells = cells_of(line.text, self.delimiter)
        found = cells[self.column].strip() if self.column < len(cells) else ""
        return line._replace(text=found or line.text)
