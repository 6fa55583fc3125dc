"""The commands that give the rows of a report, by the kind of its input."""

import shlex
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from usp._inputs.columns import cells_of, delimiter_of, url_column
from usp._inputs.kinds import InputKind, NamedInput
from usp._inputs.text_file import HEAD_BYTES, head_of, text_of_head
from usp._report.commands import DUCKDB, SQLITE, Commands
from usp._sync.state import State
from usp._tables.schema import TABLES

_GREP: Final = {"pages": "cat {source}", "folder": "grep -P {pattern} {source}"}


def commands_for(named: NamedInput, column: str | None, options: tuple[str, ...] = ()) -> Commands:
    """Return the commands for an input.

    :param column: the column with URLs, in a table of another tool.
    :param options: of the command, which say how a crawl is read, such as ``-s``.
    """
    make = _MAKERS.get(named.kind)
    return make(named, column) if make else Commands.of_crawl(named.name, *options)


def _recording(named: NamedInput, column: str | None) -> Commands:
    del column
    from usp.web_client.replay import Recording

    source = Recording(named.path or named.name).source
    return Commands.of_crawl(source or named.name, "--replay", named.name)


def _state(named: NamedInput, column: str | None) -> Commands:
    """Return commands that read the only site again: no other command lists what a state has."""
    del column
    with closing(State.open_to_read(named.path)) as state:
        names = list(state.site_names().values())
    return Commands.of_crawl(names[0]) if len(names) == 1 else Commands({})


def _list(named: NamedInput, column: str | None) -> Commands:
    del column
    return Commands(_GREP, {"source": shlex.quote(named.name)})


def _file(named: NamedInput, column: str | None) -> Commands:
    if named.path is None:  # standard input was read already
        return Commands({})
    return Commands.of_tables({"pages": _quoted(named.path)}, DUCKDB, url=column or _column(named))


def _column(named: NamedInput) -> str:
    """Return the name of the column with URLs, by the header of a CSV file."""
    if named.kind is not InputKind.DELIMITED or named.path is None:
        return "url"
    with named.path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    text = text_of_head(head_of(head, named.compression, named.name) if named.compression else head)
    line = text.lstrip().partition("\n")[0].rstrip()
    names = cells_of(line, delimiter_of(line))
    found = url_column(names)
    return "url" if found is None else names[found]


def _database(named: NamedInput, column: str | None) -> Commands:
    del column
    return Commands.of_tables({name: name for name in TABLES}, SQLITE, named.name)


def _folder(named: NamedInput, column: str | None) -> Commands:
    del column
    folder = named.path or Path()
    files = {}
    for table in TABLES:
        if (folder / table).is_dir():
            files[table] = _quoted(folder / table / "*")
        elif found := sorted(folder.glob(f"{table}.*")):
            files[table] = _quoted(found[0])
    return Commands.of_tables(files, DUCKDB)


def _quoted(path: Path) -> str:
    """Return how a query names a file."""
    return "'{}'".format(str(path).replace("'", "''"))


def _none(named: NamedInput, column: str | None) -> Commands:
    del named, column
    return Commands({})


_MAKERS: Final[dict[InputKind, Callable[[NamedInput, str | None], Commands]]] = {
    InputKind.RECORDING: _recording,
    InputKind.STATE: _state,
    InputKind.URL_LIST: _list,
    InputKind.DELIMITED: _file,
    InputKind.JSON_LINES: _file,
    InputKind.PARQUET: _file,
    InputKind.ARROW: _none,  # no command of a common tool reads it
    InputKind.DATABASE: _database,
    InputKind.FOLDER: _folder,
}
"""What makes the commands for each kind that is not simply crawled."""
