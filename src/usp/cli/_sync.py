"""``usp sync``: prints what changed on websites since the last run.

A change is taken when it was printed; with ``-o``, and in a feed, when the output is whole. So a
command that is ended prints again what was not.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

from usp._cause import cause
from usp._quantities import count, duration, size
from usp._sync.changes import ChangeKind
from usp._sync.formats import LINE_FORMATS
from usp._sync.options import SiteReport
from usp._sync.sync import Sync, sync
from usp.cli._changes import check_format, lines
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._outcome import EXITS
from usp.cli._output import say, tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings, named_by_option
from usp.cli._source import NamedSource, each_source
from usp.cli._target import output
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.abstract_client import AbstractWebClient

_KEYWORDS: Final = ("emit", "confirm", "max_removed", "jitter", "sites_at_once")
"""The options that the library takes as they are."""


def run(args: argparse.Namespace) -> Exit:
    """Run the sites, print their changes, then print a summary to stderr."""
    setup_logging_for(args)
    if not args.state:
        raise UsageError("--state is missing: --state FILE says where to keep what is known")
    check_format(args)
    sources = [NamedSource.of(one) for one in each_source(args)]
    settings = Settings.of(args)
    prints_to = None if args.output else sys.stdout
    with closing(settings.web_client()) as client:
        with Progress.of(args, prints_to=prints_to) as progress:
            names = [source.name for source in sources]
            with _started(names, args, settings, client, progress) as found:
                _print(found, args)
        return _report(found.reports, args, progress.seconds)


def _started(
    names: list[str],
    args: argparse.Namespace,
    settings: Settings,
    client: AbstractWebClient,
    progress: Progress,
) -> Sync:
    given: dict[str, Any] = {name: getattr(args, name) for name in _KEYWORDS}
    chosen = {name: value for name, value in given.items() if value is not None}
    if args.keep is not None:
        chosen["keep"] = None if args.keep == "all" else args.keep
    try:
        return sync(
            *names,
            state=args.state,
            emit_initial=bool(args.emit_initial),
            due=bool(args.due),
            commit_each=not args.output and args.format in LINE_FORMATS,
            web_client=client,
            observer=progress.tally.observe,
            policy=settings.policy,
            **chosen,
            **settings.discovery,
        )
    except UsageError as error:
        raise named_by_option(error, settings.options) from None


def _print(found: Sync, args: argparse.Namespace) -> None:
    """Print changes while they come; each is flushed before the next is asked for."""
    with output(args) as out:
        for line in lines(found, args):
            out.write(f"{line}\n")
            out.flush()


def _report(reports: tuple[SiteReport, ...], args: argparse.Namespace, seconds: float) -> Exit:
    """Print what came of all sites to stderr, and return the exit code."""
    codes = {_exit_code(report, strict=bool(args.strict)) for report in reports}
    code = next((one for one in (Exit.NO, Exit.FAILED) if one in codes), Exit.DONE)
    for report in sorted(reports, key=lambda one: one.site):
        for line in _lines(report):
            if not args.quiet or _exit_code(report, strict=bool(args.strict)):
                tell(f"{report.site}: {line}")
    if not args.quiet:
        say(_last_line(reports, seconds))
    return code


def _exit_code(report: SiteReport, *, strict: bool) -> Exit:
    if report.held_back or (strict and report.outcome is Outcome.PARTIAL):
        return Exit.FAILED
    return EXITS[report.outcome]


def _lines(report: SiteReport) -> Iterator[str]:
    if report.held_back:
        removed = count(report.held_back, "URL")
        yield f"{removed} would be removed at once, so none is (--max-removed allows it)"
    reason = cause(report.reason) if report.reason else ""
    why = f" ({reason})" if reason else ""
    if report.outcome in {Outcome.BLOCKED, Outcome.UNREACHABLE}:
        yield f"{report.outcome}{why}: what is known of it stays"
    elif report.outcome is Outcome.NONE:
        yield "no sitemap found"
    elif report.failed:
        which = f"{report.failed_url}{f': {reason}' if reason else ''}"
        failed = count(report.failed, "sitemap")
        yield f"{failed} could not be read ({which}): what is known of it stays"
    if report.stopped:
        yield f"limit reached: {report.stopped.message}: what was not read stays as it is known"
    # What has no URL at all is no sitemap that was read in part: nothing was found.
    if report.incomplete and report.outcome is not Outcome.NONE:
        damaged = count(report.incomplete, "document")  # robots.txt is one, and no sitemap
        which = f"{damaged} could not be read whole ({report.incomplete_url})"
        yield f"{which}: nothing that was known is removed"
    is_found = report.outcome in {Outcome.FOUND, Outcome.PARTIAL}
    if report.is_baseline and is_found and not report.changes:
        yield f"a baseline of {count(report.pages, 'page')}: changes come from the next run on"


def _last_line(reports: tuple[SiteReport, ...], seconds: float) -> str:
    changes = sum((report.changes for report in reports), Counter[ChangeKind]())
    kinds = ", ".join(f"{changes[kind]:,} {kind}" for kind in ChangeKind if changes[kind])
    sitemaps = sum(report.sitemaps for report in reports)
    unchanged = sum(report.unchanged for report in reports)
    requests = sum(report.requests for report in reports)
    received = sum(report.bytes for report in reports)
    return (
        f"synced: {_sites(reports)}, {count(sitemaps, 'sitemap')} ({unchanged:,} unchanged), "
        f"{count(changes.total(), 'change')}"
        f"{f' ({kinds})' if kinds else ''}, {count(requests, 'request')}, {size(received)}, "
        f"{duration(seconds)}{_partial(reports)}"
    )


def _sites(reports: tuple[SiteReport, ...]) -> str:
    """Return the number of sites, and of those that were not read whole by their outcome."""
    outcomes = Counter(report.outcome for report in reports)
    others = [outcome for outcome in Outcome if outcome is not Outcome.FOUND]
    numbers = ", ".join(f"{outcomes[one]:,} {one}" for one in others if outcomes[one])
    return f"{count(len(reports), 'site')}{f' ({numbers})' if numbers else ''}"


def _partial(reports: tuple[SiteReport, ...]) -> str:
    """Return what was not read, or not whole, naming the first of each; nothing if all was."""
    partial = [report for report in reports if report.outcome is Outcome.PARTIAL]
    failed = sum(report.failed for report in partial)
    damaged = sum(report.incomplete for report in partial)
    parts = []
    if first := next(filter(None, (report.failed_url for report in partial)), None):
        parts.append(f"{count(failed, 'sitemap')} could not be read: {first}")
    if first := next(filter(None, (report.incomplete_url for report in partial)), None):
        parts.append(f"{count(damaged, 'document')} incomplete: {first}")
    return f"; partial: {'; '.join(parts)}" if parts else ""
