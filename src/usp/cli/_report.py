"""``usp report``: writes what a site lists, and what is wrong with it, to one page.

Everything that can be wrong is found before anything is fetched. The page is written whatever came
of the source: the exit code and the last line say what did.
"""

import argparse
from contextlib import closing
from typing import Final

from usp._inputs.kinds import InputKind, named_input, wait_for_stdin
from usp._quantities import count, duration
from usp._report.figures import ReportFigures
from usp._report.run import FORMATS, ReportOptions, ReportReading, report_format
from usp._source import STDIN
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._options import SHARED
from usp.cli._outcome import EXITS, Summary
from usp.cli._outcome import report as report_outcome
from usp.cli._output import say, tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings
from usp.cli._source import NamedSource
from usp.cli._target import STDOUT, check_output, output
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.abstract_client import AbstractWebClient

_MARKDOWN: Final = "markdown"
_ONLINE: Final = frozenset({InputKind.SITE, InputKind.SITEMAP})


def run(args: argparse.Namespace) -> Exit:
    """Read the source, write the report, then print a summary to stderr."""
    setup_logging_for(args)
    settings = Settings.of(args)
    chosen = _format(args)
    check_output(args, chosen)
    with closing(settings.web_client()) as client, Progress.of(args, prints_to=None) as progress:
        reading = _reading(args, settings, client, progress)
        found = reading.report(lambda pages: setattr(progress.tally, "pages", pages))
        with output(args) as out:
            out.write(FORMATS[chosen](found, reading.commands))
        seconds = progress.seconds
    if reading.stream is not None:
        return report_outcome(Summary.of_stream(reading.stream, found.pages, seconds), args)
    if reading.not_urls:
        tell(f"{args.source}: {count(reading.not_urls, 'row')} without a URL left out")
    return _report(args, found, seconds)


def _format(args: argparse.Namespace) -> str:
    """Return the format: without a file, Markdown."""
    if args.output in {None, STDOUT} and args.format is None:
        return _MARKDOWN
    return report_format(args.output or "", args.format)


def _reading(
    args: argparse.Namespace,
    settings: Settings,
    client: AbstractWebClient,
    progress: Progress,
) -> ReportReading:
    words = ("-s",) if args.sitemap else ()
    if args.replay:
        words = (*words, "--replay", args.replay)
    options = ReportOptions(args.check is not False, args.state, args.column, words=words)
    name = args.source
    if name == STDIN:
        wait_for_stdin(settings.policy.max_seconds)
    if named_input(name, column=args.column).kind in _ONLINE:
        source = NamedSource.of(args)
        name = source.name
        if source.doubt and not args.quiet:
            tell(source.doubt)
    fields = {
        "web_client": client,
        "observer": progress.tally.observe,
        "policy": settings.policy,
        **settings.discovery,
    }
    reading = ReportReading(name, options, fields)
    if not reading.is_crawl:
        _check_choice(args)
    return reading


def _check_choice(args: argparse.Namespace) -> None:
    """Check that no option chooses what to crawl, where nothing is crawled.

    :raises UsageError: if one does.
    """
    for option in SHARED:
        if option.group in {"pages", "sitemaps"} and getattr(args, option.dest):
            raise UsageError(
                f"{option.flags[-1]} chooses what is crawled, and {args.source} was read already"
            )


def _last_line(found: ReportFigures, seconds: float) -> str:
    """Return what was found, in numbers, and what is missing, as for a site that is crawled."""
    sitemaps, parts = found.sitemaps, []
    if sitemaps.total:
        failed = f" ({sitemaps.failed:,} failed)" if sitemaps.failed else ""
        parts.append(f"{count(sitemaps.total, 'sitemap')}{failed}")
    parts.append(count(found.pages, "page"))
    recorded = found.findings if found.findings and not found.findings.is_check else None
    if recorded and (errors := recorded.occurrences("error")):
        parts.append(count(errors, "problem"))
    outcome = found.outcome or Outcome.FOUND
    word = Outcome.FOUND if outcome is Outcome.PARTIAL else outcome
    line = f"{word}: {', '.join(parts)}, {duration(seconds)}"
    if outcome is not Outcome.PARTIAL:
        return line
    missing = []
    if sitemaps.failed:
        missing.append(f"{count(sitemaps.failed, 'sitemap')} could not be read")
    if sitemaps.damaged:
        damaged = f"{count(sitemaps.damaged, 'sitemap')} incomplete"
        first = next((one for one in sitemaps.lines if one.result == Outcome.PARTIAL), None)
        why = f" ({first.reason})" if first and first.reason else ""
        missing.append(f"{damaged}: {first.url}{why}" if first else damaged)
    return f"{line}; partial: {'; '.join(missing) or 'not everything was read'}"


def _report(args: argparse.Namespace, found: ReportFigures, seconds: float) -> Exit:
    """Print what came of a source that was not crawled, and return the exit code."""
    outcome = found.outcome
    if not args.quiet:
        say(_last_line(found, seconds))
    if outcome is Outcome.PARTIAL and args.strict:
        return Exit.FAILED
    return EXITS[outcome] if outcome else Exit.DONE
