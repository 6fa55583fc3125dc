"""Counting occurrences: exact counts, the first examples, and what is left out on request.

Memory grows with rules and sitemaps, not with occurrences.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from usp._check.findings import MAX_EXAMPLES, Finding, FindingExample, Occurrence
from usp._check.rules import CheckSeverity
from usp._check.table import RULES
from usp._display import shown

_ORDER = {severity: number for number, severity in enumerate(CheckSeverity)}


@dataclass(slots=True)
class _Counted:
    """The occurrences of one code in one sitemap."""

    count: int = 0
    severity: CheckSeverity = CheckSeverity.UNDECIDED
    examples: list[FindingExample] = field(default_factory=list)


class Collector:
    """Takes occurrences and gives findings."""

    def __init__(self) -> None:
        self._groups: dict[str | None, dict[str, _Counted]] = {}
        """By sitemap and code; a site may have half a million sitemaps."""

    def add(self, occurrence: Occurrence) -> None:
        """Count an occurrence."""
        by_code = self._groups.setdefault(occurrence.sitemap_url, {})
        group = by_code.setdefault(occurrence.code, _Counted())
        severity = severity_of(occurrence)
        group.severity = min(group.severity, severity, key=_ORDER.__getitem__)
        group.count += 1
        if len(group.examples) < MAX_EXAMPLES:
            group.examples.append(
                FindingExample(
                    occurrence.url, occurrence.line, occurrence.offset, shown(occurrence.detail)
                )
            )

    def take(self, sitemap_url: str | None = None) -> Iterator[Finding]:
        """Yield findings in their order, and forget them.

        :param sitemap_url: only those of a sitemap that was read. What was found in other sitemaps
            by then may be found there again, so it is told when everything was read.
        """
        chosen = list(self._groups) if sitemap_url is None else [sitemap_url]
        groups = [(url, self._groups.pop(url, {})) for url in chosen]
        return iter(
            sorted_findings(
                _finding(code, url, group)
                for url, by_code in groups
                for code, group in by_code.items()
            )
        )


def severity_of(occurrence: Occurrence) -> CheckSeverity:
    """Return the severity of an occurrence: its own, or that of its rule."""
    return occurrence.severity or RULES[occurrence.code].severity


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in order: the worst first, then by code and sitemap."""
    return sorted(
        findings,
        key=lambda found: (_ORDER[found.severity], found.code, found.sitemap_url or ""),
    )


def _finding(code: str, sitemap_url: str | None, group: _Counted) -> Finding:
    rule = RULES[code]
    return Finding(
        code, rule.name, group.severity, rule.condition, sitemap_url, group.count,
        tuple(group.examples),
    )  # fmt: skip
