"""Caches for what documents repeat, bounded in entries and in their length.

Documents repeat short texts: a priority, a language, a date without a time. Caches live as long as
a check or the process, and a site may send any number of long texts, so those are not cached.
"""

from collections.abc import Callable, Hashable, Sized
from functools import lru_cache, wraps
from typing import Any, Final, Protocol, TypeVar


class SizedKey(Hashable, Sized, Protocol):
    """What can be a key: a text, or a tuple."""


Key = TypeVar("Key")
Given = TypeVar("Given", bound=SizedKey)
Value = TypeVar("Value")

MAX_CACHED_LENGTH: Final = 256
"""Longer texts are not cached."""


def keep(known: dict[Key, Value], key: Key, value: Value, limit: int) -> None:
    """Remember a value; what is full is emptied, for the documents that follow."""
    if len(known) >= limit:
        known.clear()
    known[key] = value


class BoundedLookup(dict[str, Value]):
    """Values by text: ``lookup[text]`` finds what is not known, and keeps that of a short text.

    It is quicker than a ``bounded_cache``, for what is asked about every URL.
    """

    def __init__(
        self, find: Callable[[str], Value], max_entries: int, max_length: int = MAX_CACHED_LENGTH
    ) -> None:
        super().__init__()
        self._find = find
        self._max_entries = max_entries
        self._max_length = max_length

    def __missing__(self, text: str) -> Value:
        value = self._find(text)
        if len(text) <= self._max_length:
            keep(self, text, value, self._max_entries)
        return value


def bounded_cache(
    max_entries: int,
    max_length: int = MAX_CACHED_LENGTH,
    *,
    length: Callable[[Any], int] = len,
) -> Callable[[Callable[[Given], Value]], Callable[[Given], Value]]:
    """Decorate a function of a text, or of a tuple, to cache its results for short ones.

    :param length: measures what is given, where the number of items would not do.
    """

    def decorate(function: Callable[[Given], Value]) -> Callable[[Given], Value]:
        cached = lru_cache(maxsize=max_entries)(function)

        @wraps(function)
        def look_up(given: Given) -> Value:
            return cached(given) if length(given) <= max_length else function(given)

        return look_up

    return decorate
