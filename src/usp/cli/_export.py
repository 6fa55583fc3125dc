"""``usp export``: writes tables of websites to a file, a folder, a database or stdout.

Everything that can be wrong is found before anything is fetched: the sources, the format, the
tables, a file that is there already, a library that is missing.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from usp._crawl.source_result import is_worth_keeping
from usp._crawl.unique_urls import UniqueUrls
from usp._export.output import Output
from usp._export.plan import ExportPlan, overall
from usp._source import check_source
from usp._tables.read import read_tables
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._outcome import Summary, report
from usp.cli._output import tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings, named_by_option
from usp.cli._source import NamedSource, each_source
from usp.cli._target import STDOUT, check_choice, tell_not_written
from usp.exceptions import UsageError
from usp.web_client.abstract_client import AbstractWebClient


def run(args: argparse.Namespace) -> Exit:
    """Crawl one source after the other, write the tables, then print a summary to stderr."""
    setup_logging_for(args)
    sources = [NamedSource.of(one) for one in each_source(args)]
    for source in sources:
        check_source(source.name)
    settings = Settings.of(args)
    plan = _plan(args)
    prints_to = sys.stdout if args.output == STDOUT else None
    with closing(settings.web_client()) as client, plan.opened() as output:
        with Progress.of(args, prints_to=prints_to) as progress:
            unique = UniqueUrls() if args.unique else None
            export = _Export(plan, output, settings, client, progress, unique)
            summaries = [export.summary(source, args) for source in sources]
        is_kept = is_worth_keeping([one.result for one in summaries], output.rows.get("pages"))
        if is_kept:
            output.commit()
    if not is_kept:
        tell_not_written(args)
    return _report(summaries, args)


def _plan(args: argparse.Namespace) -> ExportPlan:
    if not args.output:
        raise UsageError("--output is missing: -o PATH says where the tables go")
    check_choice(args)
    try:
        return ExportPlan.of(
            args.output,
            table=args.table,
            columns=args.columns,
            format=args.format,
            replace=bool(args.replace),
            append=bool(args.append),
            bom=bool(args.bom),
            escape_formulas=bool(args.escape_formulas),
        )
    except UsageError as error:
        raise named_by_option(error, args.command.options) from None


class _Export:
    """What all sources of one export share."""

    def __init__(
        self,
        plan: ExportPlan,
        output: Output,
        settings: Settings,
        client: AbstractWebClient,
        progress: Progress,
        unique: UniqueUrls | None,
    ) -> None:
        self._plan = plan
        self._output = output
        self._settings = settings
        self._client = client
        self._progress = progress
        self._unique = unique

    def summary(self, source: NamedSource, args: argparse.Namespace) -> Summary:
        """Write the tables of a source; return what came of it."""
        if source.doubt and not args.quiet:
            tell(source.doubt)
        progress, rows = self._progress, self._output.rows
        started, pages = progress.seconds, rows.get("pages", 0)
        discovery: dict[str, Any] = dict(self._settings.discovery)
        with read_tables(
            source.name,
            self._plan.names,
            columns=self._plan.columns,
            unique=self._unique,
            web_client=self._client,
            observer=progress.tally.observe,
            policy=self._settings.policy,
            **discovery,
        ) as stream:
            for batch in stream:
                self._output.write(batch)
                progress.tally.pages = rows.get("pages", 0)
            found = rows["pages"] - pages if "pages" in rows else None
            return Summary.of_stream(stream, found, progress.seconds - started)


def _report(summaries: Sequence[Summary], args: argparse.Namespace) -> Exit:
    """Print what came of each crawl, then of all together; return the exit code."""
    if len(summaries) == 1:
        return report(summaries[0], args)
    for summary in summaries:
        if not args.quiet:
            for line in summary.lines(failures=not (args.verbose or args.log_file)):
                tell(line)
    return report(_together(summaries), args, details=False)


def _together(summaries: Sequence[Summary]) -> Summary:
    """Return the summary of several crawls; what failed was told for each."""

    def total(numbers: Iterable[int | None]) -> int:
        return sum(number or 0 for number in numbers)

    first = summaries[0]
    return replace(
        first,
        url=f"{len(summaries):,} sources",
        outcome=overall([one.outcome for one in summaries]),
        tried=(),
        problems=tuple(problem for one in summaries for problem in one.problems),
        sitemaps=total(one.sitemaps for one in summaries),
        failed=total(one.failed for one in summaries),
        pages=None if first.pages is None else total(one.pages for one in summaries),
        seconds=sum(one.seconds for one in summaries),
        unread=tuple((one.url, one.outcome) for one in summaries if not one.is_answer),
        # One that is known to be empty says as much as one of which no page was chosen.
        has_skipped=any(one.result.is_answered for one in summaries),
    )
