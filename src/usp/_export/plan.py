"""An export that was asked for and checked: which tables, which files, in which format."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Self

from usp._export.options import WriteOptions
from usp._export.output import Output, OutputFile, opened
from usp._export.target import ExportTarget
from usp._tables.schema import Table
from usp._validate import argument_error, check_bool, check_strings
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome

_DELIMITED: Final = ("csv", "tsv")
_READ: Final = frozenset({Outcome.FOUND, Outcome.PARTIAL})


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """What is written, and where."""

    target: ExportTarget
    tables: Sequence[Table]
    files: Sequence[OutputFile]

    @classmethod
    def of(
        cls,
        path: str | os.PathLike[str],
        *,
        table: str | Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        format: str | None = None,
        replace: bool = False,
        append: bool = False,
        bom: bool = False,
        escape_formulas: bool = False,
    ) -> Self:
        """Return the plan of an export; ``usp.export`` explains the arguments.

        :raises UsageError: if one is wrong, or a file is there already.
        """
        if not isinstance(path, str | os.PathLike):
            raise argument_error("path", "the name of a file or folder, or '-'", path)
        flags = {"replace": replace, "append": append, "bom": bom}
        for name, flag in {**flags, "escape_formulas": escape_formulas}.items():
            check_bool(name, flag)
        if replace and append:
            raise UsageError("replace and append exclude each other.")
        target = ExportTarget.of(path, format)
        form = target.form.format.name
        for name, flag in {"bom": bom, "escape_formulas": escape_formulas}.items():
            if flag and form not in _DELIMITED:
                raise UsageError(f"{name} is for {' and '.join(_DELIMITED)}, not for {form}.")
        names = [table] if isinstance(table, str) else table
        tables = target.tables(
            None if names is None else check_strings("table", names),
            None if columns is None else check_strings("columns", columns),
        )
        options = WriteOptions(bom=bom, escape_formulas=escape_formulas, append=append)
        return cls(target, tables, target.files(tables, options, replaces=replace))

    @property
    def names(self) -> list[str]:
        """The names of the tables."""
        return [table.name for table in self.tables]

    @property
    def columns(self) -> Mapping[str, Sequence[str]]:
        """The columns of each table."""
        return {table.name: table.names for table in self.tables}

    @contextmanager
    def opened(self) -> Iterator[Output]:
        """Open the files inside of a ``with`` block; without ``commit()`` none of them is left.

        :raises UsageError: if a file can't be made, or a library is missing.
        :raises StorageError: if there is no room for it.
        """
        with opened(self.files, self.target.path if self.target.is_folder else None) as output:
            yield output


def overall(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of several crawls together."""
    distinct = set(outcomes)
    if len(distinct) == 1:
        return outcomes[0]
    if distinct & _READ:
        return Outcome.PARTIAL
    # That there is nothing at one of them is an answer; of the others, there is none.
    return Outcome.NONE if Outcome.NONE in distinct else Outcome.UNREACHABLE
