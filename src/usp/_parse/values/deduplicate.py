"""Deduplication of the URLs of one document: of equal URLs, only the first is listed."""

from collections.abc import Sequence
from typing import Final

_MAX_URLS: Final = 500_000
"""How many URLs are remembered. The protocol allows 50,000 per document; one that lists more may
contain duplicates, but must not fill memory."""

REPLACED: Final = "\ufffd"
"""What stands for bytes that could not be decoded."""


def repeated_problem(url: str) -> tuple[str, str]:
    """Return the problem with a URL that an earlier entry has: its code and a message.

    With bytes that were replaced, it may be another URL, which is lost: two Cyrillic words are one.
    """
    shown = repr(url[:200])
    if REPLACED in url:
        return "SM209", f"URL {shown} has bytes that can't be decoded, and is like an earlier one"
    return "SM305", f"URL {shown} is listed again"


class Deduplicator:
    """The URLs of one document so far."""

    def __init__(self) -> None:
        self._urls: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._urls)

    def add(self, url: str) -> bool:
        """Remember a URL; tell whether it is new."""
        if url in self._urls:
            return False
        if len(self._urls) < _MAX_URLS:
            self._urls.add(url)
        return True

    def add_all(self, urls: Sequence[str]) -> bool:
        """Remember these URLs if all of them are new; tell whether they are."""
        seen, before = self._urls, len(self._urls)
        if before + len(urls) > _MAX_URLS or not seen.isdisjoint(urls):
            return False
        seen.update(urls)
        if len(seen) < before + len(urls):  # there are duplicates among them
            seen.difference_update(urls)
            return False
        return True
