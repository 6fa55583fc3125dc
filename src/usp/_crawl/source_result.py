"""What came of a source as a whole, and whether it is worth a file; not how to tell it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from usp.objects.outcome import Outcome

COMPLETE: Final = frozenset({Outcome.FOUND, Outcome.NONE})
"""The outcomes of crawls of which nothing is known to be missing."""
UNANSWERED: Final = frozenset({Outcome.BLOCKED, Outcome.UNREACHABLE})
"""The outcomes of crawls that don't say what a site has."""


class SourceResult(NamedTuple):
    """What came of a source."""

    outcome: Outcome
    failed: int
    """The declared sitemaps that could not be read."""
    has_skipped: bool = False
    """Whether there were pages, or sitemaps, of which none was chosen."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.outcome in COMPLETE

    @property
    def is_answered(self) -> bool:
        """Whether it says what a source has that gave no pages.

        What is named or declared as a sitemap, and is none, says nothing: it may be a login page.
        Nor does an index whose sitemaps could not be read.
        """
        if self.outcome is Outcome.NONE:
            return not self.failed
        if self.outcome is Outcome.PARTIAL:
            return self.has_skipped
        return self.outcome not in UNANSWERED


def is_worth_keeping(results: Iterable[SourceResult], pages: int | None) -> bool:
    """Tell whether an output is kept: not if no source could be read, and so it has no pages.

    The one of yesterday is better than an empty one.

    :param pages: how many it has; None if it is about something else.
    """
    return pages != 0 or any(result.is_answered for result in results)
