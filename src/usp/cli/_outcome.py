"""What came of a crawl, in a few lines for a person and a code for the shell.

Rules of the room: nothing is read again for it. A tree may hold millions of pages, so what is wrong
inside of documents is not looked for here.
"""

import re
from collections.abc import Iterator
from typing import Final

from usp.cli._exit import Exit
from usp.objects.outcome import Attempt, FoundBy, Outcome, Result
from usp.objects.sitemap import AbstractIndexSitemap, AbstractSitemap, IndexWebsiteSitemap

EXITS: Final = {
    Outcome.FOUND: Exit.DONE,
    Outcome.PARTIAL: Exit.DONE,
    Outcome.NONE: Exit.NO,
    Outcome.BLOCKED: Exit.UNANSWERED,
    Outcome.UNREACHABLE: Exit.UNANSWERED,
}

_READ: Final = frozenset({Result.SITEMAP, Result.ALREADY_FOUND})
_NO_ANSWER: Final = {
    Outcome.BLOCKED: Result.BLOCKED,
    Outcome.UNREACHABLE: Result.UNREACHABLE,
}
"""Outcomes that are no answer, and what makes them so."""
_NAMED: Final = frozenset({FoundBy.ROBOTS, FoundBy.INDEX, FoundBy.HTML, FoundBy.GIVEN})
_FAILURES_TOLD: Final = 10

_CAUSE: Final = re.compile(
    r"""\(Caused\ by .*? (["']) (?: \w+\(host=.*?\):\  )?
    (?P<words>.+) \1 \)+ (?P<more>:[^()]+)? $""",
    re.VERBOSE,
)
"""The words of the system in a message of urllib3, without the layers around them."""


def verdict(tree: IndexWebsiteSitemap, *, failures: bool) -> tuple[list[str], Exit]:
    """Return what to tell of a crawl, and its exit code.

    :param failures: whether to tell of each thing that failed, too.
    """
    outcome = tree.outcome or Outcome.FOUND
    code = EXITS[outcome]
    if outcome in _NO_ANSWER:
        return [f"{outcome}: {_first(tree, _NO_ANSWER[outcome])}"], code
    lines = list(_failures(tree)) if failures else []
    if outcome is Outcome.PARTIAL:
        lines.append("; ".join(_lacking(tree)) or "not all of the tree is here")
    elif outcome is Outcome.NONE:
        lines.append(f"no sitemap found at {tree.url}")
    return lines, code


def count(number: int, noun: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _first(tree: IndexWebsiteSitemap, result: Result) -> str:
    return next((_failure(tried) for tried in tree.tried if tried.result is result), tree.url)


def _failures(tree: IndexWebsiteSitemap) -> Iterator[str]:
    failed = [attempt for attempt in tree.tried if _is_news(attempt)]
    yield from map(_failure, failed[:_FAILURES_TOLD])
    if more := failed[_FAILURES_TOLD:]:
        yield f"and {len(more):,} more like these: -v shows them all"


def _is_news(attempt: Attempt) -> bool:
    """Tell whether something failed that wasn't a mere guess."""
    if attempt.found_by is FoundBy.WELL_KNOWN:
        return attempt.result in _NO_ANSWER.values()
    return _is_unread(attempt)


def _is_unread(attempt: Attempt) -> bool:
    return attempt.found_by in _NAMED and attempt.result not in _READ


def why(attempt: Attempt) -> str:
    """Return why it came to nothing, without the layers of a client; empty if it didn't."""
    cause = _CAUSE.search(attempt.detail)
    return f"{cause['words']}{cause['more'] or ''}" if cause else attempt.detail


def _failure(attempt: Attempt) -> str:
    return f"{attempt.url}: {why(attempt)}"


def _lacking(tree: IndexWebsiteSitemap) -> Iterator[str]:
    """Yield what makes a tree partial."""
    sitemaps = list(tree.all_sitemaps())
    if unread := sum(map(_is_unread, tree.tried)):
        yield f"{count(unread, 'sitemap')} could not be read"
    if broken := sum(map(_is_cut_off, sitemaps)):
        yield f"{count(broken, 'sitemap')} ended early, since the connection broke"
    if closed := sum(map(_is_closed, sitemaps)):
        yield f"a limit was reached: an index was not opened again in {count(closed, 'place')}"
    yield from (f"a limit was reached: {problem.message}" for problem in tree.problems)


def _is_cut_off(sitemap: AbstractSitemap) -> bool:
    # Asking for its problems would read the whole document again; this is known since it came.
    return sitemap._provenance.fetch_info.truncated


def _is_closed(sitemap: AbstractSitemap) -> bool:
    return isinstance(sitemap, AbstractIndexSitemap) and any(
        problem.code == "SM606" for problem in sitemap.problems
    )
