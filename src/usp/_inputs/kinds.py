"""What an input is: decided by its content, not by its name alone."""

import os
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from usp._drive.in_time import in_time
from usp._export.compression import Compression
from usp._inputs.columns import cells_of, delimiter_of, is_url_or_path, named_column, url_column
from usp._inputs.text_file import HEAD_BYTES, compression_of, head_of, text_of_head
from usp._json import parse_json
from usp._quantities import duration
from usp._signatures import kind_of_file
from usp._source import (
    STDIN,
    SourceName,
    as_usage_error,
    check_readable,
    is_local,
    names_a_document,
    standard_input,
    start_url,
)
from usp._sync.state import APPLICATION
from usp._sync.state_path import StatePath
from usp._validate import argument_error
from usp.exceptions import StorageError, UsageError


class InputKind(StrEnum):
    """What an input is."""

    SITE = "site"
    SITEMAP = "sitemap"
    """The URL of one sitemap."""
    FILE = "file"
    """A sitemap in a file, or on standard input."""
    RECORDING = "recording"
    """The WARC file of a crawl."""
    DELIMITED = "csv"
    """CSV or TSV: an export, or a file of another tool that has a column with URLs."""
    JSON_LINES = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"
    DATABASE = "database"
    """The SQLite database of an export."""
    FOLDER = "folder"
    """A folder with a file, or a folder of files, for each table: of an export or a crawl."""
    STATE = "state"
    """The state of a sync, as it is, or as it was after an earlier run."""
    URL_LIST = "list"
    """A text with one URL a line."""


CRAWLED: Final = frozenset({InputKind.SITE, InputKind.SITEMAP, InputKind.FILE, InputKind.RECORDING})
"""The kinds that are crawled, over the network or not."""

_RUN: Final = re.compile(r"-?\d{1,9}")
_ROBOTS: Final = re.compile(
    r"^[ \t]*+(?:user-agent|site-?map)[ \t]*+:", re.IGNORECASE | re.MULTILINE
)
_NO_TEXT: Final = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")
"""Characters that no text has."""
_EMPTY_TABLES: Final = frozenset({".jsonl", ".ndjson"})
"""Files that are tables without rows if there is nothing in them."""
_FEED_KEYS: Final = frozenset({"items", "version", "feed_url", "home_page_url"})
"""Keys of a JSON Feed; a row of a table has none of them."""


@dataclass(frozen=True, slots=True)
class NamedInput:
    """What was named, and what it is."""

    name: str
    """As it was named."""
    kind: InputKind
    path: Path | None = None
    """The file or folder; None for a site, a sitemap or standard input."""
    compression: Compression | None = field(default=None, compare=False)
    """How the file is compressed, if its text has to be decompressed to be read."""
    run: int = 0
    """Of a state: the number of a run, or how many runs back, as a negative number; 0 for now."""


def named_input(source: SourceName, *, column: str | None = None) -> NamedInput:
    """Say what an input is.

    :param column: the name of the column with URLs, if the caller knows that it is a table.
    :raises UsageError: if it can't be read, or nothing can be read from it.
    """
    name = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(name, str):
        raise argument_error("source", "a URL, a domain or a file", source)
    state, _, run = name.rpartition("@")  # site.db@-1
    is_file = state and is_local(state) and not os.path.lexists(name)
    if is_file and (_RUN.fullmatch(run) or _is_state_file(state)):
        return _state_run(name, state, run)
    if not is_local(source):
        is_document = names_a_document(start_url(name))
        return NamedInput(name, InputKind.SITEMAP if is_document else InputKind.SITE)
    if name == STDIN:
        return _of_head(name, None, _head_of_stdin(), column)
    path = Path(name)
    if path.is_dir():
        return NamedInput(name, InputKind.FOLDER, path)
    check_readable(name)
    if not path.is_file():  # a pipe, which can be read once
        return NamedInput(name, InputKind.FILE, path)
    with as_usage_error(name), path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return _of_head(name, path, head, column)


