"""The one place where a crawl throws dice: to vary pauses, so that requests don't march in step."""

import random


def chance() -> float:
    """Return a number from 0 to 1."""
    return random.random()  # noqa: S311 -- no secret
