"""Sections that list rows: sitemaps, sites, the discovery log."""

from usp._quantities import count, duration, size
from usp._report.commands import Commands
from usp._report.figures import ReportFigures, SitemapLine
from usp._report.markup import Html, html, tag
from usp._report.parts import (
    NUMBER,
    Cell,
    Head,
    badge,
    command_line,
    link,
    listed,
    number,
    ranking,
    section,
    table,
)


def sitemaps(report: ReportFigures, commands: Commands) -> Html:
    """All sitemaps, those that failed first."""
    found = report.sitemaps
    if not found.total:
        return Html()
    heads = (
        Head("sitemap", "url"), Head("state"), Head("kind"), Head("pages", NUMBER),
        Head("lists", NUMBER), Head("size", NUMBER), Head("time", NUMBER),
        Head("why", "why"),
    )  # fmt: skip
    rows = [
        (
            Cell(link(line.url)),
            Cell(_state(line)),
            Cell(line.kind),
            number(line.pages),
            number(line.children or None),
            number(line.bytes, None if line.bytes is None else size(line.bytes)),
            number(line.seconds, None if line.seconds is None else duration(line.seconds)),
            Cell(line.reason or (f"HTTP {line.status}" if line.status not in {None, 200} else "")),
        )
        for line in found.lines
    ]
    intro = f"{count(found.total, 'sitemap')}: {listed(found.states)}."
    if found.damaged:
        intro += f" Read only in part: {found.damaged:,}."
    return section(
        "sitemaps",
        "Sitemaps",
        tag("p", intro),
        table("sitemaps", found.total, "failed ones first, then the largest", heads, rows),
        command_line(commands.get("sitemaps")),
        tag("div", ranking("Formats", "sitemaps", found.kinds), class_="cards"),
    )


def _state(line: SitemapLine) -> Html:
    """Return what came of a sitemap; only what is wrong has a colour."""
    return html("ok") if line.result == "ok" else badge(line.result)


def sites(report: ReportFigures, commands: Commands) -> Html:
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
    return section(
        "sites",
        "Sites",
        tag("p", f"{count(found.total, 'site')}: {listed(found.outcomes)}."),
        table("sites", found.total, "those without a result first", heads, rows),
        command_line(commands.get("sites")),
    )


def discovery(report: ReportFigures, commands: Commands) -> Html:
    """Which URLs were tried."""
    found = report.discovery
    if not found.total:
        return Html()
    heads = (
        Head("stage"), Head("URL", "url"), Head("result"), Head("status", NUMBER),
        Head("time", NUMBER), Head("why", "why"),
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
    return section(
        "discovery",
        "Discovery log",
        tag("p", f"{count(found.total, 'URL')} tried: {listed(found.results)}."),
        table("URLs", found.total, "as they were tried", heads, rows),
        command_line(commands.get("discovery")),
    )
