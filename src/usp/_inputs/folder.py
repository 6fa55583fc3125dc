"""Folders with a file for each table (``usp export``), or a folder of them (``usp crawl``)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from usp._export.formats import FORMATS
from usp._inputs.arrow import ArrowReader
from usp._inputs.delimited import DelimitedReader
from usp._inputs.json_lines import JsonLinesReader
from usp._inputs.kinds import InputKind, NamedInput, named_input
from usp._inputs.reader import (
    COMPLETE,
    InputOptions,
    InputReader,
    outcome_of_sites,
)
from usp._json import parse_json
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.schema import TABLES
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome

_READERS: Final[dict[InputKind, type[InputReader]]] = {
    InputKind.PARQUET: ArrowReader,
    InputKind.ARROW: ArrowReader,
    InputKind.DELIMITED: DelimitedReader,
    InputKind.JSON_LINES: JsonLinesReader,
}
"""What reads each file."""
_SUFFIXES: Final = frozenset(
    f".{suffix}" for form in FORMATS.values() for suffix in (form.name, *form.suffixes)
)
DONE_FOLDER: Final = "_done"
"""The folder in which a crawl says which of its parts are whole."""
CRAWL_FILE: Final = "_crawl.json"
"""The file in which it says how many there will be."""


class FolderReader:
    """Reads the tables of a folder."""

    is_ours = True

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        """Look which tables it has.

        :raises UsageError: if it has none.
        """
        self._options = options
        folder = named.path or Path()
        found = {table: _files(folder, table) for table in TABLES}
        done = _parts_done(folder)
        self._files = {
            table: [file for file in files if done is None or _part(file) in done]
            for table, files in found.items()
        }
        self._lacks_parts = self._files != found or len(done or ()) < _shards(folder)
        self.tables = tuple(table for table, files in self._files.items() if files)
        if not self.tables:
            raise UsageError(
                f"{named.name} is a folder without tables: it has neither pages.parquet, as an "
                "export has, nor pages/part-00000.parquet, as a crawl has."
            )

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of the wanted tables, one file after the other."""
        for name, wanted in choice.tables.items():
            for file in self._files[name]:
                yield from self._reader(file, name).batches(TableChoice({name: wanted}))

    def _reader(self, file: Path, table: str) -> InputReader:
        named = named_input(file)
        if named.kind not in _READERS:
            raise UsageError(f"{file} can't be read: it is no table.")
        return _READERS[named.kind](named, replace(self._options, table=table))

    @property
    def outcome(self) -> Outcome | None:
        """Whether all of its sites were read whole."""
        if self._lacks_parts:
            return Outcome.PARTIAL
        return outcome_of_sites(self.batches(COMPLETE))


def _files(folder: Path, table: str) -> list[Path]:
    """Return the files of a table, in order."""
    within = folder / table
    parts: Iterable[Path] = within.iterdir() if within.is_dir() else folder.glob(f"{table}.*")
    return sorted(file for file in parts if _SUFFIXES.intersection(file.suffixes))


def _parts_done(folder: Path) -> set[str] | None:
    """Return the parts of a crawl that are whole; None if it isn't one."""
    done = folder / DONE_FOLDER
    return {marker.stem for marker in done.glob("*.json")} if done.is_dir() else None


def _shards(folder: Path) -> int:
    """Return how many parts a crawl has when it is done; 0 if it doesn't say."""
    try:
        found = parse_json((folder / CRAWL_FILE).read_bytes())
    except (OSError, ValueError):
        return 0
    shards = found.get("shards") if isinstance(found, dict) else None
    return shards if isinstance(shards, int) else 0


def _part(file: Path) -> str:
    """Return the number of a part: ``00017`` of ``part-00017.parquet``."""
    return file.name.partition(".")[0].rpartition("-")[2]
