"""Writes batches with the writers of the package, for the tests of this folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from usp._export.options import WriteOptions
from usp._export.output import opened
from usp._export.target import ExportTarget
from usp._tables.batch import Batch
from usp._tables.schema import Table


def write(
    path: str | Path,
    batches: Iterable[Batch],
    *,
    tables: Sequence[Table] | None = None,
    replaces: bool = False,
    format: str | None = None,
    **options: bool,
) -> ExportTarget:
    """Write batches to a file or folder; if no tables are given, those of the batches."""
    if tables is None:
        batches = list(batches)
        tables = list({batch.table.name: batch.table for batch in batches}.values())
    target = ExportTarget.of(path, format)
    files = target.files(tables, WriteOptions(**options), replaces=replaces)
    with opened(files, target.path if target.is_folder else None) as output:
        for batch in batches:
            output.write(batch)
        output.commit()
    return target
