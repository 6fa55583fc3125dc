"""The page: one file of HTML that loads nothing and runs no script but its own.

The Content-Security-Policy names the only script and the only style sheet by their hashes, and
forbids everything else. Whatever a site says is escaped as text (``markup``).
"""

from base64 import b64encode
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from importlib.resources import files
from typing import Final

from usp._quantities import count, duration, size
from usp._report.commands import Commands
from usp._report.figures import ReportFigures
from usp._report.markup import Html, Parts, tag
from usp._report.parts import badge, listed
from usp._report.row_sections import discovery, sitemaps, sites
from usp._report.sections import changes, content, dates, findings, folders, news
from usp._source import STDIN
from usp._version import __version__
from usp.objects.outcome import Outcome

_MEANINGS: Final = {
    Outcome.FOUND: "Everything was read.",
    Outcome.PARTIAL: "Some sitemaps could not be read, or only in part.",
    Outcome.NONE: "No sitemap was found.",
    Outcome.BLOCKED: "The site refuses requests.",
    Outcome.UNREACHABLE: "The site did not respond.",
    None: "The source does not say whether everything was read.",
}

SECTIONS: Final[tuple[tuple[str, Callable[[ReportFigures, Commands], Html]], ...]] = (
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


def html_page(report: ReportFigures, commands: Commands) -> str:
    """Return the report as a page."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    made = ((make.__name__, title, make(report, commands)) for title, make in SECTIONS)
    sections = [one for one in made if one[2]]
    links = (tag("li", tag("a", title, href=f"#{name}")) for name, title, _ in sections)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=f"usp {__version__}"),
        tag("title", f"Sitemap report: {report.title}"),
        tag("style", Html(style)),
        tag("script", Html(script)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the findings", href="#main", class_="skip"),
        tag(
            "header",
            _title(report),
            tag("nav", tag("ul", links), aria_label="Sections"),
            class_="top",
        ),
        tag("main", (markup for _, _, markup in sections), id="main"),
        _footer(report),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _asset(name: str) -> str:
    return (files("usp._report") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the hash of an inline script or style, as a policy names it (CSP 3, 6.7.2)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def meaning_of(report: ReportFigures) -> str:
    """Return what the outcome means; for many sites, how many of them have each."""
    if report.sites.total > 1:
        return f"{report.sites.total:,} sites: {listed(report.sites.outcomes)}."
    return _MEANINGS[report.outcome]


def _title(report: ReportFigures) -> Parts:
    outcome = report.outcome
    when = f"Read {minute(report.as_of)}"
    took = f" in {duration(report.sites.seconds)}" if report.sites.total == 1 else ""
    is_same = report.title in report.source or report.source == STDIN
    of_file = "" if is_same else f" from {report.source}"
    return (
        tag("p", f"Sitemap report{of_file}", class_="eyebrow"),
        tag("h1", report.title),
        tag(
            "p",
            (badge(str(outcome)), " ") if outcome else None,
            f"{meaning_of(report)} {when}{took}.",
        ),
        tag("dl", map(_number, *zip(*numbers(report), strict=True)), class_="numbers"),
    )


def numbers(report: ReportFigures) -> list[tuple[str, str, str, bool]]:
    """Return the numbers at the top: value, name, note, whether that is bad news."""
    sitemaps, dates, sites = report.sitemaps, report.dates, report.sites
    again = report.pages - report.urls
    numbers = [
        (f"{report.pages:,}", "pages listed", f"{again:,} more than once" if again else "", False),
        (f"{report.urls:,}", "different URLs", "", False),
    ]
    if sitemaps.total:
        losses = {"failed": sitemaps.failed, "read only in part": sitemaps.damaged}
        lost = ", ".join(f"{number:,} {what}" for what, number in losses.items() if number)
        numbers.append((f"{sitemaps.total:,}", "sitemaps", lost or "none failed", bool(lost)))
    if report.findings is not None:
        errors, warnings = map(report.findings.occurrences, ("error", "warning"))
        numbers.append((f"{errors:,}", "errors", count(warnings, "warning"), False))
    if report.has_dates and report.pages:
        share = f"{100 * dates.dated / report.pages:.0f} %"
        numbers.append(
            (share, "have a date", f"newest {dates.newest}" if dates.newest else "", False)
        )
    hosts = len(report.hosts.top) + report.hosts.others
    numbers.append((f"{hosts:,}", "host" if hosts == 1 else "hosts", "", False))
    if sites.total > 1:
        numbers.append((f"{sites.total:,}", "sites", "", False))
    if sites.requests:
        numbers.append((f"{sites.requests:,}", "requests", f"{size(sites.bytes)} received", False))
    return numbers


def _number(value: str, name: str, note: str, is_bad: bool) -> Html:
    return tag(
        "div",
        tag("dt", name),
        tag("dd", value, class_="value"),
        tag("dd", note, class_="note bad" if is_bad else "note") if note else None,
    )


def _footer(report: ReportFigures) -> Html:
    text = (
        f"Made by usp {__version__} on {minute(report.made_at)}. Numbers are exact. Lists have the "
        "most important rows; the command beside a list gives all of them. This page loads nothing."
    )
    return tag("footer", tag("p", text))


def minute(moment: datetime) -> str:
    """Return a time to the minute."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"
