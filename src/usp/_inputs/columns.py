"""Which column of a file is which column of the schema.

An export of ours has the names of the schema. Of a file of another tool only the URL is taken, and
the date and the sitemap if they have the names that sitemaps use: a ``title`` there may be that of
the page, not of the sitemap.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from usp._export.delimited import header
from usp._parse import DELIMITERS, URL_COLUMNS, plain_name
from usp._tables.schema import TABLES, Table
from usp.exceptions import UsageError

_OTHER_NAMES: Final = {"lastmod": ("lastmod",), "sitemap_url": ("sitemap_url", "sitemap")}
"""Columns that other tools take from sitemaps, too."""
_SHARED_NAMES: Final = frozenset({"url", "lastmod"})
"""Names of ours by which a table can't be told from one of another tool."""
_QUOTED: Final = re.compile(r'"[^"]*+"')
_URL: Final = re.compile(r"\s*+https?://", re.IGNORECASE)
_URL_OR_PATH: Final = re.compile(r"\s*+(?:[a-z][a-z0-9+.-]*+:/)?/\S", re.IGNORECASE)
_NAMES_SHOWN: Final = 20
_NAME_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The table that a file has, and which of its columns are columns of the schema."""

    table: Table
    """The table, with the columns that the file has."""
    at: Mapping[str, int]
    """The number of each column in the file."""
    is_ours: bool
    """Whether it is a table of ours, which has URLs as sitemaps have them, whatever they are."""


def delimiter_of(line: str) -> str:
    """Return what is between the cells of a table, given its header."""
    plain = _QUOTED.sub("", line)
    return max(DELIMITERS, key=plain.count)


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; the line itself, if it can't be divided."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a line end in the middle of it, or a cell that is too long
        return [line]


def first_column(names: Sequence[str], wanted: Iterable[str]) -> int | None:
    """Return which of some columns is the first of the wanted ones that is there; None if none is.

    Case, blanks and underscores don't matter.
    """
    plain = list(map(plain_name, names))
    return next((plain.index(name) for name in map(plain_name, wanted) if name in plain), None)


def url_column(names: Sequence[str]) -> int | None:
    """Return which of some columns has URLs, by its name; None if none says so."""
    return first_column(names, URL_COLUMNS)


def named_column(names: Sequence[str], column: str | None) -> int | None:
    """Return which of some columns is the one that a caller names; None if there is none."""
    if column is None:
        return None
    return names.index(column) if column in names else first_column(names, [column])


def file_columns(
    names: Sequence[str],
    first_row: Sequence[object],
    *,
    column: str | None,
    table: str | None,
    where: str,
) -> FileColumns:
    """Say what the columns of a file are.

    :param names: the names of its columns.
    :param first_row: the values of its first row, if it has one.
    :param column: the name of the column with URLs, if the caller says so.
    :param table: the name of the table, if that is known.
    :param where: the file, for errors.
    :raises UsageError: if no column has URLs, or if it is unclear which one does.
    """
    found = named_column(names, column)
    ours = _own_table(names, table) if found is None else None
    if ours is not None:
        at = {name: at for at, name in enumerate(names) if name in ours}
        _check_unique(names, at.values(), column, where)
        return _chosen(ours, at, is_ours=True)
    if column is not None and found is None:
        raise UsageError(f"{where} has no column {column!r}; it has {_shown(names)}.")
    found = url_column(names) if found is None else found
    others = {
        ours: names.index(theirs)
        for ours, known in _OTHER_NAMES.items()
        for theirs in known
        if theirs in names
    }
    by_name = others.values() if found is None else [found, *others.values()]
    _check_unique(names, by_name, column, where)
    if found is None:  # the names are in another language, say
        found = next((at for at, cell in enumerate(first_row) if _is_url(cell)), None)
    if found is None:
        raise UsageError(
            f"{where} has no column with URLs among {_shown(names)}; say which one it is "
            "(column, --column)."
        )
    return _chosen(TABLES["pages"], {**others, "url": found}, is_ours=False)


def _check_unique(
    names: Sequence[str], chosen: Iterable[int], column: str | None, where: str
) -> None:
    """Check that no other column has the name of one that was chosen by its name.

    One that the caller names differs from others in case, blanks and underscores as well.

    :raises UsageError: if one has.
    """
    plain = list(map(plain_name, names))
    for at in chosen:
        name = names[at]
        count = names.count(name) if name == column else plain.count(plain[at])
        if count > 1:
            raise UsageError(
                f"{where} has {count} columns {_shown([name])!r}: which of them is meant is "
                "unclear, so all but one need another name."
            )


def _own_table(names: Sequence[str], table: str | None) -> Table | None:
    """Return the table of an export of ours; it may have more columns only if that is known."""
    if table in TABLES:
        return TABLES[table] if any(name in TABLES[table] for name in names) else None
    if {*names} <= _SHARED_NAMES:  # anyone may have written it, with anything in it
        return None
    known = (one for one in TABLES.values() if {*header(one), *one.names} >= {*names})
    return next(known, None)


def _is_url(cell: object) -> bool:
    return isinstance(cell, str) and bool(_URL.match(cell))


def is_url_or_path(text: str | None) -> bool:
    """Tell whether a line or cell is a URL, or the path of one, and not a total, say."""
    return text is not None and _URL_OR_PATH.match(text) is not None


def _shown(names: Sequence[str]) -> str:
    """Return the names of columns for a message: text, and not too much of it."""
    some = [name[:_NAME_SHOWN].encode(errors="replace").decode() for name in names[:_NAMES_SHOWN]]
    return ", ".join([*some, *(["…"] if len(names) > _NAMES_SHOWN else [])])


def _chosen(table: Table, at: dict[str, int], *, is_ours: bool) -> FileColumns:
    return FileColumns(table.only(name for name in table.names if name in at), at, is_ours)
