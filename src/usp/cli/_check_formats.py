"""How findings are printed: for people, for programs, for a page in Markdown.

The number of lines is bounded, counts are exact. The same findings give the same bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from usp._check.collector import severity_of
from usp._check.findings import Finding, FindingExample, Occurrence
from usp._check.folder import BuildFolder
from usp._check.live import LiveSummary
from usp._check.table import RULES
from usp._display import in_markdown, shown, shown_url
from usp._json import json_text
from usp._quantities import count

SCHEMA_VERSION: Final = 1
_MAX_SITEMAPS: Final = 10
"""How many sitemaps are printed for one rule; the others are counted."""
THE_SITE: Final = "the site"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found, sorted."""

    source: str
    now: datetime
    summary: dict[str, int]
    findings: tuple[Finding, ...]
    checked: tuple[str, ...]
    """The sitemaps that were read."""
    failing: frozenset[str]
    """The severities that make the exit code 1."""
    live: LiveSummary | None = None
    """What live pages say about all pages, if some were requested."""
    folder: BuildFolder | None = None
    """The folder that was checked, if it was one."""

    def shown_sitemap(self, sitemap_url: str) -> str:
        """Return a sitemap as people look for it: its file, if it has one, or else its URL."""
        return self.file_of(sitemap_url) or sitemap_url

    def file_of(self, url: str | None) -> str | None:
        """Return the file of a sitemap or page; None if there is none."""
        if url is None or self.folder is None:
            return url if url and is_path(url) else None
        file = self.folder.file_for(url)
        return str(file) if file else None

    def by_rule(self) -> Iterator[tuple[str, str, list[Finding]]]:
        """Yield severity and code, and their findings, the worst first."""
        for (severity, code), found in groupby(
            self.findings, key=lambda one: (str(one.severity), one.code)
        ):
            yield severity, code, list(found)


def is_path(sitemap_url: str) -> bool:
    """Tell whether a sitemap is a file of the machine, and no URL."""
    return "://" not in sitemap_url and sitemap_url != "-"


def totals(summary: dict[str, int]) -> str:
    """Return the counts of a check in words."""
    words = [count(summary[name], name) for name in ("error", "warning")]
    return ", ".join((*words, f"{summary['info']:,} info", f"{summary['undecided']:,} undecided"))


def place(example: FindingExample, *, url: bool = True) -> str:
    """Return where an example is, and what it is."""
    line = f"line {example.line:,}" if example.line else ""
    parts = [line, shown_url(example.url) if url and example.url else "", example.detail]
    return ": ".join(part for part in parts if part)


def text_lines(made: CheckReport) -> Iterator[str]:
    """Yield the findings for people: grouped by rule, with examples and what to do."""
    for severity, code, found in made.by_rule():
        rule = RULES[code]
        yield f"{severity} {code} {rule.name}: {rule.condition}"
        for finding in found[:_MAX_SITEMAPS]:
            times = "" if finding.count == 1 else f" ({finding.count:,} times)"
            where = made.shown_sitemap(finding.sitemap_url) if finding.sitemap_url else THE_SITE
            yield f"  {shown_url(where)}{times}"
            places = [place(example) for example in finding.examples]
            yield from (f"    {one}" for one in places if one)
            if more := finding.count - len(finding.examples):
                yield f"    … {more:,} more"
        if len(found) > _MAX_SITEMAPS:
            yield f"  … and in {count(len(found) - _MAX_SITEMAPS, 'more sitemap')}"
        named = f" Its name in other tools: {', '.join(rule.authority_names)}."
        yield f"  What to do: {rule.fix}{named if rule.authority_names else ''}"
        yield ""
    yield from live_lines(made.live)
    yield f"{count(len(made.checked), 'sitemap')} checked: {totals(made.summary)}"


def live_lines(live: LiveSummary | None) -> Iterator[str]:
    """Yield what live pages say about all pages."""
    if live is None:
        return
    pages = f"{live.requested:,} of {live.listed:,} listed pages (seed {live.seed})"
    yield f"Requested {pages}; {live.verified:,} of them could be verified."
    for one in live.estimates:
        if one.found:
            share = f"between {one.low:.1%} and {one.high:.1%} of all pages (95 %)"
            share = share if one.low < one.high else f"{one.low:.1%} of all pages"
            yield f"  {one.code} {RULES[one.code].name}: {one.found:,}, so {share}"
    high = max((one.high for one in live.estimates if not one.found), default=0.0)
    if live.verified:
        yield f"  any other rule about pages: 0, so at most {high:.1%} of all pages (95 %)"
    yield ""


