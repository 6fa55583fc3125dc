"""The time of a crawl: whoever reads or parses for it asks whether to go on."""

import time
from typing import Final

from usp._crawl.core import Crawl

GRACE_SECONDS: Final = 0.5
"""For so long after its time is up, a crawl reads the pages of documents that arrived."""


class TimeLimit:
    """Tells whether a crawl is over: its time is up, or it was cancelled. Any thread may ask."""

    def __init__(self, crawl: Crawl, grace: float = 0.0) -> None:
        self._crawl = crawl
        self._grace = grace
        self._cancelled = False

    def __call__(self) -> bool:
        """Tell whether the crawl is over."""
        return self._is_over(self._grace)

    def for_pages(self) -> bool:
        """Tell whether there is no time for pages of documents that arrived, either."""
        return self._is_over(GRACE_SECONDS)

    def _is_over(self, grace: float) -> bool:
        deadline = self._crawl._deadline.at
        is_up = deadline is not None and time.monotonic() >= deadline + grace
        return is_up or self._cancelled

    def cancel(self) -> None:
        """End what reads and parses for the crawl, at its next part."""
        self._cancelled = True
