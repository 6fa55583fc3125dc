"""The report of a crawl: what was tried, and what of it was lost, in document order.

A stream keeps nothing of a site, so its report is bounded. A tree has a node for every sitemap, so
its report has every attempt, and its losses are those of its sitemaps.
"""

from collections import Counter
from typing import Final

from usp._crawl.nodes import Node
from usp.objects.outcome import Attempt, Result
from usp.objects.problem import Problem, listed_problems

_KEPT_ATTEMPTS: Final = 1000
"""How many attempts a stream keeps: the first that found a sitemap, and as many of the others."""
_KEPT_LOSSES: Final = 2000
"""How many sitemaps with losses a stream keeps before it drops those that come last."""


class CrawlReport:
    """What a crawl tried and lost, by the number of the node."""

    def __init__(self, *, bounded: bool) -> None:
        self._bounded = bounded
        self.nodes = 0
        """The number of nodes that were decided."""
        self._attempts: dict[int, Attempt] = {}
        self._kept: Counter[bool] = Counter()
        self._losses: dict[int, tuple[Problem, ...]] = {}
        self._dropped = 0
        self._searched_homepage = False

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """What was tried."""
        return tuple(self._attempts.values())

    @property
    def losses(self) -> tuple[Problem, ...]:
        """The sitemaps that could not be read, or only in part; a stream alone knows them."""
        found = (problem for number in sorted(self._losses) for problem in self._losses[number])
        return listed_problems(found, self._dropped)

    def add(self, node: Node) -> None:
        """Add a node that was decided; a homepage is tried once, though it is searched twice."""
        self.nodes += 1
        node.number = self.nodes
        if node.was_tried and not (self._searched_homepage and node.homepage):
            self._searched_homepage = self._searched_homepage or node.homepage is not None
            self._add_attempt(node)
        self.add_losses(node)

    def _add_attempt(self, node: Node) -> None:
        attempt = node.attempt()
        found = attempt.result is Result.SITEMAP
        self._kept[found] += 1
        if not self._bounded or self._kept[found] <= _KEPT_ATTEMPTS:
            self._attempts[node.number] = attempt

    def add_losses(self, node: Node) -> None:
        """Add what is known to be lost at a node, again when its pages were read."""
        losses = node.known_losses() if self._bounded else ()
        if not losses:
            return
        self._losses[node.number] = losses
        if len(self._losses) > _KEPT_LOSSES:
            for number in sorted(self._losses)[_KEPT_LOSSES // 2 :]:
                self._dropped += len(self._losses.pop(number))

    def cut_after(self, node: Node) -> None:
        """Drop what comes after a node: how far the cursor was ahead of it depends on time."""
        self._attempts = {at: one for at, one in self._attempts.items() if at <= node.number}
        self._losses = {at: lost for at, lost in self._losses.items() if at <= node.number}
