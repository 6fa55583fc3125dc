"""The rows of sitemaps that were skipped, each at its position in document order."""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from usp._crawl.nodes import Node
from usp._parse import Child
from usp._tables.nodes import skipped_row
from usp.objects.outcome import SkipReason


class _OpenIndex(NamedTuple):
    """A document that lists sitemaps, some of which were skipped."""

    node: Node
    order: dict[str, int]
    """The number of each sitemap that it lists."""
    left: deque[tuple[Child, SkipReason]]
    """Those that were skipped, and have no row yet."""

    def rows_before(self, url: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of those that come before a sitemap of the same document."""
        at = self.order.get(url, 0)
        while self.left and self.order[self.left[0][0].url] < at:
            yield skipped_row(self.node, *self.left.popleft())

    def other_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all that are left."""
        while self.left:
            yield skipped_row(self.node, *self.left.popleft())


class SkippedSitemaps:
    """Holds the sitemaps that were skipped back until what comes before them has its rows."""

    def __init__(self) -> None:
        self._open: list[_OpenIndex] = []
        """The documents above the next node, the lowest last."""

    def before(self, node: Node) -> Iterator[dict[str, Any]]:
        """Yield the rows that come before that of a node; then those that it lists are held."""
        above = set(map(id, _ancestors(node)))
        while self._open and id(self._open[-1].node) not in above:
            yield from self._open.pop().other_rows()
        if self._open and self._open[-1].node is node.parent:
            yield from self._open[-1].rows_before(node.url)
        if node.skipped_children and node.document:
            order = {child.url: at for at, child in enumerate(node.document.children)}
            self._open.append(_OpenIndex(node, order, deque(node.skipped_children)))

    def at_end(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that are left when there is no further node."""
        while self._open:
            yield from self._open.pop().other_rows()


def _ancestors(node: Node) -> Iterator[Node]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent
