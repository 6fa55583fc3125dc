"""``usp diff``: prints what is different between two listings of pages."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final

from usp._diff.diff import Diff, DiffSide, diff
from usp._diff.differences import DifferenceKind
from usp._diff.formats import LINE_FORMATS
from usp._inputs.kinds import InputKind, NamedInput, named_input, wait_for_stdin
from usp._quantities import count, duration
from usp._source import STDIN
from usp.cli._exit import Exit
from usp.cli._log import setup_logging_for
from usp.cli._output import say, tell
from usp.cli._progress import Progress
from usp.cli._settings import Settings, named_by_option
from usp.cli._source import NamedSource
from usp.cli._target import check_output, output
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.abstract_client import AbstractWebClient

_FETCHED: Final = frozenset({InputKind.SITE, InputKind.SITEMAP, InputKind.FILE})
"""The inputs that may need requests: a file may be an index."""
_ONLINE: Final = frozenset({InputKind.SITE, InputKind.SITEMAP})
_KNOWN: Final = (
    *(DifferenceKind.ADDED, DifferenceKind.REMOVED),
    *(DifferenceKind.CHANGED, DifferenceKind.MOVED),
)
"""The differences that are certain."""
_UNREAD: Final = {
    Outcome.NONE: "it has no sitemap",
    Outcome.BLOCKED: "it refuses requests",
    Outcome.UNREACHABLE: "it can't be reached",
}
_STARTS: Final = ("http://", "https://", "/")
"""How what stands for a prefix begins, in most cases."""


def run(args: argparse.Namespace) -> Exit:
    """Print the differences, then print a summary to stderr."""
    setup_logging_for(args)
    check_output(args)
    with ExitStack() as stack:
        progress = stack.enter_context(
            Progress.of(args, prints_to=None if args.output else sys.stdout)
        )
        found = stack.enter_context(_opened(args, progress, stack))
        with output(args, lambda: found.is_answered) as out:  # else what is there stays
            out.writelines(f"{line}\n" for line in LINE_FORMATS[args.format](found))
    return _report(found, args, progress.seconds)


def _opened(args: argparse.Namespace, progress: Progress, stack: ExitStack) -> Diff:
    settings = Settings.of(args)
    columns = _columns(args)
    if STDIN in {args.a, args.b}:
        wait_for_stdin(settings.policy.max_seconds)
    try:
        inputs = [
            named_input(source, column=column)
            for source, column in zip((args.a, args.b), columns, strict=True)
        ]
        keywords: dict[str, Any] = {"policy": settings.policy, **settings.discovery}
        if client := _client(settings, inputs):
            keywords["web_client"] = client
            stack.callback(client.close)
        return diff(
            *(_name(one, args) for one in inputs),
            ignore=args.ignore or (),
            map=_prefixes(args),
            column=columns,
            emit=args.emit,
            observer=progress.tally.observe,
            **keywords,
        )
    except UsageError as error:
        raise named_by_option(error, args.command.options) from None


def _client(settings: Settings, inputs: list[NamedInput]) -> AbstractWebClient | None:
    """Return the client, if one is needed: it takes long to import."""
    if any(one.kind in _FETCHED for one in inputs):
        return settings.web_client()
    if settings.is_recording:
        raise UsageError("--record and --replay need a site or sitemap: nothing is fetched")
    return None


def _name(one: NamedInput, args: argparse.Namespace) -> str:
    """Return an input as the library takes it; say what was understood."""
    if one.kind not in _ONLINE:
        return one.name
    source = NamedSource.of(argparse.Namespace(**{**vars(args), "source": one.name}))
    if source.doubt and not args.quiet:
        tell(source.doubt)
    return source.name


def _prefixes(args: argparse.Namespace) -> dict[str, str]:
    return dict(map(_prefix, args.map or ()))


def _prefix(text: str) -> tuple[str, str]:
    """Return the two sides of ``OLD=NEW``: OLD may have a ``=`` itself, in its parameters."""
    ends = [at for at, character in enumerate(text) if character == "=" and at]
    if not ends:
        raise UsageError(f"--map must be OLD=NEW, not {text!r}")
    end = next((at for at in ends if text.startswith(_STARTS, at + 1)), ends[0])
    return text[:end], text[end + 1 :]


def _columns(args: argparse.Namespace) -> list[str | None]:
    given = args.column or [None]
    if len(given) > 2:  # noqa: PLR2004 -- A and B
        raise UsageError("--column can be given twice at most: for A and for B")
    return [given[0], given[-1]]


def _report(found: Diff, args: argparse.Namespace, seconds: float) -> Exit:
    """Print what came of it to stderr, and return the exit code."""
    emitted = [kind for kind in _KNOWN if not args.emit or kind in args.emit]
    code = Exit.DONE if found.is_whole else Exit.FAILED
    if args.exit_code and any(found.counts[kind] for kind in emitted):
        code = Exit.NO
    for line in _warnings(found):
        tell(line)
    if found.is_answered and not args.quiet:
        say(_last_line(found, seconds))
    return code


def _warnings(found: Diff) -> Iterator[str]:
    for side in found.sides:
        if side.outcome in _UNREAD:
            yield f"{side.name}: {_UNREAD[side.outcome]}, so nothing was compared"
        elif not side.is_whole:
            which = f" ({side.incomplete_url})" if side.incomplete_url else ""
            yield f"{side.name} was read in part{which}: more may be there than was found"
        if side.not_urls:
            left_out = count(side.not_urls, "row")
            yield f"{side.name}: {left_out} without a URL left out"


def _last_line(found: Diff, seconds: float) -> str:
    kinds = [f"{found.counts[kind]:,} {kind}" for kind in DifferenceKind if found.counts[kind]]
    a, b = (_urls(side) for side in found.sides)
    return (
        f"compared: {a} with {b}: {', '.join([*kinds, f'{found.same:,} same'])}, "
        f"{duration(seconds)}{_partial(found)}"
    )


def _partial(found: Diff) -> str:
    """Return what was read in part, naming the first sitemap; nothing if all was read."""
    partial = [side for side in found.sides if not side.is_whole]
    return f"; partial: {partial[0].incomplete_url or partial[0].name}" if partial else ""


def _urls(side: DiffSide) -> str:
    return count(side.urls, "URL")
