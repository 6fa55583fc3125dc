"""The state of a sync: what it knows of its sites, now or after an earlier run."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

from usp._inputs.kinds import NamedInput
from usp._inputs.reader import InputOptions, shared_columns
from usp._parse import ROWS_AT_ONCE
from usp._sync.history import History, KnownPages, KnownRun, readable
from usp._sync.state import State
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.schema import Column, ColumnType, Table
from usp.objects.outcome import Outcome

FINGERPRINT: Final = Column(
    "fingerprint",
    ColumnType.INTEGER,
    "the other fields",
    "A number that differs where other fields of the page do; null if it isn't known.",
)
"""A column that only the pages of a state have."""
_SITEMAPS: Final = (
    *("site", "url", "declared_url", "kind", "state", "content_type", "etag", "sha256", "pages"),
    *("complete", "fetched_at"),
)
_SITES: Final = ("site", "outcome", "complete", "started_at")


class StateReader:
    """Reads the tables of a state."""

    is_ours = True
    tables = ("pages", "sitemaps", "sites")

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        """Look for the run.

        :raises UsageError: if it isn't there.
        """
        self._named = named
        self._fingerprints = options.fingerprints
        with closing(self._state()) as state, readable(state):
            runs = History(state, named.run).runs
        self.outcome = Outcome.FOUND if all(run.is_whole for run in runs) else Outcome.PARTIAL
        """Whether all of its sites were read whole."""

    def _state(self) -> State:
        return State.open_to_read(self._named.path)

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of the wanted tables, one table after the other."""
        with closing(self._state()) as state, readable(state):
            history = History(state, self._named.run)
            for name, wanted in choice.tables.items():
                if name == "pages":
                    yield from self._pages(history, wanted)
                elif name in _ROWS:
                    columns, rows = _ROWS[name]
                    table = shared_columns(wanted, columns)
                    if table:
                        yield from Batch.of_rows(table, rows(history)).cut(ROWS_AT_ONCE)

    def _pages(self, history: History, wanted: Table) -> Iterator[Batch]:
        has = {"site", "url", "lastmod"}
        if not any(run.back for run in history.runs):
            has |= {"sitemap_url", "position"}
        table = shared_columns(wanted, has)
        if table and self._fingerprints:
            table = replace(table, columns=(*table.columns, FINGERPRINT))
        for known in history.pages():
            if table and known.pages:
                yield from _page_batch(known, table).cut(ROWS_AT_ONCE)


def _page_batch(known: KnownPages, table: Table) -> Batch:
    count = len(known.pages)
    dates, fields = zip(*known.pages.values(), strict=True)
    values: Mapping[str, Any] = {
        "site": [known.site] * count,
        "url": list(known.pages),
        "sitemap_url": [known.sitemap_url] * count,
        "position": range(1, count + 1),
        "lastmod": dates,
        FINGERPRINT.name: fields,
    }
    return Batch(table, {name: values[name] for name in table.names}, count)


def _sitemap_rows(history: History) -> Iterator[Mapping[str, Any]]:
    for row in history.sitemaps():
        was_read = row["kind"] is not None
        yield {
            "site": row["site"],
            "url": row["final_url"],
            "declared_url": row["url"],
            "kind": row["kind"],
            "state": "ok" if was_read else "failed",
            "content_type": row["content_type"],
            "etag": row["etag"],
            "sha256": row["sha256"].hex() if row["sha256"] else None,
            "pages": row["pages"] if was_read else None,
            "complete": bool(row["is_complete"]),
            "fetched_at": row["fetched_at"],
        }


def _site_row(run: KnownRun) -> Mapping[str, Any]:
    return {
        "site": run.site,
        "outcome": run.outcome,
        "complete": run.is_whole,
        "started_at": run.at,
    }


_ROWS: Final = {
    "sitemaps": (_SITEMAPS, _sitemap_rows),
    "sites": (_SITES, lambda history: map(_site_row, history.runs)),
}
"""The columns and the rows of the other tables."""
