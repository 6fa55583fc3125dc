"""The figures of a report: frozen values of bounded size, exact unless they say otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from usp._source import STDIN
from usp.objects.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Ranking:
    """Names with how often each occurs: the most frequent ones, and the others together."""

    top: tuple[tuple[str, int], ...] = ()
    """The most frequent first."""
    others: int = 0
    """How many names are not among them; at least so many, if there are very many."""
    others_count: int = 0
    """How often those occur together."""

    def first(self, limit: int) -> "Ranking":
        """Return the same with so many names at most: the rest is counted with the others."""
        rest = self.top[limit:]
        return Ranking(
            self.top[:limit],
            self.others + len(rest),
            self.others_count + sum(times for _, times in rest),
        )


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of URLs: a host, or a segment of a path."""

    name: str
    pages: int
    """The pages in it and below it."""
    own: int
    """Those that are in it directly."""
    folders: int = 0
    """How many folders are directly in it."""
    children: tuple["Folder", ...] = ()
    """The largest of them, the largest first."""

    @property
    def others_pages(self) -> int:
        """The pages in the folders that are not among the children."""
        return self.pages - self.own - sum(child.pages for child in self.children)

    @property
    def only_child(self) -> "Folder | None":
        """The only folder that is directly in it; None if there are more, or none."""
        return self.children[0] if self.folders == len(self.children) == 1 else None


@dataclass(frozen=True, slots=True)
class Dates:
    """When pages last changed, by their ``lastmod``."""

    months: Mapping[str, int] = field(default_factory=dict)
    """The number of pages of each month (``2026-11``), in order, without gaps."""
    earlier: int = 0
    """Those before the first of these months."""
    days: Mapping[date, int] = field(default_factory=dict)
    """The number of pages of each of the last 90 days, in order."""
    future: int = 0
    """Those whose day is after that of the reading."""
    undated: int = 0
    oldest: date | None = None
    newest: date | None = None
    """The latest of the last twenty years that is not in the future."""

    @property
    def dated(self) -> int:
        """How many pages have a date."""
        return self.earlier + sum(self.months.values()) + self.future


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old news stories are."""

    stories: int
    ages: tuple[tuple[str, int], ...]
    """How many are of each age, the youngest first."""
    undated: int
    publications: Ranking


@dataclass(frozen=True, slots=True)
class SitemapLine:
    """One sitemap."""

    url: str
    site: str
    kind: str
    state: str
    reason: str
    """Why it failed, was skipped, or was read only in part; empty if it was read whole."""
    status: int | None
    pages: int | None
    children: int | None
    bytes: int | None
    seconds: float | None
    is_whole: bool
    """Whether nothing of it is known to be missing."""
    position: int
    """Its number in document order."""

    @property
    def result(self) -> str:
        """Its state; ``partial`` if it was read only in part."""
        return self.state if self.state == "failed" or self.is_whole else "partial"


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """All sitemaps: those that failed first, then the largest."""

    lines: tuple[SitemapLine, ...] = ()
    total: int = 0
    failed: int = 0
    damaged: int = 0
    """Those that were read only in part."""
    kinds: Ranking = Ranking()
    states: Ranking = Ranking()


@dataclass(frozen=True, slots=True)
class SiteLine:
    """One site of several."""

    site: str
    outcome: str
    code: str
    pages: int
    sitemaps: int
    failed: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """What was read: one site or many."""

    lines: tuple[SiteLine, ...] = ()
    """Those that could not be read first, then the largest."""
    total: int = 0
    outcomes: Ranking = Ranking()
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the only site, or of all together; None if it is not known."""
        known = {name for name, _ in self.outcomes.top}
        order = (Outcome.PARTIAL, Outcome.FOUND, Outcome.BLOCKED, Outcome.UNREACHABLE, Outcome.NONE)
        if len(known) > 1 and Outcome.FOUND in known:
            return Outcome.PARTIAL
        return next((outcome for outcome in order if outcome in known), None)


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """One of the places of a finding."""

    sitemap_url: str
    url: str
    line: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """All that one rule finds, in all sitemaps."""

    code: str
    name: str
    severity: str
    condition: str
    fix: str
    count: int
    sitemaps: int
    """In how many of them; 0 for the site as a whole."""
    places: tuple[FoundPlace, ...]
    """The first five."""


@dataclass(frozen=True, slots=True)
class RuleFindings:
    """What a check has found, or, without one, the problems that the reading has recorded."""

    rules: tuple[RuleFinding, ...]
    """The worst first."""
    is_check: bool
    """Whether all rules were applied."""

    def occurrences(self, severity: str) -> int:
        """Return how many occurrences there are of a severity."""
        return sum(rule.count for rule in self.rules if rule.severity == severity)


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change of a URL."""

    kind: str
    url: str
    sitemap_url: str
    lastmod: datetime | None


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What the last run of ``usp sync`` found, and the runs before it."""

    state: str
    """The file of the state."""
    site: str
    """The site; empty for all sites of the state."""
    run_at: datetime
    """When the last run ended."""
    previous_at: datetime | None
    """When the run before it ended; None if there is none, or for several sites."""
    after: int
    """The number of the last change that was known before it."""
    kinds: tuple[tuple[str, int], ...]
    """How many changes of each kind the last run found."""
    lines: tuple[ChangeLine, ...]
    """The first ones of each kind."""
    days: Mapping[date, int]
    """The number of changes on each of the last 90 days."""


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """One URL that discovery tried."""

    stage: str
    url: str
    result: str
    status: int | None
    detail: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class DiscoveryLog:
    """The discovery log."""

    lines: tuple[AttemptLine, ...] = ()
    total: int = 0
    results: Ranking = Ranking()


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """Everything that a page shows."""

    source: str
    made_at: datetime
    as_of: datetime
    """When the source was read: what is new and what is old is said as of then."""
    pages: int
    """How many pages are listed, each as often as sitemaps list it."""
    urls: int
    """How many different URLs they have."""
    has_dates: bool
    """Whether the source says when pages changed."""
    folders: Folder
    hosts: Ranking
    schemes: Ranking
    dates: Dates
    kinds: tuple[tuple[str, int], ...]
    """How many pages have each kind of content; one page may have several."""
    parts: tuple[tuple[str, int], ...]
    """How many images, videos and alternates the pages have."""
    changefreqs: Ranking
    alternate_languages: Ranking
    news_languages: Ranking
    news: Freshness | None
    """None if there is no news story."""
    sitemaps: Sitemaps
    sites: SiteFigures
    findings: RuleFindings | None
    """None if nothing was checked and the source has no problems to tell."""
    changes: RunChanges | None
    """None without a state."""
    discovery: DiscoveryLog
    reading: Outcome | None
    """What came of the reading, by the reader; None if the source doesn't say."""

    @property
    def outcome(self) -> Outcome | None:
        """What came of the only site, or of all together; None if it is not known."""
        return self.sites.outcome or self.reading

    @property
    def title(self) -> str:
        """What it is a report of: the only site, or else the source; https needs no mention."""
        named = self.sites.lines[0].site if self.sites.total == 1 else self.source
        if named == STDIN:
            return "standard input"
        return named.removeprefix("https://").rstrip("/") or named
