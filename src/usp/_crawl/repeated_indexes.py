"""The budget for repeated indexes: it bounds the tree where indexes list one another."""

from collections.abc import Collection

from usp._crawl.nodes import Node
from usp._crawl.resource import SharedDocument
from usp._crawl.resource_table import ResourceTable
from usp._crawl.work import Work


class RepeatBudget:
    """Lets an index be expanded at several nodes, as long as the budget lasts."""

    def __init__(self, budget: int, resources: ResourceTable) -> None:
        self._left = budget
        self._resources = resources

    def allowed_children(self, node: Node, urls: Collection[str]) -> Work[Collection[str]]:
        """Return the children of an index that become nodes here.

        The first time an index is expanded, all of them. Where it is expanded elsewhere already,
        all of them while the budget lasts. After that the index is collapsed, except for children
        that are declared nowhere else, or only at deeper levels, where their descendants may
        exceed ``max_level``.
        """
        shared = node.resource.shared if node.resource else SharedDocument()
        before = shared.expanded_level
        shared.expanded_level = node.level if before is None else min(before, node.level)
        if before is None:
            return urls
        if len(urls) <= self._left:
            self._left -= len(urls)
            return urls
        new: list[str] = []
        for url in urls if node.level < before else ():
            if self._is_new(url, node.level + 1):
                new.append(url)
            yield None
        node.collapsed = len(new) < len(urls)
        return new

    def _is_new(self, url: str, level: int) -> bool:
        """Tell whether a child is declared nowhere else, or only deeper."""
        resource = self._resources.find(url)
        declared_level = resource.declared_level if resource else None
        return declared_level is None or declared_level > level
