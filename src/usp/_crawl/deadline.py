"""When a crawl ends before it is done: its time is up, or it has received enough; and what is said
then. Time is an argument.
"""

import math
from dataclasses import dataclass
from typing import Final

from usp._crawl.traffic import CrawlTraffic
from usp.objects.outcome import Result
from usp.objects.problem import Problem

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


def reading_end(max_seconds: float | None, seconds: float) -> float:
    """Return when the reading of documents ends that a crawl has brought, in seconds of both.

    A crawl that took all of its time leaves a second to read what it found.

    :param seconds: how long the crawl took.
    """
    return math.inf if max_seconds is None else max(max_seconds, seconds + _LEAST_READING)


def time_limit(max_seconds: float | None) -> Problem:
    """Return the problem of a crawl, or of the reading after it, that took too long."""
    return Problem(*Deadline(max_seconds).limit.problem)


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
