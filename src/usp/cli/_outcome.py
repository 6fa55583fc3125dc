"""Summary of a crawl: a few lines for stderr, and the exit code.

It comes after the pages were walked, so it knows which documents are damaged. No document is parsed
again for it, since a tree may have millions of pages.
"""

import re
from collections.abc import Iterator
from typing import Final

from usp.cli._exit import Exit
from usp.objects.outcome import Attempt, FoundBy, Outcome, Result
from usp.objects.problem import NOT_EXPANDED, Problem
from usp.objects.sitemap import IndexWebsiteSitemap, InvalidSitemap

EXITS: Final = {
    Outcome.FOUND: Exit.DONE,
    Outcome.PARTIAL: Exit.DONE,
    Outcome.NONE: Exit.NO,
    Outcome.BLOCKED: Exit.FAILED,
    Outcome.UNREACHABLE: Exit.FAILED,
}

_READ: Final = frozenset({Result.SITEMAP, Result.ALREADY_FOUND})
_FAILED: Final = {
    Outcome.BLOCKED: Result.BLOCKED,
    Outcome.UNREACHABLE: Result.UNREACHABLE,
}
"""Outcomes that leave the question open, and the result of the attempt that caused it."""
_DECLARED: Final = frozenset({FoundBy.ROBOTS, FoundBy.INDEX, FoundBy.HTML, FoundBy.GIVEN})
_LIMITS: Final = frozenset({"SM703", "SM704", "SM705", "SM706"})
_MAX_FAILURES_SHOWN: Final = 10

_CAUSED_BY: Final = "(Caused by "
_QUOTE: Final = re.compile(r"[\"']")
_CONNECTION: Final = re.compile(r"\w++\(host=")


def summarize(
    tree: IndexWebsiteSitemap, *, failures: bool, strict: bool = False
) -> tuple[list[str], Exit]:
    """Return the lines to print after a crawl, and its exit code.

    :param failures: whether to include a line for each failed sitemap.
    :param strict: whether a partial result counts as failed.
    """
    outcome = tree.outcome or Outcome.FOUND
    code = Exit.FAILED if strict and outcome is Outcome.PARTIAL else EXITS[outcome]
    if outcome in _FAILED:
        return [f"{outcome}: {_first(tree, _FAILED[outcome])}"], code
    lines = list(_failures(tree)) if failures else []
    damaged = _damaged(tree)
    # The log has no line for these: they are found while the pages are printed.
    lines += _first_ten([f"{url}: {problem.message}" for url, problem in damaged.items()])
    if outcome is Outcome.PARTIAL:
        missing = "; ".join(_what_is_missing(tree, damaged))
        lines.append(f"partial: {missing or 'the tree is incomplete'}")
    elif outcome is Outcome.NONE:
        lines.append(f"no sitemap found at {tree.url}")
    return lines, code


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 page``, ``2 pages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _first(tree: IndexWebsiteSitemap, result: Result) -> str:
    return next((_failure(tried) for tried in tree.tried if tried.result is result), tree.url)


def _failures(tree: IndexWebsiteSitemap) -> Iterator[str]:
    failed = [attempt for attempt in tree.tried if _is_reported(attempt)]
    yield from map(_failure, failed[:_MAX_FAILURES_SHOWN])
    if more := failed[_MAX_FAILURES_SHOWN:]:
        yield f"and {len(more):,} more: -v shows all of them"


def _first_ten(lines: list[str]) -> list[str]:
    more = len(lines) - _MAX_FAILURES_SHOWN
    return lines[:_MAX_FAILURES_SHOWN] + [f"and {more:,} more"] * (more > 0)


def _is_reported(attempt: Attempt) -> bool:
    """Tell whether a failure is reported; that of a guessed URL is not."""
    if attempt.found_by is FoundBy.WELL_KNOWN:
        return attempt.result in _FAILED.values()
    return _is_unread(attempt)


def _is_unread(attempt: Attempt) -> bool:
    return attempt.found_by in _DECLARED and attempt.result not in _READ


def reason(attempt: Attempt) -> str:
    """Return the reason of a failure, shortened to the cause; empty if there was none."""
    return _cause(attempt.detail) or attempt.detail


def _cause(detail: str) -> str:
    """Return the message of the operating system inside of a message of urllib3, if it is one.

    Such a message is ``... (Caused by Error("HTTPConnection(host='h', port=80): words"))``, and
    something may follow it. The server may have written any part of it.
    """
    _, is_caused, error = detail.partition(_CAUSED_BY)
    opening = _QUOTE.search(error)
    end = error.rfind(")") + 1
    quoted, more = error[:end].rstrip(")"), error[end:]
    if not is_caused or opening is None or (more and not (more[0] == ":" and "(" not in more)):
        return ""
    if not quoted.endswith(opening[0]) or len(quoted) - 1 <= opening.end():
        return ""
    words = quoted[opening.end() : -1]
    if _CONNECTION.match(words):
        _, is_closed, rest = words.partition("): ")
        words = rest if is_closed and rest else words
    return f"{words}{more}"


def _failure(attempt: Attempt) -> str:
    return f"{attempt.url}: {reason(attempt)}"


def _damaged(tree: IndexWebsiteSitemap) -> dict[str, Problem]:
    """Return the sitemaps that were read only in part, and the first reason for each."""
    return {
        sitemap.url: found[0]
        for sitemap in tree.all_sitemaps()
        if not isinstance(sitemap, InvalidSitemap)
        if (found := [one for one in sitemap._known_losses() if one.code != NOT_EXPANDED])
    }


def _what_is_missing(tree: IndexWebsiteSitemap, damaged: dict[str, Problem]) -> Iterator[str]:
    """Yield why a tree is partial."""
    if unread := sum(map(_is_unread, tree.tried)):
        yield f"{count(unread, 'sitemap')} could not be read"
    if damaged:
        url, problem = next(iter(damaged.items()))
        more = f", and {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
        yield f"{count(len(damaged), 'sitemap')} incomplete: {url} ({problem.message}){more}"
    losses = (loss for sitemap in tree.all_sitemaps() for loss in sitemap._known_losses())
    if collapsed := sum(loss.code == NOT_EXPANDED for loss in losses):
        yield f"limit reached: an index was not expanded again at {count(collapsed, 'node')}"
    limits = (problem for problem in tree.problems if problem.code in _LIMITS)
    yield from (f"limit reached: {problem.message}" for problem in limits)
