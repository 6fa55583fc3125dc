"""The rows of batches, for the tests of this folder."""

from collections.abc import Iterable
from typing import Any

from usp._tables.batch import Batch

Rows = dict[str, list[dict[str, Any]]]
OF_TIME = {"fetched_at", "seconds", "at", "started_at"}


def collected(batches: Iterable[Batch]) -> Rows:
    found: Rows = {}
    for batch in batches:
        assert batch.length
        names = batch.table.names
        found.setdefault(batch.table.name, []).extend(
            dict(zip(names, row, strict=True)) for row in batch
        )
    return found


def without_times(rows: Rows) -> Rows:
    return {
        table: [{name: row[name] for name in row if name not in OF_TIME} for row in listed]
        for table, listed in rows.items()
    }
