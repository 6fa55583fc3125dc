"""Selection, limit and deduplication on the columns of pages: those of a table.

The rows that are taken are the pages that ``Selection.choose`` takes, up to the limit.
"""

from collections import Counter
from collections.abc import Sequence

from usp._crawl.selection import Selection
from usp._crawl.unique_urls import UniqueUrls
from usp._parse import PageColumns
from usp.objects.outcome import SkipReason


def take_rows(columns: PageColumns, rows: Sequence[int]) -> PageColumns:
    """Return some rows of columns; the columns themselves if that is all of them."""
    if len(rows) == len(columns["url"]):
        return columns
    return {name: [values[row] for row in rows] for name, values in columns.items()}


class RowSelection:
    """Takes the wanted rows of many batches, up to a limit."""

    def __init__(
        self,
        selection: Selection,
        limit: int | None = None,
        skipped: Counter[SkipReason] | None = None,
        unique: UniqueUrls | None = None,
    ) -> None:
        """Select rows.

        :param limit: take at most this many.
        :param skipped: counts the rows that are skipped up to the limit, by reason.
        :param unique: take only rows whose URL isn't in it yet.
        """
        self._selection = selection
        self._left = limit
        self._skipped = skipped
        self._unique = unique

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self._left == 0

    def take_elsewhere(self, rows: int) -> None:
        """Count rows towards the limit that are taken without being selected here."""
        if self._left is not None:
            self._left = max(self._left - rows, 0)

    def select(self, columns: PageColumns) -> PageColumns:
        """Return the wanted rows; the columns must have those of ``Selection.columns``."""
        urls = columns["url"]
        reasons: Sequence[SkipReason | None] = ()
        rows: Sequence[int] = range(len(urls))
        if not self._selection.takes_every_page:
            reasons = self._selection.skip_reasons(columns)
            rows = [row for row in rows if reasons[row] is None]
        if self._unique is not None:
            rows = self._unique.new_rows(urls, rows, self._left)
        if self._left is not None:
            if len(rows) >= self._left:
                rows = rows[: self._left]
                reasons = reasons[: rows[-1] + 1 if rows else 0]
            self._left -= len(rows)
        if self._skipped is not None:
            self._skipped.update(filter(None, reasons))
        return take_rows(columns, rows)
