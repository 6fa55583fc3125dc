"""The sections of a page, in their order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from usp._quantities import count
from usp._report.charts import ChartColumn, column_chart
from usp._report.commands import Commands, changes_command
from usp._report.figures import Folder, FoundPlace, Ranking, ReportFigures, RuleFinding
from usp._report.folders import MAX_FOLDERS, largest
from usp._report.markup import Html, tag
from usp._report.parts import (
    NUMBER,
    ROOM,
    Cell,
    Head,
    badge,
    behind,
    command_line,
    fitting,
    joined,
    link,
    number,
    ranking,
    section,
    table,
)
from usp.objects.outcome import Outcome

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MANY_MONTHS: Final = 120
_FEW_MONTHS: Final = 24
_LISTED_FOLDERS: Final = 300
_FOLDERS: Final = (MAX_FOLDERS, 500, 150, 50, 15, 5, 1)
"""How many folders are tried, if their names are very long."""
_TICK_DAYS: Final = (1, 15)
"""The days of a month that are written below a chart; where there is little room, the first."""
_HOSTS: Final = 15
_CHECKED: Final = "All rules of usp check were applied."
_RECORDED: Final = (
    "These are the problems that the reading recorded; usp check applies all rules to documents."
)
_NOTHING_READ: Final = frozenset({Outcome.NONE, Outcome.BLOCKED, Outcome.UNREACHABLE})
_NEWS_RULE: Final = "Search engines take those of the last two days."
_SEVERITIES: Final = {
    "error": "error",
    "warning": "warning",
    "info": "note",
    "undecided": "undecided rule",
}
"""What an occurrence of each severity is called."""


def findings(report: ReportFigures, commands: Commands) -> Html:
    """What is wrong, the worst first."""
    found = report.findings
    if found is None:
        text = "Nothing was checked: the source has neither documents nor recorded problems."
        return section("findings", "Findings", tag("p", text))
    counts = ((found.occurrences(severity), noun) for severity, noun in _SEVERITIES.items())
    said = ", ".join(count(number, noun) for number, noun in counts if number)
    if not found.rules:
        return section("findings", "Findings", tag("p", no_findings(report)))
    source = _CHECKED if found.is_check else _RECORDED
    rules = fitting("findings", (_finding(rule, commands) for rule in found.rules))
    more = len(found.rules) - len(rules)
    return section(
        "findings",
        "Findings",
        tag("p", f"{said}. {source}"),
        tag("div", rules, class_="findings"),
        tag("p", f"… and {count(more, 'more rule')}.") if more else None,
    )


def no_findings(report: ReportFigures) -> str:
    """Return what it means that nothing was found: all is well only if something was read."""
    if report.outcome in _NOTHING_READ:
        return "No sitemap was read, so there was nothing to check."
    is_check = report.findings is not None and report.findings.is_check
    return f"Nothing was found. {_CHECKED if is_check else _RECORDED}"


def _finding(rule: RuleFinding, commands: Commands) -> Html:
    where = f" in {count(rule.sitemaps, 'sitemap')}" if rule.sitemaps else ""
    name = tag("strong", rule.name.replace("-", " "))
    summary = tag(
        "summary",
        badge(rule.severity),
        tag("span", name, " ", tag("span", rule.code, class_="muted"), class_="what"),
        tag("span", f"{count(rule.count, 'time')}{where}", class_="muted num"),
    )
    more = rule.count - len(rule.places)
    body = tag(
        "div",
        tag("p", rule.condition),
        tag("p", tag("strong", "What to do: "), rule.fix),
        tag("ul", map(_place, rule.places), class_="places"),
        tag("p", f"… and {more:,} more.", class_="muted") if more else None,
        command_line(commands.get("finding", rule.code)),
        command_line(f"usp rule {rule.code}"),
        class_="body",
    )
    return tag("details", summary, body)


def _place(place: FoundPlace) -> Html:
    """Return where a finding is, and what it is: the page, or else the sitemap."""
    line = f"line {place.line:,}" if place.line else ""
    within = f"{line} of {place.sitemap_url}" if line and place.url else line
    parts = (place.detail, within)
    said = "; ".join(part for part in parts if part)
    return tag(
        "li", joined(link(place.url or place.sitemap_url), tag("span", said, class_="muted"))
    )


def folders(report: ReportFigures, commands: Commands) -> Html:
    """Where the pages are."""
    if not report.pages:
        return Html()
    top, data = _folder_data(report.folders, commands)
    known = sorted(_paths(top, ()), key=lambda item: (-item[1].pages, item[0]))
    rows = [
        (
            Cell(path),
            number(folder.pages),
            number(100 * folder.pages / report.pages, f"{100 * folder.pages / report.pages:.1f} %"),
            number(folder.folders),
        )
        for path, folder in known[:_LISTED_FOLDERS]
    ]
    heads = (
        Head("folder", "url"), Head("pages", NUMBER), Head("of all", NUMBER),
        Head("folders in it", f"{NUMBER} minor"),
    )  # fmt: skip
    intro = (
        f"{report.pages:,} pages on {count(len(report.hosts.top) + report.hosts.others, 'host')}. "
        "A folder is as wide as the number of its pages."
    )
    return section(
        "folders",
        "Folders",
        tag("p", intro, tag("span", " Enter a folder with a click.", class_="hint")),
        tag("div", id="icicle", class_="icicle"),
        command_line(
            commands.folder(top.name) if top.name else commands.get("pages"), "folder-command"
        ),
        data,
        table("folders", len(known), "the largest first", heads, rows, 10),
    )


def _paths(folder: Folder, above: tuple[str, ...]) -> Iterator[tuple[str, Folder]]:
    names = (*above, folder.name) if folder.name or above else ()
    if names:
        yield "/".join((*names, "")), folder
    for child in folder.children:
        yield from _paths(child, names)


def _folder_data(tree: Folder, commands: Commands) -> tuple[Folder, Html]:
    """Return as many folders as there is room for, and the same as JSON for the script."""
    for limit in _FOLDERS:
        kept = largest(tree, limit)
        top = kept.only_child or kept  # the only host, or all of them
        rows = json.dumps(_folder_row(top, (), commands), separators=(",", ":"))
        text = rows.replace("<", "\\u003c")  # it ends no element
        if len(text) <= ROOM["icicle"]:
            break
    return top, tag("script", Html(text), type="application/json", id="folders-data")


def _folder_row(folder: Folder, above: tuple[str, ...], commands: Commands) -> list[Any]:
    names = (*above, folder.name) if folder.name else above
    command = commands.folder(names[0], names[1:]) if names else commands.get("pages")
    children = [_folder_row(child, names, commands) for child in folder.children]
    name = folder.name or "all hosts"
    return [name, folder.pages, folder.own, folder.folders, command, children]


def dates(report: ReportFigures, commands: Commands) -> Html:
    """When pages last changed."""
    found = report.dates
    if not report.has_dates:
        return Html()
    if not found.dated:
        text = f"None of the {report.pages:,} pages has a lastmod."
        return section("dates", "Dates", tag("p", text))
    share = 100 * found.dated / report.pages
    without = f"; {found.undated:,} have none" if found.undated else ""
    words = [f"{share:.0f} % of the pages have a lastmod{without}."]
    if found.oldest and found.newest:
        words.append(f"The oldest is {found.oldest}, the newest {found.newest}.")
    if found.earlier:
        words.append(f"{found.earlier:,} are older than the chart.")
    if found.future:
        words.append(f"{found.future:,} are in the future.")
    months = _month_columns(found.months)
    by_month = f"{sum(found.months.values()):,} pages by month of their lastmod"
    return section(
        "dates",
        "Dates",
        tag("p", " ".join(words)),
        _chart("Pages by month", months, by_month, commands.get("months")) if months else None,
        _last_days(found.days, commands),
    )


def _last_days(days: Mapping[date, int], commands: Commands) -> Html:
    """Return the chart of the last 90 days, or that there is nothing to draw."""
    pages = sum(days.values())
    if not pages:
        return tag("p", "No page has a lastmod in the last 90 days.")
    summary = f"{pages:,} pages by day of their lastmod, the last 90 days"
    within = f"lastmod >= '{min(days)}' AND lastmod < '{max(days) + timedelta(days=1)}'"
    command = commands.get("days", within)
    return _chart("Pages by day, the last 90 days", _day_columns(days), summary, command)


def _chart(title: str, columns: Sequence[ChartColumn], summary: str, command: str) -> Html:
    """Return a chart with its numbers and the command that gives its rows."""
    numbers = ((column.label, column.value) for column in columns if column.value)
    return tag(
        "figure",
        tag("h3", title),
        column_chart(columns, "pages", summary),
        behind(summary, ("date", "pages"), numbers),
        command_line(command),
    )


def _month_columns(months: Mapping[str, int]) -> list[ChartColumn]:
    columns = []
    for name, value in months.items():
        year, month = int(name[:4]), int(name[5:])
        label = f"{_MONTHS[month - 1]} {year}"
        columns.append(ChartColumn(label, value, *_month_tick(year, month, len(months))))
    return columns


def _month_tick(year: int, month: int, months: int) -> tuple[str, bool]:
    """Return what is written below a month, and whether it is left out where there is little room.

    :param months: how many there are: the fewer, the more often something is written.
    """
    if months <= _FEW_MONTHS:
        return f"{_MONTHS[month - 1][:3]} {year}" if month % 3 == 1 else "", month % 6 != 1
    every, always = (2, 10) if months > _MANY_MONTHS else (1, 2)
    return str(year) if month == 1 and year % every == 0 else "", year % always != 0


def _day_columns(days: Mapping[date, int]) -> list[ChartColumn]:
    return [
        ChartColumn(
            f"{day:%a} {day.isoformat()}",
            value,
            f"{day.day} {_MONTHS[day.month - 1][:3]}" if day.day in _TICK_DAYS else "",
            day.day != _TICK_DAYS[0],
        )
        for day, value in days.items()
    ]


def changes(report: ReportFigures, commands: Commands) -> Html:
    """What the last run of a sync found."""
    del commands
    found = report.changes
    if found is None:
        return Html()
    since = f"between {found.previous_at:%Y-%m-%d %H:%M} and " if found.previous_at else "up to "
    intro = f"What usp sync found {since}{found.run_at:%Y-%m-%d %H:%M} UTC."
    if not found.kinds:
        intro += " Nothing changed." if found.previous_at else " It was the first run."
    days = _day_columns(found.days)
    heads = (Head("change"), Head("URL", "url"), Head("lastmod"), Head("sitemap", "url"))
    rows = [
        (
            Cell(line.kind),
            Cell(link(line.url)),
            Cell(f"{line.lastmod:%Y-%m-%d}" if line.lastmod else ""),
            Cell(line.sitemap_url),
        )
        for line in found.lines
    ]
    return section(
        "changes",
        "What changed",
        tag("p", intro),
        ranking("Changes", "URLs", Ranking(found.kinds)),
        command_line(changes_command(found.state, found.after, found.site)),
        table("examples", len(rows), "some of each kind", heads, rows) if rows else None,
        tag(
            "figure",
            tag("h3", "Changes found on each of the last 90 days"),
            column_chart(days, "changes", "Changes by day, the last 90 days"),
        )
        if any(found.days.values())
        else None,
    )


def news(report: ReportFigures, commands: Commands) -> Html:
    """How fresh the news is."""
    found = report.news
    if found is None:
        return Html()
    undated = f" {found.undated:,} have no date." if found.undated else ""
    stories = "stories"
    ages = ranking(
        "Age when they were read", stories, Ranking(found.ages), command=commands.get("news")
    )
    publications = ranking(
        "Publications", stories, found.publications, command=commands.get("publications")
    )
    return section(
        "news",
        "News",
        tag("p", f"News stories: {found.stories:,}.{undated} {_NEWS_RULE}"),
        tag("div", ages, publications, class_="cards"),
    )


def content(report: ReportFigures, commands: Commands) -> Html:
    """Hosts, schemes, kinds and languages."""
    kinds = Ranking(tuple(pair for pair in report.kinds if pair[1]))
    parts = ", ".join(f"{number:,} {name}" for name, number in report.parts if number)
    kind_names = {"images": "image", "videos": "video"}

    def of_kind(name: str) -> str:
        if name == "alternates":
            return commands.get("alternates")
        return commands.get("kind", name if commands.dialect else kind_names.get(name, name))

    note = f"{parts} in all." if parts else ""
    hosts = report.hosts.first(_HOSTS)
    alternates = commands.get("alternates")
    news_languages, changefreqs = commands.get("languages"), commands.get("changefreq")
    figures = (
        ranking("Hosts", "pages", hosts, command_of=commands.folder),
        ranking("Schemes", "pages", report.schemes, command_of=commands.scheme),
        ranking("Pages with", "pages", kinds, command_of=of_kind, note=note),
        ranking("Languages (hreflang)", "links", report.alternate_languages, command=alternates),
        ranking("Languages of news", "stories", report.news_languages, command=news_languages),
        ranking("changefreq", "pages", report.changefreqs, command=changefreqs),
    )
    if not any(figures):
        return Html()
    return section("content", "Content", tag("div", figures, class_="cards"))
