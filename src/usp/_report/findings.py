"""Findings by rule, over all sitemaps: of a check, or of the problems that a source has."""

from dataclasses import dataclass, field
from typing import Final

from usp._check.findings import MAX_EXAMPLES, Finding
from usp._check.rules import CheckSeverity
from usp._check.table import RULES
from usp._report.figures import FoundPlace, RuleFinding, RuleFindings
from usp._report.sitemaps import cut, cut_url
from usp._tables.rows import TableRow

_ORDER: Final = {str(severity): number for number, severity in enumerate(CheckSeverity)}


@dataclass(slots=True)
class _RuleCount:
    """What one rule has found so far."""

    severity: str
    count: int = 0
    sitemaps: int = 0
    last_sitemap: str | None = None
    places: list[FoundPlace] = field(default_factory=list)

    def add(self, severity: str, count: int, sitemap_url: str | None) -> None:
        """Count occurrences in a sitemap."""
        self.count += count
        self.severity = min(self.severity, severity, key=_ORDER.__getitem__)
        if sitemap_url and sitemap_url != self.last_sitemap:  # those of a sitemap come together
            self.sitemaps += 1
            self.last_sitemap = sitemap_url


class FindingGroups:
    """Takes findings, or rows of the table ``problems``."""

    def __init__(self, *, is_check: bool) -> None:
        self._is_check = is_check
        self._groups: dict[str, _RuleCount] = {}
        self.is_known = is_check
        """Whether the source can have any."""

    def add_finding(self, finding: Finding) -> None:
        """Take a finding of a check."""
        group = self._groups.setdefault(finding.code, _RuleCount(str(finding.severity)))
        group.add(str(finding.severity), finding.count, finding.sitemap_url)
        for example in finding.examples[: MAX_EXAMPLES - len(group.places)]:
            place = FoundPlace(
                cut_url(finding.sitemap_url),
                cut_url(example.url),
                example.line,
                cut(example.detail),
            )
            group.places.append(place)

    def add_problem(self, row: TableRow) -> None:
        """Take a row of the table ``problems``."""
        self.is_known = True
        code = str(row.get("code") or "")
        if code not in RULES:
            return
        severity = str(RULES[code].severity)
        group = self._groups.setdefault(code, _RuleCount(severity))
        group.add(severity, row.get("count") or 1, row.get("sitemap_url"))
        if len(group.places) < MAX_EXAMPLES:
            place = FoundPlace(
                cut_url(row.get("sitemap_url")),
                cut_url(row.get("page_url")),
                row.get("line"),
                cut(row.get("message")),
            )
            group.places.append(place)

    def findings(self) -> RuleFindings | None:
        """Return the findings, the worst first; None if none can be known."""
        if not self.is_known:
            return None
        ordered = sorted(
            self._groups.items(),
            key=lambda item: (_ORDER[item[1].severity], -item[1].count, item[0]),
        )
        return RuleFindings(tuple(_rule(code, group) for code, group in ordered), self._is_check)


def _rule(code: str, group: _RuleCount) -> RuleFinding:
    rule = RULES[code]
    return RuleFinding(
        code,
        rule.name,
        group.severity,
        rule.condition,
        rule.fix,
        group.count,
        group.sitemaps,
        tuple(group.places),
    )
