"""The pages of a document that the caller's selection takes, and their columns."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from itertools import islice
from typing import Any, Self

from usp._crawl.row_selection import RowSelection
from usp._crawl.selection import Selection
from usp._parse import ROWS_AT_ONCE, Ended, PageColumns, Pages, columns_of_pages
from usp.objects.abstract_sitemap import HasProblems
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem


class SelectedPages:
    """The wanted pages of a document: selected anew each time they are walked."""

    def __init__(
        self,
        pages: Iterable[SitemapPage],
        selection: Selection,
        limit: int | None = None,
        *,
        count_to_next: bool = False,
    ) -> None:
        """Select pages, at most ``limit``.

        :param count_to_next: whether pages that are skipped behind the last one count as well, up
            to the next one that would be selected.
        """
        self._pages = pages
        self._selection = selection
        self._limit = limit
        self._count_to_next = count_to_next
        self._skipped: Counter[SkipReason] | None = None

    def __iter__(self) -> Iterator[SitemapPage]:
        return islice(self._selection.choose(self._pages), self._limit)

    def columns(
        self, names: Collection[str], ended: Ended | None = None, rows: int = ROWS_AT_ONCE
    ) -> Iterator[PageColumns]:
        """Yield columns of the wanted pages, as ``Pages.columns`` does of all."""
        taken = RowSelection(self._selection, self._limit)
        needed = self._selection.columns.union(names)
        for columns in columns_of(self._pages, needed, ended, rows):
            if taken.is_full:
                return
            yield taken.select(columns)

    @property
    def skipped(self) -> Counter[SkipReason]:
        """The number of skipped pages by reason; the first access reads the document."""
        if self._skipped is None:
            self._skipped = Counter()
            end = None if self._limit is None else self._limit + self._count_to_next
            for _ in islice(self._selection.choose(self._pages, self._skipped), end):
                pass
        return self._skipped

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems with the document."""
        return self._pages.problems if isinstance(self._pages, HasProblems) else ()

    @property
    def known_errors(self) -> tuple[Problem, ...]:
        """Why something of the document was lost, as far as it was read."""
        return getattr(self._pages, "known_errors", ())

    @property
    def complete(self) -> bool:
        """Whether nothing of the document was lost."""
        return self._pages.complete if isinstance(self._pages, HasProblems) else True

    @property
    def document_bytes(self) -> int | None:
        """The size of the document, decompressed."""
        return self._pages.document_bytes if isinstance(self._pages, HasProblems) else None

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "pages": self._pages,
            "limit": self._limit,
            "count_to_next": self._count_to_next,
            "selection": {f.name: getattr(self._selection, f.name) for f in fields(Selection)},
        }
        return restore_selected_pages, (state,)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the selected pages that were pickled; fields that are unknown are ignored."""
        known = {field.name for field in fields(Selection)}
        selection = Selection(**{k: v for k, v in state["selection"].items() if k in known})
        return cls(state["pages"], selection, state["limit"], count_to_next=state["count_to_next"])


def restore_selected_pages(state: dict[str, Any]) -> SelectedPages:
    """Return the selected pages of a pickled sitemap."""
    return SelectedPages.from_state(state)


# Pickles name this function by the path of the package, which is kept.
restore_selected_pages.__module__ = "usp._crawl"


def columns_of(
    pages: Iterable[SitemapPage],
    names: Collection[str],
    ended: Ended | None = None,
    rows: int = ROWS_AT_ONCE,
    *,
    with_problems: bool = False,
) -> Iterator[PageColumns]:
    """Yield columns of any pages: straight from the document, if there is one."""
    if isinstance(pages, Pages):
        return pages.columns(names, ended, rows, with_problems=with_problems)
    if isinstance(pages, SelectedPages):
        return pages.columns(names, ended, rows)
    return columns_of_pages(pages, names, rows)
