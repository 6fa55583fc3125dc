"""``usp crawl``: crawls a list of sites into a folder of tables, or says how far that is."""

import argparse
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from usp._quantities import count, duration, size
from usp.bulk import CrawlProgress, CrawlStatus, status
from usp.bulk._options import BulkOptions, EngineChoice
from usp.bulk._run import run_crawl
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._options import Destination
from usp.cli._output import say, tell
from usp.cli._progress import Progress, fitting
from usp.cli._settings import chosen_values, client_settings, named_by_option
from usp.exceptions import UsageError

_OF_BULK: Final = (
    *("sites_at_once", "per_domain", "per_address", "retry", "previous", "record", "replay"),
    *("max_pages_per_site", "max_seconds_per_site", "max_bytes_per_site"),
)
"""The options that the library takes as they are."""
_LEVELS: Final = (logging.ERROR, logging.INFO, logging.DEBUG)


def run(args: argparse.Namespace) -> Exit:
    """Crawl a list, then print a summary to stderr; or print how far a crawl is."""
    setup_logging_for(args)
    if args.status:
        return _print_status(status(args.domains))
    if not args.output:
        raise UsageError("--output is missing: -o DIR says where the tables go")
    shown = _Shown()
    with Progress.of(args, line=shown.line) as progress:
        try:
            _crawl(args, shown)
        except KeyboardInterrupt:
            progress.stop()
            _tell_how_to_go_on(args.output)
            raise
    if not args.quiet:
        say(_last_line(status(args.output), progress.seconds))
    return Exit.DONE


def _tell_how_to_go_on(out: str) -> None:
    with suppress(UsageError):  # it had not begun
        found = status(out)
        done = found.shards - len(found.missing)
        tell(f"{done:,} of {found.shards:,} shards are done; the same command goes on there")


def _crawl(args: argparse.Namespace, shown: "_Shown") -> None:
    client = client_settings(args).keywords()
    fields: dict[str, Any] = {
        name: value for name in _OF_BULK if (value := getattr(args, name)) is not None
    }
    if "user_agent" in client:
        fields["user_agent"] = client.pop("user_agent")
    fields |= chosen_values(args, Destination.POLICY) | chosen_values(args, Destination.DISCOVERY)
    try:
        options = BulkOptions.of({**fields, "client_settings": client})  # type: ignore[typeddict-item]  # it checks them
        level = _LEVELS[min(args.verbose or 0, len(_LEVELS) - 1)]
        engine = args.engine or "local"
        choice = EngineChoice(engine, args.workers, args.scheduler, level, args.log_file)
        run_crawl(
            args.domains,
            args.output,
            options,
            choice,
            shards=args.shards,
            shard=args.shard,
            column=args.column,
            on_progress=shown.update,
        )
    except UsageError as error:
        raise named_by_option(error, args.command.options) from None


class _Shown:
    """The progress line of a crawl."""

    def __init__(self) -> None:
        self._progress: CrawlProgress | None = None
        self._is_ending = False

    def update(self, progress: CrawlProgress) -> None:
        """Take the progress; say once that Ctrl-C was understood."""
        self._progress = progress
        if progress.is_ending and not self._is_ending:
            self._is_ending = True
            tell("finishing the shards in hand; Ctrl-C again drops them")

    def line(self, seconds: float, width: int) -> str:
        """Return the progress on one line; what matters least is left out first."""
        now = self._progress
        if now is None:
            return fitting([(0, "reading the list")], width)
        rate = now.sites_done / max(seconds, 1.0)
        left = (now.sites - now.sites_done) / rate if rate else 0.0
        failed = sum(now.outcomes[one] for one in ("blocked", "unreachable"))
        parts = [
            (0, f"{now.sites_done:,} of {count(now.sites, 'site')}"),
            (3, f"{now.shards_done:,} of {count(now.shards, 'shard')}"),
            (1, f"{now.pages:,} pages" if now.pages else ""),
            (4, size(now.received)),
            (5, f"{rate:,.0f} sites/s"),
            (6, f"{failed:,} failed" if failed else ""),
            (2, f"{duration(left)} left" if rate else ""),
        ]
        return fitting(parts, width)


def _print_status(found: CrawlStatus) -> Exit:
    """Print how far a crawl is; exit with 1 if it isn't done."""
    shards = f"{found.shards - len(found.missing):,} of {count(found.shards, 'shard')}"
    print(f"{found.sites_done:,} of {count(found.sites, 'site')}, {shards}")
    print(f"outcomes: {_outcomes(found.outcomes) or 'none yet'}")
    rows = ", ".join(f"{number:,} {table}" for table, number in found.rows.items())
    print(f"rows: {rows or 'none yet'}")
    print(f"{count(found.requests, 'request')}, {size(found.received)} received")
    print(f"{size(found.size)} of files, started {found.started_at}, last {found.finished_at}")
    return Exit.DONE if found.is_done else Exit.NO


def _outcomes(outcomes: Mapping[str, int]) -> str:
    ranked = sorted(outcomes.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{number:,} {outcome}" for outcome, number in ranked)


def _last_line(found: CrawlStatus, seconds: float) -> str:
    rows = found.rows
    missing = f"; {count(len(found.missing), 'shard')} not done" if found.missing else ""
    unchanged = f" ({found.unchanged:,} unchanged)" if found.unchanged else ""
    outcomes = f" ({_outcomes(found.outcomes)})" if found.outcomes else ""
    return (
        f"crawled: {count(found.sites_done, 'site')}{outcomes}, "
        f"{count(found.sitemaps, 'sitemap')}{unchanged}, "
        f"{count(rows.get('pages', 0), 'page')}, {count(found.requests, 'request')}, "
        f"{size(found.received)}, {duration(seconds)}{missing}"
    )
