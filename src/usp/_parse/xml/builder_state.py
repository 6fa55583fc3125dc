"""The state of a builder between entries: it is kept for other documents that begin alike."""

from collections.abc import Mapping
from typing import NamedTuple

from usp._parse.xml.between_entries import OtherContent
from usp._parse.xml.grammar import Tag
from usp._parse.xml.namespaces import NamespaceScope, StructureProblems

KnownElements = Mapping[str, Tag] | None
"""The elements that are known at a position; None inside a text or inside an unknown element."""
OpenElement = tuple[KnownElements, Tag | None, NamespaceScope, str]
"""An open element: what is known beside it, what it is, if it is known, the namespaces around it,
and its name as written."""


class BuilderState(NamedTuple):
    """What the elements around the entries are, where no entry is open."""

    stack: tuple[OpenElement, ...]
    scope: NamespaceScope
    other_content: OtherContent
    problems: list[tuple[str, str, int | None]]

    def reporting_to(self, problems: StructureProblems) -> "BuilderState":
        """Return the same state, whose problems are recorded elsewhere."""
        scopes: dict[int, NamespaceScope] = {}
        for scope in (*(place[2] for place in self.stack), self.scope):
            if id(scope) not in scopes:
                scopes[id(scope)] = scope.reporting_to(problems)
        stack = [
            (children, tag, scopes[id(scope)], name) for children, tag, scope, name in self.stack
        ]
        return self._replace(stack=tuple(stack), scope=scopes[id(self.scope)])
