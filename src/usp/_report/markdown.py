"""The report as Markdown: for the summary of a CI job, an issue, a terminal.

It is short, whatever the site: what GitHub takes as a summary of a job is at most 1 MiB.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from usp._display import in_markdown, shown, shown_url
from usp._quantities import count
from usp._report.commands import Commands, changes_command
from usp._report.figures import Folder, Ranking, ReportFigures
from usp._report.html import meaning_of, minute, numbers
from usp._report.sections import no_findings

_FINDINGS: Final = 30
_SITEMAPS: Final = 20
_FOLDERS: Final = 15
_NAMES: Final = 10
_MONTHS: Final = 12
_BAR: Final = 20


def markdown_page(report: ReportFigures, commands: Commands) -> str:
    """Return the report as Markdown."""
    return "\n".join(_lines(report, commands)) + "\n"


def _lines(report: ReportFigures, commands: Commands) -> Iterator[str]:
    outcome = report.outcome
    yield f"# Sitemap report: {_text(report.title)}"
    yield ""
    yield f"**{outcome or 'unknown'}**: {meaning_of(report)} Read {minute(report.as_of)}."
    yield from _table(
        ("", "", ""),
        ((f"**{value}**", name, note) for value, name, note, _ in numbers(report)),
        numeric=(0,),
    )
    for section in (_findings, _failures, _folders, _dates, _changes, _news, _content):
        yield from section(report, commands)
    yield ""


def _text(text: str) -> str:
    """Return a text of a site as text of Markdown, on one line."""
    return in_markdown(shown(text))


def _url(url: str) -> str:
    """Return a URL as text of Markdown."""
    return in_markdown(shown_url(url))


def _code(command: str) -> str:
    """Return a command as code; it has no line breaks, but may have backticks."""
    fence = "``" if "`" in command else "`"
    pad = " " if "`" in command else ""
    return f"{fence}{pad}{command}{pad}{fence}"


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()
) -> Iterator[str]:
    """Yield the lines of a table, with an empty line before it; its cells are escaped already."""
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---:' if at in numeric else '---' for at in range(len(heads)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _heading(title: str, command: str = "") -> Iterator[str]:
    yield ""
    yield f"## {title}"
    if command:
        yield ""
        yield f"All rows: {_code(command)}"


def _bar(value: int, most: int) -> str:
    return "█" * max(round(_BAR * value / most), 1) if value else ""


def _findings(report: ReportFigures, commands: Commands) -> Iterator[str]:
    found = report.findings
    if found is None:
        return
    yield from _heading("Findings")
    if not found.rules:
        yield ""
        yield no_findings(report)
        return
    rows = (
        (
            rule.severity,
            f"{rule.code} {_text(rule.name)}",
            f"{rule.count:,}",
            _url(next((place.url or place.sitemap_url for place in rule.places), "")),
            _text(rule.fix),
        )
        for rule in found.rules[:_FINDINGS]
    )
    yield from _table(("severity", "rule", "count", "first", "what to do"), rows, numeric=(2,))
    yield from _more(len(found.rules) - _FINDINGS, "rule")
    command = commands.get("finding", found.rules[0].code)
    if command:
        yield ""
        yield f"The rows of a rule: {_code(command)}"


def _more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield ""
        yield f"… and {count(number, f'more {noun}')}."


def _failures(report: ReportFigures, commands: Commands) -> Iterator[str]:
    found = report.sitemaps
    failed = [line for line in found.lines if line.result in {"failed", "partial"}]
    if not failed:
        return
    yield from _heading("Sitemaps that could not be read whole", commands.get("sitemaps"))
    rows = ((_url(line.url), line.result, _text(line.reason)) for line in failed[:_SITEMAPS])
    yield from _table(("sitemap", "state", "why"), rows)
    yield from _more(found.failed + found.damaged - _SITEMAPS, "sitemap")


def _folders(report: ReportFigures, commands: Commands) -> Iterator[str]:
    if not report.pages:
        return
    tree = report.folders
    top = tree.only_child or tree  # the only host, or all of them
    yield from _heading("Folders", commands.get("pages"))
    listed: list[Folder] = list(top.children[:_FOLDERS])
    most = max((folder.pages for folder in listed), default=1)
    rows = [
        (f"{_text(folder.name)}/", f"{folder.pages:,}", _bar(folder.pages, most))
        for folder in listed
    ]
    others = top.pages - top.own - sum(folder.pages for folder in listed)
    if others:
        rows.append((count(top.folders - len(listed), "more folder"), f"{others:,}", ""))
    if top.own:
        rows.append(("in no folder", f"{top.own:,}", ""))
    yield from _table(("folder", "pages", ""), rows, numeric=(1,))


def _dates(report: ReportFigures, commands: Commands) -> Iterator[str]:
    months = [*report.dates.months.items()][-_MONTHS:]
    if not report.has_dates or not report.dates.dated:
        return
    yield from _heading("Pages by month of their lastmod", commands.get("months"))
    most = max((value for _, value in months), default=1)
    yield from _table(
        ("month", "pages", ""),
        ((name, f"{value:,}", _bar(value, most)) for name, value in reversed(months)),
        numeric=(1,),
    )


def _changes(report: ReportFigures, commands: Commands) -> Iterator[str]:
    del commands
    found = report.changes
    if found is None:
        return
    command = changes_command(found.state, found.after, found.site)
    yield from _heading(f"What changed up to {minute(found.run_at)}", command)
    if not found.kinds:
        yield ""
        yield "Nothing."
        return
    rows = ((kind, f"{number:,}") for kind, number in found.kinds)
    yield from _table(("change", "URLs"), rows, numeric=(1,))


def _news(report: ReportFigures, commands: Commands) -> Iterator[str]:
    if report.news is None:
        return
    yield from _heading("Age of news", commands.get("news"))
    yield from _ranked("age", "stories", Ranking(report.news.ages))


def _content(report: ReportFigures, commands: Commands) -> Iterator[str]:
    del commands
    kinds = Ranking(tuple(pair for pair in report.kinds if pair[1]))
    for title, noun, ranked in (
        ("Hosts", "pages", report.hosts),
        ("Schemes", "pages", report.schemes),
        ("Pages with", "pages", kinds),
        ("Languages of alternates", "links", report.alternate_languages),
    ):
        if len(ranked.top) > 1 or (ranked is kinds and ranked.top):
            yield from _heading(title)
            yield from _ranked("", noun, ranked)


def _ranked(title: str, noun: str, ranked: Ranking) -> Iterator[str]:
    first = ranked.first(_NAMES)
    rows = [(_text(name), f"{times:,}") for name, times in first.top]
    if first.others:
        rows.append((f"{first.others:,} more", f"{first.others_count:,}"))
    yield from _table((title, noun), rows, numeric=(1,))