def wait_for_stdin(seconds: float | None) -> None:
    """Wait until standard input has something to read, or has ended.

    :raises StorageError: if nothing came in time.
    """
    if seconds is None:
        return
    end = time.monotonic() + seconds
    try:
        in_time(_head_of_stdin, lambda: time.monotonic() >= end)
    except TimeoutError:
        message = f"standard input: nothing came within {duration(seconds)}"
        raise StorageError(message) from None


def _state_run(name: str, file: str, run: str) -> NamedInput:
    found = named_input(file)
    if found.kind is not InputKind.STATE:
        raise UsageError(f"{file} is not a state of usp, so it has no run {run}.")
    if not _RUN.fullmatch(run):
        raise UsageError(
            f"{file} has no run {run!r}: {file}@-1 is what it knew one run ago, and {file}@17 what "
            "it knew after run 17."
        )
    return NamedInput(name, found.kind, found.path, run=int(run))


def _is_state_file(name: str) -> bool:
    return Path(name).is_file() and named_input(name).kind is InputKind.STATE


def _head_of_stdin() -> bytes:
    """Return what standard input begins with; it can still be read from its beginning."""
    check_readable(STDIN)
    peek: Callable[[int], bytes] = getattr(standard_input(), "peek", bytes)
    return peek(HEAD_BYTES)


def _of_head(name: str, path: Path | None, head: bytes, column: str | None) -> NamedInput:
    """Return what an input is that begins with these bytes."""
    known = compression_of(head)
    if known:
        head = head_of(head, known, name)
    kind = kind_of_signature(head)
    if kind is InputKind.DATABASE and path and not known and _is_state(path):
        kind = InputKind.STATE
    if kind is None:
        is_empty = not head and path is not None and _EMPTY_TABLES.intersection(path.suffixes)
        text = text_of_head(head)
        kind = InputKind.JSON_LINES if is_empty else _kind_of_text(text, column)
    elif kind is not InputKind.RECORDING and (known or path is None):
        where = "standard input" if path is None else "a compressed file"
        raise UsageError(f"{name} can't be read: a {kind} file is not read from {where}.")
    return NamedInput(name, kind, path, known)


def kind_of_signature(head: bytes) -> InputKind | None:
    """Return what a file is that begins with these bytes; None if it may be text."""
    kind = kind_of_file(head)
    return InputKind(kind) if kind else None


def _is_state(path: Path) -> bool:
    """Tell whether an SQLite file is the state of a sync."""
    try:
        with closing(StatePath.of(path).connect_to_read()) as database:
            (application,) = database.execute("PRAGMA application_id").fetchone()
    except sqlite3.Error as error:
        raise UsageError(f"{path} can't be read: {error}.") from error
    return bool(application == APPLICATION)


def _kind_of_text(head: str, column: str | None) -> InputKind:
    text = head.lstrip()
    line = text.partition("\n")[0].rstrip()
    if text.startswith("{"):
        return _kind_of_json(line, text)
    if not line or text.startswith(("<", "[")):
        return InputKind.FILE
    entries = (one.strip() for one in text.splitlines())
    first = next((one for one in entries if one and not one.startswith("#")), "")
    if is_url_or_path(first):
        return InputKind.URL_LIST
    delimiter = delimiter_of(line)
    cells = cells_of(line, delimiter)
    if named_column(cells, column) is not None or url_column(cells) is not None:
        return InputKind.DELIMITED
    if delimiter in line and not _ROBOTS.search(text) and not _NO_TEXT.search(line):
        return InputKind.DELIMITED
    return InputKind.FILE  # the parser of sitemaps says what is wrong with it


def _kind_of_json(line: str, text: str) -> InputKind:
    try:
        keys = set(parse_json(line))
    except ValueError:  # it goes on in the next line, or the head ends before it does
        keys = {key for key in _FEED_KEYS if f'"{key}"' in text}
    return InputKind.FILE if keys & _FEED_KEYS else InputKind.JSON_LINES
