"""The URLs that a document has listed so far: of two that are equal, the second is left out."""

from collections.abc import Sequence
from typing import Final

_MOST: Final = 500_000
"""So many are bounded_cache. The protocol allows 50,000 a document; one that lists more may repeat
itself, but not fill memory."""


class Deduplicator:
    """The URLs of one document so far."""

    def __init__(self) -> None:
        self._urls: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._urls)

    def take(self, url: str) -> bool:
        """Take note of a URL; tell whether it is new."""
        if url in self._urls:
            return False
        if len(self._urls) < _MOST:
            self._urls.add(url)
        return True

    def take_all(self, urls: Sequence[str]) -> bool:
        """Take note of these URLs if they are all new; tell whether they are."""
        seen, before = self._urls, len(self._urls)
        if before + len(urls) > _MOST or not seen.isdisjoint(urls):
            return False
        seen.update(urls)
        if len(seen) < before + len(urls):  # some are twice among them
            seen.difference_update(urls)
            return False
        return True
