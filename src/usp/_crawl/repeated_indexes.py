"""The budget of repeated nodes: what keeps webs and diamonds of indexes bounded."""

from usp._crawl.nodes import Node
from usp._crawl.resource import SharedDocument
from usp._crawl.resource_table import ResourceTable


class RepeatBudget:
    """Lets an index stand open in several nodes, as long as the budget lasts."""

    def __init__(self, budget: int, resources: ResourceTable) -> None:
        self._left = budget
        self._resources = resources

    def allowed(self, node: Node, urls: list[str]) -> list[str]:
        """Return the children of an index that have a node here.

        The first time, all of them. Where the index stands open elsewhere already, all of them
        while the budget of repeated nodes lasts. After that it stands closed, but for children
        that stand nowhere else, or only so much deeper that something below them may be out of
        reach there.
        """
        shared = node.resource.shared if node.resource else SharedDocument()
        before = shared.expanded_level
        shared.expanded_level = node.level if before is None else min(before, node.level)
        if before is None:
            return urls
        if len(urls) <= self._left:
            self._left -= len(urls)
            return urls
        nearer = node.level < before
        news = [url for url in urls if nearer and self._is_news(url, node.level + 1)]
        node.closed = len(news) < len(urls)
        return news

    def _is_news(self, url: str, level: int) -> bool:
        """Emit whether a child stands nowhere else, or only deeper."""
        resource = self._resources.find(url)
        declared_level = resource.declared_level if resource else None
        return declared_level is None or declared_level > level
