"""The state of a builder between entries: it is kept for other documents that begin alike."""

from collections.abc import Mapping
from typing import NamedTuple

from usp._parse.xml.grammar import Tag
from usp._parse.xml.namespaces import NamespaceScope

KnownElements = Mapping[str, Tag] | None
"""The elements that are known at a position; None inside a text or inside an unknown element."""


class BuilderState(NamedTuple):
    """What the elements around the entries are, where no entry is open."""

    stack: tuple[tuple[KnownElements, Tag | None, NamespaceScope, str], ...]
    scope: NamespaceScope
    has_other_content: bool
    problems: list[tuple[str, str, int | None]]
