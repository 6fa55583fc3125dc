"""Tables of a tree that is there already, however it was made: crawled, unpickled, built by hand.

Columns come straight from the documents where the tree has them; the pages of other sitemaps are
read from their objects.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from usp._crawl.row_selection import RowSelection
from usp._crawl.selected_pages import columns_of
from usp._crawl.selection import Selection
from usp._crawl.unique_urls import UniqueUrls
from usp._parse import ROWS_AT_ONCE, Kind, timestamp
from usp._tables.batch import Batch
from usp._tables.choice import ColumnNames, TableChoice, TableNames
from usp._tables.rows import (
    READ_STATES,
    TableRow,
    facts_row,
    fetch_columns,
    first_loss,
    homepage_of,
    robots_row,
)
from usp._tables.site import SiteTables
from usp._tables.tree_outcome import tree_result
from usp._validate import check_instance, check_int
from usp.objects import sitemap as sitemaps
from usp.objects.problem import NOT_EXPANDED
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap, SitemapLink

_KINDS: Final[Mapping[type, Kind]] = {
    sitemaps.PagesXMLSitemap: Kind.URLSET,
    sitemaps.PagesRSSSitemap: Kind.RSS,
    sitemaps.PagesAtomSitemap: Kind.ATOM,
    sitemaps.PagesJSONFeedSitemap: Kind.JSON_FEED,
    sitemaps.PagesTextSitemap: Kind.TEXT,
    sitemaps.IndexXMLSitemap: Kind.INDEX,
    sitemaps.IndexRobotsTxtSitemap: Kind.ROBOTS,
}


def tables_of(
    tree: AbstractSitemap,
    tables: TableNames = ("pages",),
    *,
    columns: ColumnNames | None = None,
    unique: UniqueUrls | None = None,
    batch_rows: int = ROWS_AT_ONCE,
) -> Iterator[Batch]:
    """Yield tables of a tree, or of any sitemap with all below it, in document order.

    The pages are those of ``all_pages()``: those of a sitemap that the tree has twice come twice.

    :param tree: the root, or any sitemap.
    :param tables: the names of the tables; only what they need is computed.
    :param columns: the names of the columns, in the wanted order; for several tables, a dict from
        the name of each table to its columns. By default all.
    :param unique: take only pages whose URL isn't in it yet; several sources may share it.
    :param batch_rows: how many rows a batch has at most.
    :raises UsageError: if there is no such table or column, or another argument is wrong.
    """
    check_instance("tree", tree, AbstractSitemap)
    check_int("batch_rows", batch_rows, 1)
    choice = TableChoice.of(tables, columns)
    return _TreeTables(tree, choice, batch_rows, unique).batches()


class _TreeTables(SiteTables):
    """Makes the batches of the wanted tables of a tree."""

    def __init__(
        self,
        tree: AbstractSitemap,
        choice: TableChoice,
        batch_rows: int,
        unique: UniqueUrls | None,
    ) -> None:
        super().__init__(tree.url or None, choice, batch_rows)
        self._tree = tree
        self._rows_taken = RowSelection(Selection(), unique=unique)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of all sitemaps, then those of the whole."""
        for sitemap, parent, level in _walk(self._tree):
            yield from self._sitemap(sitemap, parent, level)
        if isinstance(self._tree, IndexWebsiteSitemap):
            yield from self._problems(self._tree._notes, None)
            yield from self._rows("attempts", list(map(self._attempt, self._tree.tried)))
        if "sites" in self._choice:
            yield from self._rows("sites", [self._site_row()])

    def _sitemap(
        self, sitemap: AbstractSitemap, parent: AbstractSitemap | None, level: int
    ) -> Iterator[Batch]:
        count = 0
        names, rows = self._choice.page_columns, self._batch_rows
        for columns in columns_of(sitemap._own_pages(), names, rows=rows):
            taken = self._rows_taken.select(columns)
            count += len(taken["url"])
            yield from self._pages.batches(taken, sitemap.url or None)
        if "sitemaps" in self._choice or "sites" in self._choice:
            row = self._sitemap_row(sitemap, count)
            row |= {"parent_url": (parent.url or None) if parent else None, "level": level}
            yield from self._rows("sitemaps", [self._counted(row, count)])
        if "problems" in self._choice or "sites" in self._choice:
            yield from self._problems(sitemap.problems, sitemap.url or None)

    def _sitemap_row(self, sitemap: AbstractSitemap, pages: int) -> dict[str, Any]:
        state, code, reason = _state(sitemap)
        info, kind = sitemap.fetch_info, _kind(sitemap)
        was_read = state in READ_STATES
        wanted = self._choice.columns("sitemaps")
        return {
            "url": sitemap.url or None,
            "declared_url": sitemap.declared_url or None,
            "found_by": sitemap.found_by and str(sitemap.found_by),
            "kind": kind,
            "state": state,
            "code": code,
            "reason": reason,
            **fetch_columns(info),
            "index_lastmod": timestamp(sitemap.index_lastmod),
            "bytes": sitemap.document_bytes if "bytes" in wanted else None,
            "pages": pages if was_read else None,
            "children": _children(sitemap) if was_read else None,
            "complete": sitemap.complete if "complete" in wanted and state != "skipped" else None,
        }

    def _site_row(self) -> TableRow:
        tree, result = self._tree, tree_result(self._tree)
        row = {
            **self._totals(),
            "homepage": homepage_of(tree.url),
            "outcome": str(result.outcome),
            "code": self._code(result.outcome),
            "complete": result.is_complete,
        }
        if not isinstance(tree, IndexWebsiteSitemap):
            return row
        row["limit"] = next((note.code for note in tree._notes), None)
        facts = tree._facts
        if facts is None:  # no crawl made it, or that of an earlier version
            return row
        verdict = tree.robots_verdict(facts.robots_agent)
        return {
            **row,
            "final_url": homepage_of(tree.url),
            **facts_row(facts),
            **robots_row(verdict),
        }


