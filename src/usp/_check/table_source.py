"""Checks of tables: exports, and the state of a sync. Their rows are shown to the same rules.

Tables have what was understood of a sitemap, not how it is written. Rules that need more are not
applied, and one finding (SM750) names them.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import chain, groupby
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any, Final

from usp._check.check_run import CheckRun, LiveContext
from usp._check.check_time import JUDGING_SECONDS, unless
from usp._check.document import of_problem
from usp._check.facts import CheckOptions, DocumentEnd, SitemapFacts, UnreadFacts
from usp._check.findings import Finding, Occurrence
from usp._check.registry import CHECKED
from usp._check.site_facts import SiteFacts
from usp._check.site_robots import SiteRobots
from usp._check.stream import CheckStream
from usp._check.table import RULES
from usp._crawl.deadline import Deadline
from usp._crawl.policy import Policy
from usp._inputs.kinds import InputKind, NamedInput, named_input
from usp._inputs.listing import ListingStream, open_listing
from usp._parse import Kind, Source
from usp._parse.checking import AuditEntry
from usp._quantities import count
from usp._source import STDIN, SourceName, is_local
from usp._sync.changes import iso, time_of
from usp.exceptions import UsageError
from usp.objects.fetch_info import FetchInfo
from usp.objects.outcome import Attempt, FoundBy, Outcome, SkipReason
from usp.objects.problem import CODES, Problem

_BY_CONTENT: Final = frozenset(
    {
        *(InputKind.PARQUET, InputKind.ARROW, InputKind.DATABASE),
        *(InputKind.FOLDER, InputKind.STATE),
    }
)
_TEXTS: Final = frozenset({InputKind.DELIMITED, InputKind.JSON_LINES})
_TABLE_NAMES: Final = frozenset({".csv", ".tsv", ".jsonl", ".ndjson"})
"""Texts are tables only if a name says so: a text sitemap, or an error that a server wrote in place
of a sitemap, may look like one. Which kind of table it is, the content says."""
_TABLES: Final = ("sites", "sitemaps", "pages", "problems")
_COLUMNS: Final = {
    "sites": ("outcome",),
    "sitemaps": (
        *("url", "declared_url", "parent_url", "found_by", "kind", "state", "code", "reason"),
        *("http_status", "redirects", "content_type", "bytes", "index_lastmod", "complete"),
        *("fetched_at", "pages"),
    ),
    "pages": (
        *("url", "sitemap_url", "position", "lastmod", "lastmod_raw", "changefreq", "priority"),
        *("images", "alternates"),
    ),
    "problems": ("sitemap_url", "code", "message", "line", "offset", "page_url", "count"),
}
_DECIDED: Final = frozenset(
    f"SM{number}"
    for number in (
        *(150, 151, 250, 251, 252, 254, *range(350, 358), *range(359, 363)),
        *(365, 366, 367, 369, 370, *range(451, 461), 462, 560, 561, 562),
        *(*range(580, 590), 658, 660, 750, 751, *range(801, 806), *range(901, 912)),
    )
)
"""The rules for which rows are enough."""
_BY_COLUMN: Final = {
    "sitemap_url": ("SM352", "SM353", "SM354", "SM365"),
    "lastmod_raw": ("SM451", "SM452", "SM453"),
    "changefreq": ("SM462",),
    "images": ("SM560", "SM561", "SM562"),
    "alternates": ("SM580", "SM581", "SM582", "SM583", "SM585", "SM586", "SM587", "SM589"),
}
"""Columns of pages that not all tables have, and the rules that need them."""
_BY_SITEMAPS: Final = ("SM150", "SM151", "SM251", "SM254", "SM459", "SM658")
"""The rules that need the table of sitemaps."""
_IMAGE_FIELDS: Final = ("loc", "caption", "geo_location", "title", "license")
_PLAIN: Final = ("changefreq", "priority")
"""The fields of an entry that are written as they are."""
_STEP: Final = 64
"""After so many rows the time is asked for."""
_MAX_LOSSES: Final = 1000
_PART_MISSING: Final = "SM209"
_FAILED: Final = "failed"
_SKIPPED: Final = "skipped"
_WITHOUT_ANSWER: Final = (Outcome.BLOCKED, Outcome.UNREACHABLE)
_Row = Mapping[str, Any]


def table_input(source: SourceName) -> NamedInput | None:
    """Return what a source is, if it has tables or is a recording; None for all others."""
    if not is_local(source) or source == STDIN or not Path(source).exists():
        return None
    named = named_input(source)
    is_table = named.kind in _BY_CONTENT or (named.kind in _TEXTS and _has_table_name(Path(source)))
    return named if is_table or named.kind is InputKind.RECORDING else None


def _has_table_name(path: Path) -> bool:
    return not _TABLE_NAMES.isdisjoint(map(str.lower, path.suffixes[-2:]))  # .csv.gz


class TableClock:
    """The time of a check of tables, which starts with the first row."""

    def __init__(self, seconds: float | None) -> None:
        self._deadline = Deadline(seconds)

    @property
    def problem(self) -> Problem:
        """What is said once the time is up."""
        return Problem(*self._deadline.limit.problem)

    def is_up(self) -> bool:
        """Tell whether no more rows are read."""
        return self._deadline.has_passed(time.monotonic())

    def is_over(self) -> bool:
        """Tell whether there is no time either to judge the site by the rows that were read."""
        return self._deadline.has_passed(time.monotonic() - JUDGING_SECONDS)


class TableCheckStream(CheckStream):
    """The findings of tables: what a crawl would say of itself is taken from them."""

    def __init__(
        self, source: SourceName, run: CheckRun, policy: Policy, clock: TableClock
    ) -> None:
        """Open the tables; nothing is read yet.

        :raises UsageError: if they can't be read.
        """
        self._run = run
        try:
            self._listing = open_listing(source, _TABLES, columns=_COLUMNS)
        except UsageError as error:
            if Path(source).is_dir():
                raise UsageError(
                    f"base_url must be given if {source} is a built website: it has no tables."
                ) from error
            raise
        self._tally: Counter[str] = Counter()
        self._stops: list[Problem] = []
        reading = _TableReading(run, self._listing, self._tally, clock)
        self._losses = reading.losses
        self._items = _findings(run, reading, policy, self._stops)

    @property
    def url(self) -> str:
        """The source."""
        return self._listing.name

    @property
    def outcome(self) -> Outcome:
        """What the tables say of the crawl that they come from; partial if the time was up."""
        if self._stops:
            return Outcome.PARTIAL
        if self._run.checked:
            return self._listing.outcome or Outcome.FOUND
        # Where nothing could be read, the crawl knows why.
        return next((why for why in _WITHOUT_ANSWER if self._tally[why]), Outcome.NONE)

    @property
    def sitemaps_read(self) -> int:
        """The number of sitemaps that the tables have."""
        return len(self._run.checked)

    @property
    def sitemaps_failed(self) -> int:
        """The number of sitemaps that could not be read."""
        return self._tally[_FAILED]

    @property
    def skipped(self) -> Counter[SkipReason]:
        """Nothing: tables have what was not skipped."""
        return Counter()

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """Nothing: nothing is requested."""
        return ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Whether the time was up, then each sitemap that was read only in part, with the reason.

        At most 1,000 of these; all other problems of the tables are findings.
        """
        return *self._stops, *self._losses

    def robots_verdict(self, agent: str) -> None:
        """Return None: tables have no robots.txt."""
        del agent

    def close(self) -> None:
        """End the check, and remove temporary files."""
        self._items.close()
        self._listing.close()
        self._run.close()