def concise_lines(made: CheckReport) -> Iterator[str]:
    """Yield a line for each finding: sitemap, line, code, severity, what, how often."""
    for finding in made.findings:
        example = finding.examples[0]
        line = f":{example.line}" if example.line else ""
        times = f" ({finding.count:,} times)" if finding.count > 1 else ""
        where = made.shown_sitemap(finding.sitemap_url) if finding.sitemap_url else made.source
        what = place(FindingExample(example.url, None, None, example.detail))
        yield (
            f"{shown_url(where)}{line}: {finding.code} "
            f"{finding.severity} {finding.name}{f': {what}' if what else ''}{times}"
        )


def statistics_lines(made: CheckReport) -> Iterator[str]:
    """Yield a line for each rule: how often, in how many sitemaps."""
    for severity, code, found in made.by_rule():
        times = sum(finding.count for finding in found)
        where = count(len(found), "sitemap") if found[0].sitemap_url else THE_SITE
        yield f"{times:>12,}  {code}  {severity:9}  {RULES[code].name} ({where})"
    yield f"{count(len(made.checked), 'sitemap')} checked: {totals(made.summary)}"


def _example(example: FindingExample) -> dict[str, Any]:
    return {
        "url": example.url,
        "line": example.line,
        "offset": example.offset,
        "detail": example.detail,
    }


def _live(live: LiveSummary) -> dict[str, Any]:
    """Return what live pages say as values of JSON."""
    shares = [
        {"code": one.code, "found": one.found, "low": round(one.low, 6), "high": round(one.high, 6)}
        for one in live.estimates
    ]
    return {
        "listed": live.listed,
        "requested": live.requested,
        "verified": live.verified,
        "seed": live.seed,
        "estimates": shares,
    }


def json_lines(made: CheckReport) -> Iterator[str]:
    """Yield one object with all findings."""
    findings = [
        {
            "code": finding.code,
            "name": finding.name,
            "severity": str(finding.severity),
            "message": finding.message,
            "sitemap_url": finding.sitemap_url,
            "count": finding.count,
            "examples": list(map(_example, finding.examples)),
        }
        for finding in made.findings
    ]
    content = {
        "schema_version": SCHEMA_VERSION,
        "source": made.source,
        "now": made.now.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "summary": made.summary,
        **({"live": _live(made.live)} if made.live else {}),
        "findings": findings,
    }
    yield json_text(content, indent=2)


def occurrence_line(occurrence: Occurrence) -> str:
    """Return one occurrence as a line of JSON."""
    row = {
        "code": occurrence.code,
        "name": RULES[occurrence.code].name,
        "severity": str(severity_of(occurrence)),
        "sitemap_url": occurrence.sitemap_url,
        "url": occurrence.url,
        "line": occurrence.line,
        "offset": occurrence.offset,
        "detail": shown(occurrence.detail),
    }
    return json_text(row)


def markdown_lines(made: CheckReport) -> Iterator[str]:
    """Yield a table of the findings."""
    yield f"## usp check: {in_markdown(shown_url(made.source))}"
    yield ""
    yield f"{count(len(made.checked), 'sitemap')} checked: {totals(made.summary)}"
    if made.live:
        yield ""
        yield from (in_markdown(f"- {line.strip()}") for line in live_lines(made.live) if line)
    if not made.findings:
        return
    yield ""
    yield "| severity | rule | sitemap | count | first | what to do |"
    yield "|---|---|---|---|---|---|"
    for finding in made.findings:
        cells = (
            str(finding.severity),
            f"{finding.code} {finding.name}",
            shown_url(made.shown_sitemap(finding.sitemap_url)) if finding.sitemap_url else THE_SITE,
            f"{finding.count:,}",
            place(finding.examples[0]),
            RULES[finding.code].fix,
        )
        yield f"| {' | '.join(map(in_markdown, cells))} |"
