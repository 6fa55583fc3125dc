"""When a crawl ends before it is done: its time is up, or it has received enough; and what is said
then. Time is an argument.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from usp._crawl.traffic import CrawlTraffic
from usp.objects.outcome import Outcome, Result
from usp.objects.problem import Problem
from usp.objects.sitemap import IndexWebsiteSitemap

TIME_LIMIT: Final = "SM705"
_LEAST_READING: Final = 1.0
_BYTE_LIMIT: Final = "SM707"
_TIME: Final = "its time limit"
_IN_BODY: Final = "the crawl reached {} before the document was complete"
TIME_IS_UP_IN_BODY: Final = _IN_BODY.format(_TIME)


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    """The limit that ended a crawl with what had arrived."""

    problem: tuple[str, str]
    """The code and the message of its problem."""
    name: str
    """What it is called in the results of single requests."""
    no_response: Result
    """The result of a request without a response: it says something only where there was time."""

    def result(self, *, has_begun: bool) -> tuple[Result, str]:
        """Return the result of a request in flight, by whether its response has begun."""
        if has_begun:
            return Result.UNFINISHED, _IN_BODY.format(self.name)
        return self.no_response, f"no response before the crawl reached {self.name}"


class ReadingTime:
    """The time to read the documents that a crawl has brought: what the crawl has left of its own.

    If that is nothing, there is a second to read what was found.
    """

    def __init__(self, max_seconds: float | None, seconds: Callable[[], float]) -> None:
        """Start when the crawl is over.

        :param seconds: returns how long the crawl and the reading have taken so far.
        """
        self._max_seconds = max_seconds
        self._seconds = seconds
        least = seconds() + _LEAST_READING
        self._end = math.inf if max_seconds is None else max(max_seconds, least)
        self.is_over = False
        """Whether reading was ended."""

    def has_ended(self) -> bool:
        """Tell whether no time is left."""
        return self._seconds() >= self._end

    def end(self) -> None:
        """Note that reading was ended."""
        self.is_over = True

    def result(self, tree: IndexWebsiteSitemap) -> tuple[Outcome, tuple[Problem, ...]]:
        """Return the outcome and the problems of a tree that was read."""
        outcome, problems = tree.outcome or Outcome.FOUND, tree.problems
        if not self.is_over:
            return outcome, problems
        limit = Problem(*Deadline(self._max_seconds).limit.problem)
        return Outcome.PARTIAL, problems if limit in problems else (limit, *problems)


class Deadline:
    """When a crawl ends, by the clock of its driver and by what it has received."""

    def __init__(
        self,
        seconds: float | None,
        max_bytes: int | None = None,
        traffic: CrawlTraffic | None = None,
    ) -> None:
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._traffic = traffic or CrawlTraffic()
        self.at: float | None = None
        """The time at which it ends; None if it has no limit, or has not begun."""

    @property
    def limit(self) -> ReachedLimit:
        """The limit that was reached."""
        if self._has_enough:
            name = f"its limit of {self._max_bytes:,} bytes"
            problem = _BYTE_LIMIT, f"The crawl received more than {self._max_bytes:,} bytes"
            return ReachedLimit(problem, name, Result.UNFINISHED)
        problem = TIME_LIMIT, f"The crawl took more than {self._seconds} seconds"
        return ReachedLimit(problem, _TIME, Result.UNREACHABLE)

    @property
    def _has_enough(self) -> bool:
        return self._max_bytes is not None and self._traffic.bytes_received >= self._max_bytes

    def has_passed(self, now: float) -> bool:
        """Tell whether the crawl ends; the clock starts when this is first asked."""
        if self.at is None and self._seconds is not None:
            self.at = now + self._seconds
        return self._has_enough or (self.at is not None and now >= self.at)
