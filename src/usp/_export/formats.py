"""Every format of an export, as data: its suffixes, its writer, and what it can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

from usp._export.compression import COMPRESSIONS, Compression
from usp._export.options import WriteOptions
from usp._tables.batch import Batch
from usp._tables.schema import Table
from usp.exceptions import UsageError


class Writer(Protocol):
    """Writes batches of one or more tables."""

    def write(self, batch: Batch) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write what makes the file whole."""

    def abort(self) -> None:
        """Free what is held: the file is dropped."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    """The name; also the suffix of a file."""
    meaning: str
    module: str
    """The module of its writer in this package; imported when it is used."""
    writer: str
    suffixes: tuple[str, ...] = ()
    """Other suffixes."""
    is_text: bool = False
    """Whether it is text: it can be compressed, and rows can follow at its end."""
    has_quotes: bool = False
    """Whether quotes enclose cells with line ends: rows behind an open one would be part of it."""
    row_end: bytes = b""
    """The last character of a row, if each has the same: else its file was cut off there."""
    is_database: bool = False
    """Whether the writer opens the file itself; then it isn't for streams or folders."""
    holds_many: bool = False
    """Whether one file can have several tables."""

    @property
    def can_append(self) -> bool:
        """Whether rows can be added to a file that is there."""
        return self.is_text or self.is_database

    def writer_class(self) -> Any:  # noqa: ANN401 -- their first parameters differ
        """Return the class of its writer."""
        return getattr(import_module(f"usp._export.{self.module}"), self.writer)

    def open(self, target: Any, tables: Sequence[Table], options: WriteOptions) -> Writer:  # noqa: ANN401 -- a path for a database, else a sink
        """Return a writer.

        :raises MissingExtraError: if a library is missing.
        """
        writer: Writer = self.writer_class()(target, tables, options)
        return writer


FORMATS: Final = {
    one.name: one
    for one in (
        Format(
            "csv", "comma-separated text (RFC 4180)", "delimited", "CsvWriter",
            is_text=True, has_quotes=True,
        ),
        Format(
            "tsv", "tab-separated text", "delimited", "TsvWriter", is_text=True, has_quotes=True
        ),
        Format(
            "jsonl", "JSON lines: an object a row", "json_lines", "JsonLinesWriter", ("ndjson",),
            is_text=True, row_end=b"}", holds_many=True,
        ),
        Format("parquet", "Parquet, compressed with zstd", "arrow", "ParquetWriter"),
        Format("arrow", "an Arrow IPC file", "arrow", "ArrowWriter", ("feather",)),
        Format(
            "db", "an SQLite database", "sqlite", "SqliteWriter", ("sqlite", "sqlite3"),
            is_database=True, holds_many=True,
        ),
    )
}  # fmt: skip
"""Every format by its name."""
_BY_SUFFIX: Final = {
    suffix: one for one in FORMATS.values() for suffix in (one.name, *one.suffixes)
}


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format, and how its file is compressed."""

    format: Format
    suffix: str
    """The suffix of a file, such as ``.csv.gz``."""
    compression: Compression | None = None

    @classmethod
    def of(cls, path: str, name: str | None) -> "FileFormat":
        """Return the format that was named (``csv``, ``csv.gz``), or that of a file's suffix.

        :raises UsageError: if there is no such format.
        """
        packed = Path(path).suffix.lower()
        inner, suffix = _split(f"x.{name}" if name is not None else path)
        if name is not None and not suffix and packed in COMPRESSIONS:
            suffix = packed
        if inner not in _BY_SUFFIX:
            what = f"{name!r} is no format" if name is not None else _no_suffix(path)
            raise UsageError(f"{what}; the formats are {', '.join(FORMATS)}.")
        found = _BY_SUFFIX[inner]
        if suffix and not found.is_text:
            raise UsageError(f"The format {found.name} can't be compressed as {suffix}.")
        return cls(found, f".{found.name}{suffix}", COMPRESSIONS.get(suffix))


def is_format_suffix(path: str) -> bool:
    """Tell whether the suffix of a file is that of a format."""
    return _split(path)[0] in _BY_SUFFIX


def _split(name: str) -> tuple[str, str]:
    """Return the format of a file name and the suffix of its compression, each empty if unknown."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return (suffixes[-1].removeprefix(".") if suffixes else ""), packed


def _no_suffix(path: str) -> str:
    if path == "-":
        return "Standard output needs a format"
    return f"The name {path!r} says no format, and none was chosen"
