"""Rules about the text of robots.txt: SM663."""

from collections.abc import Iterator
from typing import Final

from usp._check.facts import DocumentEnd
from usp._check.findings import Occurrence
from usp._check.registry import DocumentRule, document_rule
from usp._display import excerpt
from usp._parse import Kind
from usp._parse.checking import document_text

_MAX_BYTES: Final = 512_000
"""What engines read of a robots.txt (RFC 9309, 2.5, and Google)."""


@document_rule("SM663")
class GroupTrap(DocumentRule):
    """Finds groups that have no rule of their own, and so get those of the next one."""

    def finish(self, end: DocumentEnd) -> Iterator[Occurrence]:
        """Read the lines."""
        del end
        sitemap = self._sitemap
        if sitemap.kind is not Kind.ROBOTS:
            return
        text = document_text(sitemap.source, _MAX_BYTES)
        for line, agent in _joined_groups(text):
            detail = f"the group of {excerpt(agent, 60)} has no rule and gets those of the next one"
            yield Occurrence("SM663", sitemap.url, line=line, detail=detail)


def _joined_groups(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and agent of each group with only a Sitemap line before the next group."""
    group: tuple[int, str] | None = None
    has_sitemap = False
    for number, line in enumerate(text.splitlines(), 1):
        field, colon, value = line.partition("#")[0].partition(":")
        name = field.strip().lower()
        if not colon:
            continue
        if name == "user-agent":
            if group and has_sitemap:
                yield group
                group = None
            group, has_sitemap = group or (number, value.strip()), False
        elif name.startswith("sitemap"):
            has_sitemap = group is not None
        else:
            group, has_sitemap = None, False
