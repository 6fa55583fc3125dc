"""``usp.report``: reads a source, and writes its report to one file."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Unpack

from usp._check.findings import Finding
from usp._inputs.crawled import replayed
from usp._inputs.kinds import CRAWLED, InputKind, named_input
from usp._inputs.listing import open_listing
from usp._report.changes import last_changes
from usp._report.collect import ReportCollector
from usp._report.commands import Commands
from usp._report.figures import ReportFigures, RunChanges
from usp._report.html import html_page
from usp._report.input_commands import commands_for
from usp._report.markdown import markdown_page
from usp._report.read import read_checked, wanted_tables
from usp._source import SourceName
from usp._tables.batch import Batch
from usp._tables.read import ReadFields, settled
from usp._tables.rows import site_name
from usp._validate import argument_error, check_flags, check_optional_instance
from usp._whole_file import whole_file
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.stream import StreamStatus

FORMATS: Final[dict[str, Callable[[ReportFigures, Commands], str]]] = {
    "html": html_page,
    "markdown": markdown_page,
}
"""What writes each format."""
_SUFFIXES: Final = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


@dataclass(frozen=True, slots=True)
class ReportResult:
    """What came of a report."""

    path: Path
    """The file that was written."""
    outcome: Outcome | None
    """Whether everything was read; None if the source doesn't say, as a list of URLs."""
    pages: int
    """How many pages are listed."""
    urls: int
    """How many different URLs they have."""
    sitemaps: int
    """How many sitemaps there are, those that failed among them."""
    sitemaps_failed: int
    errors: int
    """How many errors were found; 0 if nothing was checked."""
    warnings: int


def report(
    source: SourceName,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    check: bool = True,
    state: str | os.PathLike[str] | None = None,
    column: str | None = None,
    now: datetime | None = None,
    replace: bool = False,
    **reading: Unpack[ReadFields],
) -> ReportResult:
    """Write a report of a site to one file, which is there whole or not at all.

    The page loads nothing, and its size doesn't grow with the site: numbers are exact, lists have
    the most important rows. It is written whatever came of the source: a site that refuses
    requests has a report that says so.

    :param source: a homepage, a bare domain (which means https), the URL of a sitemap, a file or
        ``-``; a recording, an export, the folder of a crawl, the state of a sync, a list of URLs.
    :param path: the file; its suffix says the format: ``.html`` or ``.md``.
    :param format: ``html`` or ``markdown``, if the name of the file doesn't say it.
    :param check: whether the rules of ``usp.check`` are applied, too, while a site is read; that
        takes most of the time. An export has the problems that were recorded, and no documents.
    :param state: the state of a sync, which says what changed since the last run.
    :param column: the name of the column with URLs, in a table of another tool.
    :param now: the time by which dates are judged; by default the current time.
    :param replace: whether a file that is there is replaced.
    :param reading: how the source is read: the keywords of ``usp.iter_pages``, such as
        ``web_client``. An export takes none.
    :return: the numbers of the report, and the file.
    :raises UsageError: if an argument is wrong, or the file is there already.
    :raises MissingExtraError: if a library for the source is missing.
    :raises StorageError: if there is no room.
    """
    check_flags(check=check, replace=replace)
    chosen = report_format(os.fspath(path), format)
    settled_reading, client = settled(reading, source)
    made = ReportReading(source, ReportOptions(check, state, column, now), settled_reading)
    if reading and not made.is_crawl:
        raise UsageError(f"{next(iter(reading))} is no keyword for {source}: it was read already.")
    with whole_file(path, replace=replace) as file, closing(client):
        found = made.report()
        file.write(FORMATS[chosen](found, made.commands).encode("utf-8", "replace"))
    sitemaps, findings = found.sitemaps, found.findings
    return ReportResult(
        Path(path),
        found.outcome,
        found.pages,
        found.urls,
        sitemaps.total,
        sitemaps.failed,
        findings.occurrences("error") if findings else 0,
        findings.occurrences("warning") if findings else 0,
    )


