"""When a crawl ends before it is done: its time is up, or it has received enough; and what is said
then. Time is an argument.
"""

from typing import Final

from usp._crawl.traffic import CrawlTraffic

TIME_LIMIT: Final = "SM705"
_BYTE_LIMIT: Final = "SM707"


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
    def problem(self) -> tuple[str, str]:
        """The code and the message of the problem."""
        if self._has_enough:
            return _BYTE_LIMIT, f"The crawl received more than {self._max_bytes:,} bytes"
        return TIME_LIMIT, f"The crawl took more than {self._seconds} seconds"

    @property
    def _has_enough(self) -> bool:
        return self._max_bytes is not None and self._traffic.bytes_received >= self._max_bytes

    def has_passed(self, now: float) -> bool:
        """Tell whether the crawl ends; the clock starts when this is first asked."""
        if self.at is None and self._seconds is not None:
            self.at = now + self._seconds
        return self._has_enough or (self.at is not None and now >= self.at)
