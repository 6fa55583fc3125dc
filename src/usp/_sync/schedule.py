"""When a sitemap is due: the more often it changed, the sooner it is read again.

Feed readers do the same: after a change the interval is halved, without one it grows by half. So it
settles at about a third of the time between two changes.
"""

from typing import Final

_SECOND: Final = 1_000_000
FIRST: Final = 3600 * _SECOND
"""The first interval, in microseconds."""
SHORTEST: Final = 600 * _SECOND
LONGEST: Final = 7 * 24 * 3600 * _SECOND
_EARLY: Final = 30 * _SECOND
"""So much before its time a sitemap is due as well: a job that runs every ten minutes is never
quite punctual."""


def next_interval(interval: int, *, changed: bool) -> int:
    """Return the time until a sitemap is due again, given the last one; 0 if there was none."""
    if not interval:
        return FIRST
    longer = interval // 2 if changed else interval * 3 // 2
    return min(max(longer, SHORTEST), LONGEST)


def is_due(now: int, fetched_at: int | None, interval: int) -> bool:
    """Tell whether a sitemap is due that was read at this time.

    One that was read in the future is: the clock was wrong then, or is now.
    """
    return fetched_at is None or now < fetched_at or now >= fetched_at + interval - _EARLY
