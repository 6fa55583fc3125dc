"""Where an export goes: a file, a folder with a file for each table, or a stream.

Everything that can be wrong about it is found before anything is fetched.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from usp._export.formats import FileFormat, is_format_suffix
from usp._export.options import WriteOptions
from usp._export.output import OutputFile
from usp._tables.schema import PAGE_PARTS, TABLES, Table, table_named
from usp._validate import argument_error
from usp._whole_file import FileState, check_file, check_new, is_special, told_as_output_error
from usp.exceptions import UsageError

STDOUT: Final = "-"
ALL: Final = "all"
"""The name of all tables together."""
_FOLDER_FORMAT: Final = "parquet"
_SLASHES: Final = ("/", os.sep)


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """Where an export goes, and in which format."""

    path: Path | None
    """The file or folder; None for standard output."""
    form: FileFormat
    is_folder: bool = False
    is_stream: bool = False
    """Whether it is standard output, a pipe or a device, which can't be renamed."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], format: str | None) -> "ExportTarget":
        """Return the target of a path: a folder ends with a slash, or is there already.

        :raises UsageError: if the format is unknown, or can't go there.
        """
        name = os.fspath(path)
        if name == STDOUT:
            return cls._stream(None, _for_stdout(FileFormat.of(name, format)))
        if "\0" in name:
            raise argument_error("path", "the name of a file or folder", name)
        resolved = Path(os.path.realpath(name))  # what a link leads to is replaced, not the link
        if _is_folder(name):
            _check_named_like_a_folder(name)
            form = FileFormat.of("", format or _FOLDER_FORMAT)
            if form.format.is_database:
                raise UsageError("A database is one file: name it, without a slash at the end.")
            return cls(resolved, form, is_folder=True)
        form = FileFormat.of(name, format)
        if is_special(Path(name)):  # a device, or a pipe, whose link leads to no path: /dev/fd/3
            return cls._stream(Path(name), form)
        return cls(resolved, form)

    @classmethod
    def _stream(cls, path: Path | None, form: FileFormat) -> "ExportTarget":
        if form.format.is_database:
            raise UsageError("A database can't be written to a stream.")
        return cls(path, form, is_stream=True)

    def tables(self, names: Sequence[str] | None, columns: Sequence[str] | None) -> list[Table]:
        """Return the tables to write: those named; else all where they fit, and pages elsewhere.

        :raises UsageError: if there is no such table or column, or not all fit.
        """
        database = self.form.format.is_database
        holds_many = self.is_folder or self.form.format.holds_many
        if names is None:
            names = [ALL] if self.is_folder or database else ["pages"]
        names = list(TABLES) if ALL in names else list(dict.fromkeys(names))
        if columns is not None:
            if len(names) > 1:
                raise UsageError("columns: they are chosen of one table; name it.")
            return [table_named(names[0]).only(columns)]
        if len(names) > 1 and not holds_many:
            raise UsageError(
                f"table: the format {self.form.format.name} has one table; name one, or write a "
                "folder, a .jsonl or a .db file."
            )
        if database and "pages" in names:  # what a page has is in tables of its own there
            names = list(dict.fromkeys(["pages", *names, *PAGE_PARTS]))
            own = [name for name in TABLES["pages"].names if name not in PAGE_PARTS]
            return [table_named(name).only(own if name == "pages" else None) for name in names]
        return [table_named(name) for name in names]

    def files(
        self, tables: Sequence[Table], options: WriteOptions, *, replaces: bool
    ) -> list[OutputFile]:
        """Return the files to write, after a look at those that are there.

        :param replaces: whether files that are there are replaced.
        :raises UsageError: if one is there and may be neither replaced nor continued.
        """
        if options.append and (self.is_stream or not self.form.format.can_append):
            what = "a stream" if self.is_stream else f"the format {self.form.format.name}"
            raise UsageError(f"Nothing can be appended to {what}.")
        if self.path is None:
            return [OutputFile(None, self.form, tuple(tables), options)]
        if not self.is_folder:
            return [self._file(self.path, tables, options, replaces=replaces or self.is_stream)]
        return [
            self._file(
                self.path / f"{table.name}{self.form.suffix}", [table], options, replaces=replaces
            )
            for table in tables
        ]

    def _file(
        self, path: Path, tables: Sequence[Table], options: WriteOptions, *, replaces: bool
    ) -> OutputFile:
        with told_as_output_error(str(path)):
            check_file(path, str(path))
            if not (options.append or replaces):
                check_new(path, str(path), can_append=self.form.format.can_append)
            # An empty file, such as one of mktemp, is as good as none.
            append = options.append and path.exists() and path.stat().st_size > 0
            before = None if replaces else FileState.of(path)
            options = replace(options, append=append)
            file = OutputFile(path, self.form, tuple(tables), options, before)
            return file.checked_to_continue() if append else file


def _for_stdout(form: FileFormat) -> FileFormat:
    """Return a format that standard output takes.

    :raises UsageError: if it is a terminal, which can't show the bytes, and obeys some of them.
    """
    is_terminal = getattr(sys.stdout, "isatty", bool)  # a program may have put anything there
    if (form.compression or not form.format.is_text) and is_terminal():
        raise UsageError(
            f"The format {form.suffix.removeprefix('.')} is not for a terminal: name a file, or "
            "send it to another program."
        )
    return form


def _check_named_like_a_folder(name: str) -> None:
    """Check that a folder isn't named like a file: several files in it may not be what was meant.

    :raises UsageError: if it is.
    """
    if is_format_suffix(name) and not name.endswith(_SLASHES):
        raise UsageError(
            f"cannot write {name}: it is a folder; with a slash at its end, it gets a file for "
            "each table"
        )


def says_format(path: str) -> bool:
    """Tell whether the name of an output says its format; that of a folder doesn't."""
    return not _is_folder(path) and is_format_suffix(path)


def _is_folder(name: str) -> bool:
    # Unlike that of Path, it says no where the system can't even look.
    return name.endswith(_SLASHES) or os.path.isdir(name)  # noqa: PTH112 -- see above
