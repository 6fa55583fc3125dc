"""Rules about what a page says of itself: SM904, SM905, SM908, SM909, SM910.

They are applied to live pages and to those of a build folder.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from usp._check.findings import Occurrence
from usp._check.page_facts import PageFacts
from usp._check.registry import page_rule
from usp._check.rules import CheckSeverity
from usp._check.url_key import url_key
from usp._check.value_rules import utc
from usp._crawl.resource_table import normalized
from usp._parse import parse_date

_DRIFT: Final = timedelta(days=30)


@page_rule("SM904")
def noindex(facts: PageFacts) -> Iterator[Occurrence]:
    """Look for agents that may not index the page."""
    by_reason: dict[str, list[str]] = {}
    for agent, reason in facts.refusals.items():
        by_reason.setdefault(reason, []).append(agent)
    for reason, agents in by_reason.items():
        yield facts.occurrence("SM904", f"{reason}, for {', '.join(agents)}")


@page_rule("SM905")
def canonical(facts: PageFacts) -> Iterator[Occurrence]:
    """Compare the canonical URL with the listed one; of several, engines may ignore all."""
    listed, given = facts.listed.url, facts.canonicals
    others = [url for url in given if normalized(url)[0] != normalized(listed)[0]]
    if not others:
        return
    detail = f"its canonical URL is {others[0]}"
    if len(given) > 1:
        detail = f"it has several canonical URLs: {', '.join(given[:3])}"
    elif url_key(others[0]) == url_key(listed):
        detail += "; only the spelling differs"
    yield facts.occurrence("SM905", detail)


@page_rule("SM908")
def date_drift(facts: PageFacts) -> Iterator[Occurrence]:
    """Compare the date on the page with that of the sitemap."""
    given = parse_date(facts.markup.modified) if facts.markup else None
    listed = parse_date(facts.listed.lastmod) if facts.listed.lastmod else None
    if given is None or listed is None:
        return
    drift = utc(given) - utc(listed)
    if abs(drift) > _DRIFT:
        detail = f"the page says {given:%Y-%m-%d}, the sitemap {listed:%Y-%m-%d}"
        is_newer = drift > timedelta(0)
        yield facts.occurrence("SM908", detail, None if is_newer else CheckSeverity.INFO)


@page_rule("SM909")
def alternates_differ(facts: PageFacts) -> Iterator[Occurrence]:
    """Compare the alternates of the page with those of its entry, if both have some."""
    listed = {(code.strip().lower(), url) for code, url in facts.listed.alternates}
    given = facts.alternates
    if not listed or not given or listed == given:
        return
    missing, more = sorted(listed - given), sorted(given - listed)
    parts = [
        *(f"the page lacks {code} {url}" for code, url in missing[:2]),
        *(f"the sitemap lacks {code} {url}" for code, url in more[:2]),
    ]
    yield facts.occurrence("SM909", "; ".join(parts))


@page_rule("SM910")
def hollow(facts: PageFacts) -> Iterator[Occurrence]:
    """Look for text; what was not read may have some."""
    if facts.markup and facts.markup.is_hollow and facts.is_whole:
        yield facts.occurrence("SM910", "it has neither text nor media without scripts")
