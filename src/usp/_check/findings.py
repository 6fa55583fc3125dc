"""What a check finds: single occurrences, and findings, which count them."""

from dataclasses import dataclass
from typing import Final

from usp._check.rules import CheckSeverity

MAX_EXAMPLES: Final = 5
"""How many examples a finding has; its count is exact."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a rule is violated."""

    code: str
    """The code of the rule, such as ``SM350``."""
    sitemap_url: str | None
    """The sitemap; None for the site as a whole."""
    url: str | None = None
    """The page, or the listed sitemap; None for the document as a whole."""
    line: int | None = None
    """The line in the document, from 1."""
    offset: int | None = None
    """The byte offset in the decompressed document, from 0."""
    detail: str = ""
    """What was found there."""
    severity: CheckSeverity | None = None
    """The severity; None for the usual one of the rule."""


@dataclass(frozen=True, slots=True)
class FindingExample:
    """One of the first places of a finding."""

    url: str | None
    line: int | None
    offset: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """All that one rule finds in one sitemap, or in the site as a whole."""

    code: str
    name: str
    severity: CheckSeverity
    message: str
    sitemap_url: str | None
    """The sitemap; None for the site as a whole."""
    count: int
    """The exact number of occurrences."""
    examples: tuple[FindingExample, ...]
    """The first five of them."""
