"""A cache for functions of a text, bounded in entries and in their length.

Documents repeat short texts: a priority, a language, a date without a time. The cache lives as long
as the process, and a site may send any number of long texts, so those are not cached.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_CACHED_LENGTH: Final = 256
"""Longer texts are not cached."""


def keep(known: dict[Key, Value], key: Key, value: Value, limit: int) -> None:
    """Remember a value; what is full is emptied, for the documents that follow."""
    if len(known) >= limit:
        known.clear()
    known[key] = value


def bounded_cache(max_entries: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Decorate a function of a text to cache its results for short texts."""

    def decorate(function: Callable[[str], Value]) -> Callable[[str], Value]:
        cached = lru_cache(maxsize=max_entries)(function)

        @wraps(function)
        def look_up(text: str) -> Value:
            return cached(text) if len(text) <= MAX_CACHED_LENGTH else function(text)

        return look_up

    return decorate