def table_stream(
    source: SourceName,
    policy: Policy,
    options: CheckOptions,
    make_run: Callable[[SiteFacts, frozenset[str]], CheckRun],
) -> TableCheckStream:
    """Open tables, and return the stream of what is found in them.

    :param make_run: makes a check with the rules that tables can decide; their problems are found
        already.
    :raises UsageError: if they can't be read.
    """
    clock = TableClock(policy.max_seconds)
    site = SiteFacts(options, SiteRobots(options.agents), unless(clock.is_over))
    return TableCheckStream(source, make_run(site, _DECIDED | CODES.keys()), policy, clock)


def _not_decided(columns: Mapping[str, set[str]]) -> list[str]:
    """Return the codes of the rules that tables with these columns can't decide."""
    codes = {code for code in CHECKED | CODES.keys() if not RULES[code].engine} - _DECIDED
    if "problems" in columns:
        codes -= CODES.keys()
    if "sitemaps" not in columns:
        codes.update(_BY_SITEMAPS)
    for column, needing in _BY_COLUMN.items():
        if column not in columns.get("pages", ()):
            codes.update(needing)
    return sorted(codes)


def _findings(
    run: CheckRun, reading: "_TableReading", policy: Policy, stops: list[Problem]
) -> Generator[Finding]:
    """Yield the findings of all rows; add the limit that was reached, if one was."""
    is_whole = reading.read()
    if reading.stop:
        stops.append(reading.stop)
        run.take_stop(reading.stop)
    if not run.judge_site(LiveContext(policy, "")) and not stops:
        stops.append(reading.clock.problem)
        run.take([of_problem(reading.clock.problem, None)])
    yield from run.finish(is_whole=is_whole and not stops)


