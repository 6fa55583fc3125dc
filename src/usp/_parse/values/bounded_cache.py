"""What texts mean that come again and again: a priority, a language, a date without a time.

What is bounded_cache stays for as long as the process runs. Long texts say nothing that comes again,
and a site may write as many as it likes: they are read and forgotten.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

Read = TypeVar("Read")

LONGEST: Final = 256
"""Longer texts aren't bounded_cache."""


def bounded_cache(most: int) -> Callable[[Callable[[str], Read]], Callable[[str], Read]]:
    """Have a function of a text remember what it made of so many short ones."""

    def remembering(read: Callable[[str], Read]) -> Callable[[str], Read]:
        known = lru_cache(maxsize=most)(read)

        @wraps(read)
        def look_up(text: str) -> Read:
            return known(text) if len(text) <= LONGEST else read(text)

        return look_up

    return remembering
