"""``usp check``: says whether the sitemaps of a site are healthy, and what to change.

Findings go to stdout, or to the file of ``-o``; the exit code says whether there are serious ones.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from usp._check.baseline import Baseline
from usp._check.collector import sorted_findings
from usp._check.findings import Finding, Occurrence
from usp._check.folder import BuildFolder
from usp._check.run import check
from usp._check.stream import CheckStream
from usp._crawl.deadline import TIME_LIMIT
from usp._parse import parse_date
from usp.cli._check_ci import github_lines, junit_lines, sarif_lines
from usp.cli._check_formats import (
    CheckReport,
    concise_lines,
    json_lines,
    markdown_lines,
    occurrence_line,
    statistics_lines,
    text_lines,
)
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._outcome import Summary, report
from usp.cli._output import tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings, named_by_option
from usp.cli._source import NamedSource, SourceKind
from usp.cli._target import output
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.abstract_client import AbstractWebClient

_JSONL: Final = "jsonl"
_SARIF: Final = "sarif"
_FORMATS: Final[dict[str, Callable[[CheckReport], Iterator[str]]]] = {
    "text": text_lines,
    "concise": concise_lines,
    "json": json_lines,
    "github": github_lines,
    "markdown": markdown_lines,
    "junit": junit_lines,
    _SARIF: sarif_lines,
}
"""The formats that print findings when all of them are known."""
_WITH_STATISTICS: Final = frozenset({"text", "concise"})
_FAILING: Final = {"error": ("error",), "warning": ("error", "warning"), "never": ()}
"""The severities that count for the exit code, by the value of ``--fail-on``."""
_UNANSWERED: Final = frozenset({Outcome.BLOCKED, Outcome.UNREACHABLE})
_MAX_SUMMARY: Final = 1024 * 1024
"""GitHub takes a job summary of 1 MiB."""


def run(args: argparse.Namespace) -> Exit:
    """Check, print the findings, then print a summary to stderr."""
    setup_logging_for(args)
    is_folder = args.base_url is not None
    source = NamedSource(args.source, SourceKind.FILE) if is_folder else NamedSource.of(args)
    settings = Settings.of(args)
    _check_usage(args, source)
    if args.live is not None and not args.replay:
        settings.check_aio_client()
    keywords = _keywords(args)
    known = Baseline()
    with _client(args, settings) as client, output(args) as out:
        is_jsonl = args.format == _JSONL
        with Progress.of(args, prints_to=out if is_jsonl else None) as progress:
            keywords |= {
                "on_occurrence": _taker(args, out, known),
                "web_client": client,
                "observer": progress.tally.observe,
                "policy": settings.policy,
                **settings.discovery,
            }
            with _started(source, keywords, settings) as stream:
                if source.doubt and not args.quiet:  # not before what is wrong was told
                    tell(source.doubt)
                progress.tally.live_pages = lambda: stream.live_answered
                findings = list(stream)
            progress.begin_output(out)
            made = _report(args, source, stream, findings)
            if not is_jsonl:
                lines = statistics_lines if args.statistics else _FORMATS[args.format]
                out.writelines(f"{line}\n" for line in lines(made))
        summary = Summary.of_stream(stream, None, progress.seconds)
    if args.format == "github":
        _write_job_summary(made)
    if args.write_baseline:
        known.write(args.baseline)
    return _exit_code(args, stream, report(summary, args))


def _started(source: NamedSource, keywords: dict[str, Any], settings: Settings) -> CheckStream:
    """Start the check.

    :raises UsageError: if a value is wrong; the message names the option.
    """
    try:
        return check(source.name, **keywords)
    except UsageError as error:
        raise named_by_option(error, settings.options) from None


def _client(
    args: argparse.Namespace, settings: Settings
) -> AbstractContextManager[AbstractWebClient | None]:
    """Return the client; None for a folder, which needs none."""
    return nullcontext() if args.base_url else closing(settings.web_client())


def _check_usage(args: argparse.Namespace, source: NamedSource) -> None:
    if args.write_baseline and not args.baseline:
        raise UsageError("--write-baseline needs --baseline FILE, which says where it goes")
    if args.format == _SARIF and source.kind is not SourceKind.FILE:
        raise UsageError(
            "--format sarif is for files and folders: code scanning takes no results for URLs"
        )
    if args.statistics and args.format not in _WITH_STATISTICS:
        raise UsageError(f"--statistics has no format {args.format}: use text")


def _keywords(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of ``usp.check`` that the options give."""
    return {
        "select": args.select or (),
        "ignore": args.ignore or (),
        "engine": args.engine or (),
        "agent": args.agent or (),
        "now": None if args.now is None else _moment(args.now),
        "require": _required(args.require) if args.require else (),
        "min_pages": args.min_pages,
        "twice": bool(args.twice),
        "base_url": args.base_url,
        "state": args.state,
        "max_drop": args.max_drop,
        "live": False if args.live is None else args.live,
        "seed": args.seed,
        "per_sitemap_ignore": args.per_sitemap_ignore or (),
        "baseline": None if args.write_baseline else args.baseline,
    }


def _moment(given: object) -> datetime:
    """Return the time of ``--now``; one without a time zone is UTC."""
    text = given.isoformat() if hasattr(given, "isoformat") else str(given)
    moment = parse_date(text)
    if moment is None:
        raise UsageError(f"--now must be a time such as 2026-11-17T12:00:00Z, not {text!r}")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _required(file: str) -> list[str]:
    """Return the URLs of a file, one a line; empty lines and comments don't count."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"--require: cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--require: {file} is not a text in UTF-8") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _taker(
    args: argparse.Namespace, out: TextIO, known: Baseline
) -> Callable[[Occurrence], None] | None:
    """Return what takes every single occurrence, if something does."""
    if args.write_baseline:
        return known.add
    if args.format == _JSONL:
        return lambda occurrence: print(occurrence_line(occurrence), file=out)
    return None


def _report(
    args: argparse.Namespace, source: NamedSource, stream: CheckStream, findings: list[Finding]
) -> CheckReport:
    is_file = source.kind is SourceKind.FILE
    folder = BuildFolder.of(source.name, args.base_url) if args.base_url else None
    return CheckReport(
        source.name if is_file else stream.url,
        stream.now,
        stream.summary,
        tuple(sorted_findings(findings)),
        stream.checked,
        frozenset(_FAILING[args.fail_on]),
        stream.live,
        folder,
    )


def _write_job_summary(made: CheckReport) -> None:
    """Append the findings to the summary of a GitHub job, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        text = "".join(f"{line}\n" for line in markdown_lines(made)).encode()
        with Path(path).open("ab") as file:
            file.write(text[:_MAX_SUMMARY])


def _exit_code(args: argparse.Namespace, stream: CheckStream, outcome: Exit) -> Exit:
    """Return the exit code: findings outrank what could not be answered, if anything was read."""
    if not stream.checked and (stream.outcome in _UNANSWERED or _was_stopped(stream)):
        return Exit.FAILED
    summary = stream.summary
    fails = any(summary[severity] for severity in _FAILING[args.fail_on])
    if fails and not (args.exit_zero or args.write_baseline):
        return Exit.NO
    if outcome is Exit.DONE and args.strict and summary["undecided"]:
        return Exit.FAILED
    return outcome


def _was_stopped(stream: CheckStream) -> bool:
    """Tell whether the time was over before everything was read."""
    return any(problem.code == TIME_LIMIT for problem in stream.problems)