def _walk(
    tree: AbstractSitemap,
) -> Iterator[tuple[AbstractSitemap, AbstractSitemap | None, int]]:
    """Yield each sitemap before those below it, with its parent and level; not the website."""
    top = tree.sub_sitemaps if isinstance(tree, IndexWebsiteSitemap) else [tree]
    pending: list[tuple[AbstractSitemap, AbstractSitemap | None, int]]
    pending = [(sitemap, None, 0) for sitemap in reversed(top)]
    while pending:
        sitemap, parent, level = pending.pop()
        yield sitemap, parent, level
        pending += [(sub, sitemap, level + 1) for sub in reversed(sitemap.sub_sitemaps)]


def _kind(sitemap: AbstractSitemap) -> str | None:
    kinds = (_KINDS.get(known) for known in type(sitemap).__mro__)
    return next((str(kind) for kind in kinds if kind), None)


def _children(sitemap: AbstractSitemap) -> int:
    """Return how many sitemaps a sitemap lists, with those that a crawl skipped or didn't reach."""
    if sitemap._child_count is not None:
        return sitemap._child_count
    skipped = sitemap._skipped_sitemaps or Counter()
    return len(sitemap.sub_sitemaps) + skipped.total()


def _state(sitemap: AbstractSitemap) -> tuple[str, str | None, str | None]:
    if isinstance(sitemap, InvalidSitemap):
        return "failed", sitemap.code, sitemap.reason
    if isinstance(sitemap, SitemapLink):
        return "skipped", None, "It was not fetched"
    collapsed = next((one for one in sitemap._known_losses() if one.code == NOT_EXPANDED), None)
    if collapsed:
        return "skipped", collapsed.code, collapsed.message
    state = "unchanged" if sitemap.fetch_info.not_modified else "ok"
    return state, *first_loss(sitemap._known_losses())
