"""What the tables of a crawl and of a tree have in common: rows that add up to that of a site."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from usp._crawl.source_result import UNANSWERED
from usp._parse import Kind
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.pages import PageTables
from usp._tables.rows import READ_STATES, TableRow, attempt_row, problem_row
from usp.objects.outcome import Attempt, Outcome, Result
from usp.objects.problem import Problem, Severity

_REFUSALS: Final = frozenset({Result.BLOCKED, Result.UNREACHABLE})
_COUNTS: Final = ("sitemaps", "sitemaps_failed", "pages", "problems")
"""The columns of ``sites`` that count rows."""


class SiteTables:
    """The wanted tables of one site, as far as they don't depend on where the rows come from."""

    def __init__(self, site: str | None, choice: TableChoice, batch_rows: int) -> None:
        self._site = site
        self._choice = choice
        self._batch_rows = batch_rows
        self._pages = PageTables(site, choice, batch_rows)
        self._counts: Counter[str] = Counter()
        self._positions = 0
        self._first_failure: str | None = None
        self._first_refusal: str | None = None

    def _counted(self, row: Mapping[str, Any], pages: int) -> TableRow:
        """Count a sitemap and its pages; return its row with its number."""
        # robots.txt is no sitemap: it only leads to them.
        self._counts["sitemaps"] += row["state"] in READ_STATES and row["kind"] != Kind.ROBOTS
        self._counts["sitemaps_failed"] += row["state"] == "failed"
        self._counts["pages"] += pages
        return self._numbered(row)

    def _numbered(self, row: Mapping[str, Any]) -> TableRow:
        """Return the row of a sitemap with what is known only of all of them."""
        self._positions += 1
        return {**row, "site": self._site, "position": self._positions}

    def _problems(self, found: Iterable[Problem], sitemap_url: str | None) -> Iterator[Batch]:
        """Count problems, and yield their rows."""
        rows = [problem_row(self._site, problem, sitemap_url) for problem in found]
        self._counts["problems"] += len(rows)
        errors = (row["code"] for row in rows if row["severity"] == Severity.ERROR)
        self._first_failure = self._first_failure or next(errors, None)
        return self._rows("problems", rows)

    def _attempt(self, attempt: Attempt) -> TableRow:
        """Return the row of a URL that was tried, after a look at why nothing came."""
        if attempt.result in _REFUSALS:
            self._first_refusal = self._first_refusal or attempt.code
        return attempt_row(self._site, attempt)

    def _code(self, outcome: Outcome) -> str | None:
        """Return the code of the first failure; if nothing could be read, of what was tried."""
        refusal = self._first_refusal if outcome in UNANSWERED else None
        return self._first_failure or refusal

    def _totals(self) -> TableRow:
        """Return what the rows so far add up to, for the row of the site."""
        counts = {name: self._counts[name] for name in _COUNTS}
        return {"site": self._site, "code": self._first_failure, **counts}

    def _rows(self, table: str, rows: Iterable[TableRow]) -> Iterator[Batch]:
        """Yield rows of a table, if it is wanted."""
        if table in self._choice:
            yield from Batch.of_rows(self._choice.tables[table], rows).cut(self._batch_rows)