def report_format(path: str, given: str | None) -> str:
    """Return the format of a report.

    :raises UsageError: if there is no such format, or nothing says which.
    """
    if given is not None and given not in FORMATS:
        raise argument_error("format", " or ".join(FORMATS), given)
    found = given or format_of_suffix(path)
    if found is None:
        raise UsageError(f"{path} has no suffix .html or .md: say the format, html or markdown.")
    return found


def format_of_suffix(path: str) -> str | None:
    """Return the format that the name of a file says, if it says one."""
    return _SUFFIXES.get(Path(path).suffix.lower())


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a caller chooses for a report."""

    check: bool = True
    state: str | os.PathLike[str] | None = None
    column: str | None = None
    now: datetime | None = None
    """The time by which dates are judged; None for the current one."""
    words: tuple[str, ...] = ()
    """Options of the command, for the commands that the report names."""

    def __post_init__(self) -> None:
        check_optional_instance("column", self.column, str)
        if check_optional_instance("now", self.now, datetime) and self.now.tzinfo is None:  # type: ignore[union-attr]  # checked
            raise argument_error("now", "a time with a time zone", self.now)


class ReportReading:
    """Reads one source for its report."""

    def __init__(self, source: SourceName, options: ReportOptions, reading: dict[str, Any]) -> None:
        """Find out what the source is, and what changed on it.

        :raises UsageError: if it can't be read.
        """
        self._named = named_input(source, column=options.column)
        self._options = options
        self._reading = reading
        self._now = (options.now or datetime.now(UTC)).astimezone(UTC)
        self.is_crawl = self._named.kind in CRAWLED
        """Whether it is crawled, over the network or not; otherwise it was read already."""
        self._changes = self._last_changes()
        self.commands = commands_for(self._named, options.column, options.words)
        self.stream: StreamStatus | None = None
        """The crawl, once it runs."""
        self._outcome: Outcome | None = None
        self.not_urls = 0
        """The rows without a URL, such as totals; they were left out."""

    def _last_changes(self) -> RunChanges | None:
        named, state = self._named, self._options.state
        if state is not None:
            return last_changes(state, named.name, self._now)
        if named.kind is InputKind.STATE and named.path and not named.run:
            return last_changes(named.path, None, self._now)
        return None

    def report(self, on_pages: Callable[[int], None] = lambda _: None) -> ReportFigures:
        """Read the source; return its figures.

        :param on_pages: called with the number of pages so far.
        """
        is_check = self._options.check and self.is_crawl
        collector = ReportCollector(self._now, is_check=is_check)
        with closing(collector), ExitStack() as stack:
            items = self._checked(stack) if is_check else self._listed(stack)
            for item in items:
                collector.add(item)
                on_pages(collector.pages)
            name, now = site_name(self._named.name), self._options.now
            made_at = now or datetime.now(UTC)
            return collector.report(name, self._changes, made_at, now, self._outcome)

    def _checked(self, stack: ExitStack) -> Iterator[Batch | Finding]:
        named, reading = self._named, dict(self._reading)
        source: Any = named.path or named.name
        if named.kind is InputKind.RECORDING:
            source, client = replayed(named)
            reading["web_client"] = stack.enter_context(closing(client))
        stream = stack.enter_context(read_checked(source, self._now, **reading))
        self.stream = stream
        yield from stream
        self._outcome = stream.outcome

    def _listed(self, stack: ExitStack) -> Iterator[Batch]:
        choice = wanted_tables(with_problems=True)
        columns = {name: table.names for name, table in choice.tables.items()}
        listing = stack.enter_context(
            open_listing(
                self._named.name,
                list(columns),
                columns=columns,
                column=self._options.column,
                **(self._reading if self.is_crawl else {}),
            )
        )
        yield from listing
        self.stream = listing.crawl
        self._outcome, self.not_urls = listing.outcome, listing.not_urls
