"""Summary of a crawl: a few lines for stderr, the last line, and the exit code.

It comes after the pages were walked, so it knows which documents are damaged. No document is parsed
again for it, since a tree may have millions of pages. Trees and streams give the same summary.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from usp._cause import cause
from usp._crawl.deadline import ReadingTime
from usp._crawl.source_result import SourceResult
from usp._parse import is_http_url
from usp._quantities import count, duration
from usp.cli._exit import Exit
from usp.cli._output import say, tell
from usp.objects.discovery import Discovery
from usp.objects.outcome import Attempt, FoundBy, Outcome, Result
from usp.objects.problem import NOT_EXPANDED, Problem
from usp.objects.sitemap import IndexRobotsTxtSitemap, IndexWebsiteSitemap, InvalidSitemap
from usp.stream import StreamStatus

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
_LIMITS: Final = frozenset({"SM703", "SM704", "SM705", "SM706", "SM707"})
_UNREAD: Final = frozenset(
    {"SM101", "SM201", "SM202", "SM203", "SM601", "SM602", "SM603", "SM604", "SM605", "SM608"}
)
"""Problems of sitemaps that could not be read at all."""
_MAX_FAILURES_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a crawl."""

    url: str
    """The site, sitemap or file."""
    outcome: Outcome
    tried: tuple[Attempt, ...]
    problems: tuple[Problem, ...]
    """Why something is missing."""
    sitemaps: int
    """The sitemaps that were declared or found; robots.txt doesn't count."""
    failed: int
    """Those of them that could not be read."""
    pages: int | None
    """The pages that were listed; None if the command doesn't read any."""
    seconds: float
    unread: tuple[tuple[str, Outcome], ...] = ()
    """Of several sources, those that could not be read, or have no sitemap, each with its
    outcome."""
    has_skipped: bool = False
    """Whether pages or sitemaps were not chosen."""

    @classmethod
    def of_tree(
        cls,
        tree: IndexWebsiteSitemap,
        pages: int | None,
        seconds: float,
        reading: ReadingTime,
    ) -> "Summary":
        """Return the summary of a tree, once its pages were walked, in the time for that."""
        kinds = [type(sitemap) for sitemap in tree.all_sitemaps()]
        failed = sum(issubclass(kind, InvalidSitemap) for kind in kinds)
        sitemaps = sum(not issubclass(kind, IndexRobotsTxtSitemap) for kind in kinds)
        outcome, problems = reading.result(tree)
        numbers = sitemaps, failed, pages, seconds
        # To know of pages, a document is parsed again: only where none was printed.
        is_empty = pages == 0 and not reading.is_over
        skipped = is_empty and any(sitemap.skipped for sitemap in tree.all_sitemaps())
        return cls(tree.url, outcome, tree.tried, problems, *numbers, has_skipped=skipped)

    @classmethod
    def of_stream(cls, stream: StreamStatus, pages: int | None, seconds: float) -> "Summary":
        """Return the summary of a stream that has ended."""
        failed = stream.sitemaps_failed
        sitemaps = stream.sitemaps_read + failed
        outcome, problems = stream.outcome, stream.problems
        numbers = sitemaps, failed, pages, seconds
        skipped = bool(stream.skipped)
        return cls(stream.url, outcome, stream.tried, problems, *numbers, has_skipped=skipped)

    @classmethod
    def of_discovery(cls, found: Discovery) -> "Summary":
        """Return the summary of what was found without reading pages."""
        tried = tuple(
            Attempt(one.url, one.found_by, one.result, one.detail, one.stage) for one in found.tried
        )
        failed = sum(map(_is_unread, tried))
        sitemaps = len(found.sitemaps) + failed
        return cls(
            found.url, found.outcome, tried, found.problems, sitemaps, failed, None, found.seconds
        )

    @property
    def result(self) -> SourceResult:
        """What came of the source as a whole."""
        return SourceResult(self.outcome, self.failed, self.has_skipped)

    @property
    def is_answer(self) -> bool:
        """Whether something was found."""
        return self.outcome in {Outcome.FOUND, Outcome.PARTIAL}

    def exit_code(self, *, strict: bool = False) -> Exit:
        """Return the exit code.

        :param strict: whether a partial result counts as failed; one without pages always does.
        """
        is_failed = strict or (self.pages == 0 and not self.result.is_answered)
        return Exit.FAILED if is_failed and self.outcome is Outcome.PARTIAL else EXITS[self.outcome]

    def lines(self, *, failures: bool, damage: bool = True) -> list[str]:
        """Return what to say before the last line; where nothing was found, that line, too.

        :param failures: whether to include a line for each failed sitemap.
        :param damage: whether to include a line for each sitemap that was read only in part.
        """
        outcomes = Counter(outcome for _, outcome in self.unread)
        if not self.is_answer and len(outcomes) > 1:
            numbers = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.items())
            return [f"{self._unread_sources}: {numbers}"]
        if self.outcome in _FAILED:
            return [f"{self.outcome}: {self._first_failure()}"]
        lines = list(self._failures()) if failures else []
        damaged = self._damaged() if damage else {}
        # The log has no line for these: they are found while the pages are printed.
        lines += _first_ten([f"{url}: {problem.message}" for url, problem in damaged.items()])
        if self.outcome is Outcome.NONE:
            lines.append(f"no sitemap found at {self.url}")
        return lines

    @property
    def _unread_sources(self) -> str:
        return f"{count(len(self.unread), 'source')} gave no sitemaps"

    @property
    def partial(self) -> str:
        """Why the result is partial, naming the first sitemap that is incomplete."""
        missing = "; ".join(self._what_is_missing(self._damaged()))
        return f"partial: {missing or 'the tree is incomplete'}"

    @property
    def last_line(self) -> str:
        """What was found, in numbers, and what is missing."""
        failed = f" ({self.failed:,} failed)" if self.failed else ""
        parts = [f"{count(self.sitemaps, 'sitemap')}{failed}"]
        if self.pages is not None:
            parts.append(count(self.pages, "page"))
        if self.problems:
            parts.append(count(len(self.problems), "problem"))
        found = f"found: {', '.join(parts)}, {duration(self.seconds)}"
        return f"{found}; {self.partial}" if self.outcome is Outcome.PARTIAL else found

    def _first_failure(self) -> str:
        """Return what left the question open: a refused request, or one that was never made."""
        result = _FAILED[self.outcome]
        failed = [tried for tried in self.tried if tried.result is result]
        # A site whose robots.txt disallows everything is blocked, without a request.
        failed += [
            one for one in self.tried if one.result is Result.REFUSED and is_http_url(one.url)
        ]
        if failed:
            return _failure(failed[0])
        limit = next((problem.message for problem in self.problems if problem.code in _LIMITS), "")
        return f"{self.url}: {limit}" if limit else self.url

    def _failures(self) -> Iterator[str]:
        failed = [attempt for attempt in self.tried if _is_reported(attempt)]
        yield from map(_failure, failed[:_MAX_FAILURES_SHOWN])
        if more := failed[_MAX_FAILURES_SHOWN:]:
            yield f"and {len(more):,} more: -v shows all of them"

    def _damaged(self) -> dict[str, Problem]:
        """Return the sitemaps that were read only in part, and the first reason for each."""
        found: dict[str, Problem] = {}
        for problem in self.problems:
            if problem.sitemap_url and problem.code not in _UNREAD | {NOT_EXPANDED}:
                found.setdefault(problem.sitemap_url, problem)
        return found

    def _what_is_missing(self, damaged: dict[str, Problem]) -> Iterator[str]:
        """Yield why a result is partial."""
        if self.unread:
            more = f", and {len(self.unread) - 1:,} more" if len(self.unread) > 1 else ""
            url, outcome = self.unread[0]
            yield f"{self._unread_sources}: {url} ({outcome}){more}"
        if self.failed:
            yield f"{count(self.failed, 'sitemap')} could not be read"
        if damaged:
            url, problem = next(iter(damaged.items()))
            more = f", and {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
            yield f"{count(len(damaged), 'sitemap')} incomplete: {url} ({problem.message}){more}"
        if collapsed := sum(problem.code == NOT_EXPANDED for problem in self.problems):
            yield f"limit reached: an index was not expanded again at {count(collapsed, 'node')}"
        limits = (p for p in self.problems if p.code in _LIMITS and p.sitemap_url is None)
        yield from (f"limit reached: {problem.message}" for problem in limits)


def report(summary: Summary, args: argparse.Namespace, *, details: bool = True) -> Exit:
    """Print what came of a crawl to stderr, and return the exit code.

    :param details: whether to say which sitemaps failed or are damaged.
    """
    code = summary.exit_code(strict=bool(args.strict))
    # Failures are in the log, if one was requested.
    lines = summary.lines(failures=details and not (args.verbose or args.log_file), damage=details)
    if args.quiet:
        because = [summary.partial] if summary.is_answer else lines[-1:]
        lines = because if code else []
    elif summary.pages == 0 and summary.is_answer and summary.result.is_answered:
        lines.insert(0, _why_no_page(summary.url, args))
    for line in lines:
        tell(line)
    if summary.is_answer and not args.quiet:
        say(summary.last_line)
    return code


def _why_no_page(url: str, args: argparse.Namespace) -> str:
    choosing = (option for option in args.command.options if option.group == "pages")
    if any(getattr(args, option.dest) for option in choosing):
        return f"no page of {url} was chosen"
    return f"the sitemaps of {url} list no pages"


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
    return cause(attempt.detail)


def _failure(attempt: Attempt) -> str:
    return f"{attempt.url}: {reason(attempt)}"
