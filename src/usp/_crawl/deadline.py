"""The deadline of a crawl: when its time is up, and what is said then. Time is an argument."""

from typing import Final

TIME_LIMIT: Final = "SM705"


class Deadline:
    """When a crawl ends, by the clock of its driver."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.at: float | None = None
        """The time at which it ends; None if it has no limit, or has not begun."""

    @property
    def problem(self) -> tuple[str, str]:
        """The code and the message of the problem."""
        return TIME_LIMIT, f"The crawl took more than {self._seconds} seconds"

    def has_passed(self, now: float) -> bool:
        """Tell whether the time is up; the clock starts when this is first asked."""
        if self.at is None and self._seconds is not None:
            self.at = now + self._seconds
        return self.at is not None and now >= self.at
