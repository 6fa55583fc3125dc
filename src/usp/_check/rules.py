"""The table of rules: codes of ``usp check`` with severity, condition, authority, fix and example.

A code that parsing reports, too (x01 to x49), has its severity here as engines see it: the parser
repairs what they refuse. ``docs/reference/rules.md`` and ``usp rule`` are made from this table.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class CheckSeverity(StrEnum):
    """How serious a finding is for a search engine."""

    ERROR = "error"
    """Engines refuse the sitemap, the entry or the value."""
    WARNING = "warning"
    """Engines may ignore it, or it is probably not what was meant."""
    INFO = "info"
    """Good to know; nothing is refused."""
    UNDECIDED = "undecided"
    """It could not be checked: neither passed nor failed."""


class Needs(StrEnum):
    """What a rule must see."""

    DOCUMENT = "the document"
    HTTP = "the HTTP response"
    SITE = "the whole site"
    PREVIOUS = "an earlier run"
    LIVE = "the pages themselves"
    FOLDER = "a build folder"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table."""

    code: str
    """``SM350``; a code never changes its meaning."""
    name: str
    """The name in kebab-case."""
    severity: CheckSeverity
    """The usual severity; a single occurrence may have another one."""
    condition: str
    """What is found, exactly: one or two sentences."""
    authority: str
    """Whose rule it is."""
    authority_names: tuple[str, ...]
    """What the authorities call it in their own reports."""
    needs: tuple[Needs, ...]
    fix: str
    """What the owner of the site should change."""
    example: str
    """What it looks like."""
    engine: str = ""
    """The engine that must be chosen with ``--engine``; empty for a rule of all."""


E, W, I, U = CheckSeverity  # noqa: E741 -- short names make the rows readable
"""Short names of the severities, for the rows."""
BLOCKS: Final = {
    "SM1": "Transport",
    "SM2": "Document",
    "SM3": "URLs",
    "SM4": "Values",
    "SM5": "Extensions",
    "SM6": "robots.txt and indexes",
    "SM7": "The check itself",
    "SM8": "Against an earlier run",
    "SM9": "Live pages and build folders",
}
"""The title of each block of codes, by the prefix of its codes."""

D, H, S = (Needs.DOCUMENT,), (Needs.HTTP,), (Needs.SITE,)
P, L, F = (Needs.PREVIOUS,), (Needs.LIVE,), (Needs.FOLDER,)
"""Short names of what rules need, for the rows."""
