"""``usp changes``: prints changes that ``usp sync`` has found; it fetches nothing."""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime

from usp._sync.changes import Change, time_of
from usp._sync.formats import LINE_FORMATS, atom_lines, feed_title
from usp._sync.options import site_key
from usp._sync.state import State
from usp._sync.sync import changes
from usp.cli._exit import Exit
from usp.cli._settings import named_by_option
from usp.cli._target import output
from usp.exceptions import UsageError


def run(args: argparse.Namespace) -> Exit:
    """Print the changes."""
    if not args.state:
        raise UsageError("--state is missing: --state FILE names the file of usp sync")
    check_format(args)
    try:
        found = changes(
            args.state, after=args.after or 0, site=args.site, emit=args.emit, limit=args.last
        )
    except UsageError as error:
        raise named_by_option(error, args.command.options) from None
    with output(args) as out:
        out.writelines(f"{line}\n" for line in lines(found, args))
    return Exit.DONE


def check_format(args: argparse.Namespace) -> None:
    """Check that the output can be written in the format.

    :raises UsageError: if a feed, which is one document, would be added to another.
    """
    if args.append and args.format not in LINE_FORMATS:
        raise UsageError(f"-f {args.format} can't be used with --append: use --replace")


def lines(found: Iterable[Change], args: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of changes, in the format that the user has chosen."""
    if args.format in LINE_FORMATS:
        return LINE_FORMATS[args.format](found)
    return _feed_lines(found, args.state, getattr(args, "site", None))


def _feed_lines(found: Iterable[Change], path: str, site: str | None) -> Iterator[str]:
    """Yield the lines of a feed; a run that finds the changes ends before the state is read."""
    listed = list(found)
    with closing(State.open_to_read(path)) as state:
        names = [site_key(site)] if site else list(state.site_names().values())
        last_run = state.last_run_at(state.site_id(names[0]) if site else None)
        checked = time_of(last_run) or datetime.now(UTC)
        yield from atom_lines(listed, state.identity, feed_title(names), checked)
