"""The sections of a page, in their order."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final

from usp._quantities import count, duration, size
from usp._report.charts import Column, column_chart
from usp._report.commands import Commands, changes_command
from usp._report.figures import Folder, Ranking, Report, RuleFinding
from usp._report.markup import Html, tag
from usp._report.parts import (
    NUMBER,
    Cell,
    Head,
    badge,
    behind,
    command_line,
    joined,
    link,
    number,
    ranking,
    section,
    table,
)

Section = Callable[[Report, Commands], Html]
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MANY_YEARS: Final = 10
_FEW_MONTHS: Final = 24
_LISTED_FOLDERS: Final = 300
_SEVERITIES: Final = ("error", "warning", "info", "undecided")


def findings(report: Report, commands: Commands) -> Html:
    """What is wrong, the worst first."""
    found = report.findings
    if found is None:
        text = "Nothing was checked: the source has neither documents nor recorded problems."
        return section("findings", "Findings", tag("p", text))
    counts = [
        (severity, found.occurrences(severity)) for severity in _SEVERITIES
    ]
    said = ", ".join(f"{number:,} {severity}" for severity, number in counts if number)
    source = (
        "All rules of usp check were applied."
        if found.is_check
        else "These are the problems that the reading recorded; usp check applies all rules to the documents."
    )
    if not found.rules:
        return section("findings", "Findings", tag("p", f"Nothing was found. {source}"))
    rules = (_finding(rule, commands) for rule in found.rules)
    return section(
        "findings",
        "Findings",
        tag("p", f"{said}. {source}"),
        tag("div", rules, class_="findings"),
    )


def _finding(rule: RuleFinding, commands: Commands) -> Html:
    where = f" in {count(rule.sitemaps, 'sitemap')}" if rule.sitemaps else ""
    times = f"{rule.count:,}×{where}"
    summary = tag(
        "summary",
        badge(rule.severity),
        tag("span", tag("strong", rule.name.replace("-", " ")), " ", tag("span", rule.code, class_="muted"), class_="what"),
        tag("span", times, class_="muted num"),
    )  # fmt: skip
    places = (
        tag(
            "li",
            joined(
                link(place.url or place.sitemap_url),
                tag("span", f"line {place.line:,}", class_="muted") if place.line else None,
                tag("span", place.detail, class_="muted"),
            ),
        )
        for place in rule.places
        if place.url or place.sitemap_url or place.detail
    )
    more = rule.count - len(rule.places)
    body = tag(
        "div",
        tag("p", rule.condition),
        tag("p", tag("strong", "What to do: "), rule.fix),
        tag("ul", places, class_="places"),
        tag("p", f"… and {more:,} more.", class_="muted") if more else None,
        command_line(commands.get("finding", rule.code)),
        command_line(f"usp rule {rule.code}"),
        class_="body",
    )
    return tag("details", summary, body)


def folders(report: Report, commands: Commands) -> Html:
    """Where the pages are."""
    if not report.pages:
        return Html()
    top = _top(report.folders)
    listed = sorted(_paths(top, ()), key=lambda item: (-item[1].pages, item[0]))[:_LISTED_FOLDERS]
    rows = [
        (
            Cell(path),
            number(folder.pages),
            number(100 * folder.pages / report.pages, f"{100 * folder.pages / report.pages:.1f} %"),
            number(folder.folders),
        )
        for path, folder in listed
    ]
    heads = (
        Head("folder", "url"), Head("pages", NUMBER), Head("of all", NUMBER),
        Head("folders in it", NUMBER),
    )  # fmt: skip
    intro = (
        f"{report.pages:,} pages on {count(len(report.hosts.top) + report.hosts.others, 'host')}. "
        "A folder is as wide as the number of its pages. Enter a folder with a click."
    )
    return section(
        "folders",
        "Folders",
        tag("p", intro),
        tag("div", id="icicle", class_="icicle"),
        command_line(commands.folder(top.name) if top.name else commands.get("pages"), "folder-command"),
        _folder_data(top, commands),
        table(f"The {len(rows):,} largest folders", heads, rows),
    )


def _top(tree: Folder) -> Folder:
    """Return the only host, or all of them."""
    return tree.children[0] if tree.folders == len(tree.children) == 1 else tree


def _paths(folder: Folder, above: tuple[str, ...]) -> Iterator[tuple[str, Folder]]:
    names = (*above, folder.name) if folder.name or above else ()
    if names:
        yield "/".join((*names, "")), folder
    for child in folder.children:
        yield from _paths(child, names)


def _folder_data(top: Folder, commands: Commands) -> Html:
    """Return the folders for the icicle, as JSON that ends no element."""

    def row(folder: Folder, above: tuple[str, ...]) -> list[Any]:
        names = (*above, folder.name) if folder.name else above
        command = commands.folder(names[0], names[1:]) if names else commands.get("pages")
        children = [row(child, names) for child in folder.children]
        name = folder.name or "all hosts"
        return [name, folder.pages, folder.own, folder.folders, command, children]

    text = json.dumps(row(top, ()), ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return tag("script", Html(text), type="application/json", id="folders-data")


def dates(report: Report, commands: Commands) -> Html:
    """When pages last changed."""
    found = report.dates
    if not report.has_dates:
        return Html()
    if not found.dated:
        text = f"None of the {report.pages:,} pages has a lastmod."
        return section("dates", "Dates", tag("p", text))
    share = 100 * found.dated / report.pages
    words = [f"{share:.0f} % of the pages have a lastmod; {found.undated:,} have none."]
    if found.oldest and found.newest:
        words.append(f"The oldest is {found.oldest}, the newest {found.newest}.")
    if found.earlier:
        words.append(f"{found.earlier:,} are older than the chart.")
    if found.future:
        words.append(f"{found.future:,} are in the future.")
    months = _month_columns(found.months)
    days = _day_columns(found.days)
    in_days = sum(found.days.values())
    return section(
        "dates",
        "Dates",
        tag("p", " ".join(words)),
        tag(
            "figure",
            tag("h3", "Pages by month of their lastmod"),
            column_chart(months, "pages", f"Pages by month, {months[0].label} to {months[-1].label}") if months else None,
            behind("Pages by month of their lastmod", ("month", "pages"), ((c.label, c.value) for c in months if c.value)),
            command_line(commands.get("months")),
        ),
        tag(
            "figure",
            tag("h3", "The last 90 days"),
            column_chart(days, "pages", f"Pages by day, the last 90 days: {in_days:,} in all"),
            behind("Pages by day", ("day", "pages"), ((c.label, c.value) for c in days if c.value)),
            command_line(commands.get("days")),
        ),
    )  # fmt: skip


def _month_columns(months: Any) -> list[Column]:
    many = len(months) > _MANY_YEARS * 12
    few = len(months) <= _FEW_MONTHS
    columns = []
    for name, value in months.items():
        year, month = int(name[:4]), int(name[5:])
        tick = str(year) if month == 1 else ""
        if few and month % 3 == 1:
            tick = f"{_MONTHS[month - 1][:3]} {year}"
        is_minor = month != 1 if few else year % (5 if many else 2) != 0
        if many and year % 2:
            tick = ""
        columns.append(Column(f"{_MONTHS[month - 1]} {year}", value, tick, is_minor))
    return columns


def _day_columns(days: Any) -> list[Column]:
    return [
        Column(
            f"{day:%a} {day.isoformat()}",
            value,
            f"{day.day} {_MONTHS[day.month - 1][:3]}" if day.weekday() == 0 else "",
            _week(day) % 3 != 0,
        )
        for day, value in days.items()
    ]


def _week(day: date) -> int:
    return day.toordinal() // 7


def changes(report: Report, commands: Commands) -> Html:
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
        table("Examples of each kind", heads, rows) if rows else None,
        tag(
            "figure",
            tag("h3", "Changes found on each of the last 90 days"),
            column_chart(days, "changes", "Changes by day, the last 90 days"),
        )
        if any(found.days.values())
        else None,
    )


def news(report: Report, commands: Commands) -> Html:
    """How fresh the news is."""
    found = report.news
    if found is None:
        return Html()
    undated = f" {found.undated:,} have no date." if found.undated else ""
    return section(
        "news",
        "News",
        tag("p", f"{count(found.stories, 'story').replace('storys', 'stories')} in news sitemaps.{undated} Search engines take those of the last two days."),
        tag(
            "div",
            ranking("Age when the sitemaps were read", "stories", Ranking(found.ages), command=commands.get("news")),
            ranking("Publications", "stories", found.publications, command=commands.get("languages")),
            class_="cards",
        ),
    )  # fmt: skip


def content(report: Report, commands: Commands) -> Html:
    """Hosts, schemes, kinds and languages."""
    kinds = Ranking(tuple(pair for pair in report.kinds if pair[1]))
    parts = ", ".join(f"{number:,} {name}" for name, number in report.parts if number)
    kind_names = {"images": "image", "videos": "video"}

    def of_kind(name: str) -> str:
        if name == "alternates":
            return commands.get("alternates")
        return commands.get("kind", name if commands.dialect else kind_names.get(name, name))

    figures = (
        ranking("Hosts", "pages", _first(report.hosts, 15), command_of=commands.folder),
        ranking("Schemes", "pages", report.schemes, command_of=commands.scheme),
        ranking("Pages with", "pages", kinds, command_of=of_kind, note=f"{parts} in all." if parts else ""),
        ranking("Languages of alternates (hreflang)", "links", report.alternate_languages, command=commands.get("alternates")),
        ranking("Languages of news", "stories", report.news_languages, command=commands.get("languages")),
        ranking("changefreq", "pages", report.changefreqs, command=commands.get("changefreq")),
    )  # fmt: skip
    if not any(figures):
        return Html()
    return section("content", "Content", tag("div", figures, class_="cards"))


def _first(ranked: Ranking, limit: int) -> Ranking:
    rest = ranked.top[limit:]
    return Ranking(
        ranked.top[:limit],
        ranked.others + len(rest),
        ranked.others_count + sum(times for _, times in rest),
    )


def sitemaps(report: Report, commands: Commands) -> Html:
    """All sitemaps, those that failed first."""
    found = report.sitemaps
    if not found.total:
        return Html()
    heads = (
        Head("sitemap", "url"), Head("state"), Head("kind"), Head("pages", NUMBER),
        Head("sitemaps in it", NUMBER), Head("size", NUMBER), Head("time", NUMBER), Head("why", "name"),
    )  # fmt: skip
    rows = [
        (
            Cell(link(line.url)),
            Cell(badge("partial" if line.state == "ok" and not line.is_whole else line.state)),
            Cell(line.kind),
            number(line.pages),
            number(line.children or None),
            number(line.bytes, None if line.bytes is None else size(line.bytes)),
            number(line.seconds, None if line.seconds is None else duration(line.seconds)),
            Cell(line.reason or (f"HTTP {line.status}" if line.status not in {None, 200} else "")),
        )
        for line in found.lines
    ]
    shown = f"{len(rows):,} of {found.total:,} sitemaps" if len(rows) < found.total else "All sitemaps"
    intro = f"{count(found.total, 'sitemap')}: {_listed(found.states)}."
    if found.damaged:
        intro += f" {found.damaged:,} were read only in part."
    return section(
        "sitemaps",
        "Sitemaps",
        tag("p", intro),
        table(f"{shown}: failed ones first, then the largest", heads, rows),
        command_line(commands.get("sitemaps")),
        tag("div", ranking("Formats", "sitemaps", found.kinds), class_="cards"),
    )


def _listed(ranked: Ranking) -> str:
    return ", ".join(f"{times:,} {name}" for name, times in ranked.top)


def sites(report: Report, commands: Commands) -> Html:
    """The sites, if there are several."""
    found = report.sites
    if found.total <= 1:
        return Html()
    heads = (
        Head("site", "url"), Head("outcome"), Head("code"), Head("pages", NUMBER),
        Head("sitemaps", NUMBER), Head("failed", NUMBER), Head("time", NUMBER),
    )  # fmt: skip
    rows = [
        (
            Cell(line.site),
            Cell(badge(line.outcome)),
            Cell(line.code),
            number(line.pages),
            number(line.sitemaps),
            number(line.failed),
            number(line.seconds, None if line.seconds is None else duration(line.seconds)),
        )
        for line in found.lines
    ]
    shown = f"{len(rows):,} of {found.total:,} sites" if len(rows) < found.total else "All sites"
    return section(
        "sites",
        "Sites",
        tag("p", f"{count(found.total, 'site')}: {_listed(found.outcomes)}."),
        table(f"{shown}: those without a result first, then the largest", heads, rows),
        command_line(commands.get("sites")),
    )


def discovery(report: Report, commands: Commands) -> Html:
    """Which URLs were tried."""
    found = report.discovery
    if not found.total:
        return Html()
    heads = (
        Head("stage"), Head("URL", "url"), Head("result"), Head("status", NUMBER),
        Head("time", NUMBER), Head("why", "name"),
    )  # fmt: skip
    rows = [
        (
            Cell(line.stage),
            Cell(link(line.url)),
            Cell(line.result),
            number(line.status, None if line.status is None else str(line.status)),
            number(line.seconds, None if line.seconds is None else duration(line.seconds)),
            Cell(line.detail),
        )
        for line in found.lines
    ]
    shown = f"{len(rows):,} of {found.total:,} URLs" if len(rows) < found.total else "All URLs"
    return section(
        "discovery",
        "Discovery log",
        tag("p", f"{count(found.total, 'URL')} tried: {_listed(found.results)}."),
        table(f"{shown}, in the order in which they were tried", heads, rows),
        command_line(commands.get("discovery")),
    )


SECTIONS: Final[tuple[tuple[str, Section], ...]] = (
    ("Findings", findings),
    ("Folders", folders),
    ("Dates", dates),
    ("What changed", changes),
    ("News", news),
    ("Content", content),
    ("Sites", sites),
    ("Sitemaps", sitemaps),
    ("Discovery log", discovery),
)
"""The sections with their titles; one that has nothing to say is empty."""


def rendered(report: Report, commands: Commands) -> list[tuple[str, str, Html]]:
    """Return the name, title and markup of each section that has something to say."""
    made = ((make.__name__, title, make(report, commands)) for title, make in SECTIONS)
    return [one for one in made if one[2]]