class _TableReading:
    """Shows rows to the rules, sitemap by sitemap."""

    def __init__(
        self, run: CheckRun, listing: ListingStream, tally: Counter[str], clock: TableClock
    ) -> None:
        self.clock = clock
        self.stop: Problem | None = None
        """The limit that ended the reading, if one did."""
        self.losses: list[Problem] = []
        """The first sitemaps that were read only in part."""
        self._run = run
        self._listing = listing
        self._tally = tally
        self._columns: dict[str, set[str]] = {}
        self._sitemaps: dict[str, _Row] = {}

    def read(self) -> bool:
        """Read all rows, as long as there is time; tell whether they have the whole site."""
        run, listing = self._run, self._listing
        with listing:
            try:
                for table, rows in groupby(self._rows(), itemgetter(0)):
                    self._read(table, map(itemgetter(1), rows))
            except TimeoutError:
                self.stop = self.clock.problem
            if "problems" in listing.tables:  # it may have no row
                self._columns.setdefault("problems", set())
            names = ", ".join(_not_decided(self._columns))
            detail = f"tables don't have what these need: {names}"
            run.take([Occurrence("SM750", None, detail=detail)])
            if listing.not_urls:
                left_out = f"{count(listing.not_urls, 'row')} without a URL left out"
                run.take([Occurrence("SM750", None, detail=left_out)])
            return listing.outcome is Outcome.FOUND

    def _rows(self) -> Iterator[tuple[str, _Row]]:
        """Yield each row, with the name of its table."""
        for batch in self._listing:
            names = batch.table.names
            self._columns.setdefault(batch.table.name, set()).update(names)
            for number, row in enumerate(batch):
                if not number % _STEP and self.clock.is_up():
                    raise TimeoutError
                yield batch.table.name, dict(zip(names, row, strict=True))

    def _read(self, table: str, rows: Iterator[_Row]) -> None:
        """Read the rows of a table."""
        if table == "sites":
            self._tally.update(row["outcome"] for row in rows)
        elif table == "sitemaps":
            for row in rows:
                self._add_sitemap(row)
        elif table == "pages":
            for url, pages in groupby(rows, methodcaller("get", "sitemap_url")):
                self._check(url or "", pages)
        else:
            self._run.take(chain.from_iterable(map(_problem, rows)))

    def _add_sitemap(self, row: _Row) -> None:
        self._sitemaps[row["url"]] = row
        if row.get("kind") == Kind.ROBOTS:
            return
        if row["state"] in {_FAILED, _SKIPPED}:
            self._tally[row["state"]] += 1
            found_by = FoundBy(row.get("found_by") or FoundBy.GIVEN)
            is_skipped = row["state"] == _SKIPPED
            reason = row.get("reason") or ""
            status = row.get("http_status")
            self._run.take_unread(UnreadFacts(row["url"], status, reason, found_by, is_skipped))
            return
        if row.get("complete") is False and len(self.losses) < _MAX_LOSSES:
            # A state of usp sync doesn't say why.
            code = row["code"] if row.get("code") in CODES else _PART_MISSING
            reason = row.get("reason") or "it was read only in part"
            self.losses.append(Problem(code, reason, sitemap_url=row["url"]))
        if row.get("kind") == Kind.INDEX or row.get("pages") == 0:
            self._check(row["url"], ())  # no row of the pages belongs to it

    def _check(self, url: str, pages: Iterable[_Row]) -> None:
        row = self._sitemaps.get(url, {})
        sitemap = _facts(url, row, self._sitemaps, self._run.options)
        self._run.checked.setdefault(url)
        complete = row.get("complete")
        end = DocumentEnd(document_bytes=row.get("bytes") or 0, complete=complete is not False)
        self._run.check_rows(sitemap, map(_entry, pages), end)


def _facts(
    url: str, row: _Row, sitemaps: Mapping[str, _Row], options: CheckOptions
) -> SitemapFacts:
    parent = row.get("parent_url")
    parent_kind = sitemaps.get(parent, {}).get("kind") if parent else None
    return SitemapFacts(
        url,
        Kind(row.get("kind") or Kind.URLSET),
        options,
        Source.of(""),
        is_file="://" not in url,
        declared_url=row.get("declared_url") or url,
        found_by=FoundBy(row["found_by"]) if row.get("found_by") else None,
        parent_url=parent,
        parent_kind=Kind(parent_kind) if parent_kind else None,
        index_lastmod=time_of(row.get("index_lastmod")),
        fetch_info=FetchInfo(
            status=row.get("http_status"),
            content_type=row.get("content_type"),
            redirects=tuple(row.get("redirects") or ()),
            fetched_at=time_of(row.get("fetched_at")),
        ),
    )


def _entry(row: _Row) -> AuditEntry:
    """Return an entry as it may have been written."""
    record: list[tuple[str, str]] = [("loc", row["url"])]
    lastmod = row.get("lastmod_raw") or iso(time_of(row.get("lastmod")))
    for key, value in (("lastmod", lastmod), *((key, row.get(key)) for key in _PLAIN)):
        if value is not None:
            record.append((key, str(value)))
    for image in row.get("images") or ():
        record.append(("image:image", ""))
        named = zip(_IMAGE_FIELDS, image, strict=False)
        record += [(f"image:{name}", text) for name, text in named if text]
    for language, href in row.get("alternates") or ():
        record += [
            ("xhtml:link@rel", "alternate"),
            ("xhtml:link@hreflang", language or ""),
            ("xhtml:link@href", href or ""),
            ("xhtml:link", ""),
        ]
    return AuditEntry("url", (row["url"],), tuple(record), row.get("position") or 0, None, None)


def _problem(row: _Row) -> Iterator[Occurrence]:
    """Yield the occurrence that a row of the table of problems is, if its code is known."""
    if row["code"] in RULES:
        yield Occurrence(
            row["code"],
            row.get("sitemap_url"),
            row.get("page_url"),
            row.get("line"),
            row.get("offset"),
            row.get("message") or "",
        )
