"""Deduplication of the URLs of one document: of equal URLs, only the first is listed."""

from collections.abc import Iterable, Sequence
from typing import Final

_MAX_URLS: Final = 500_000
"""How many URLs are remembered. The protocol allows 50,000 per document; one that lists more may
contain duplicates, but must not fill memory."""
LONG: Final = 256
"""How many characters a URL has at most that is kept as it is, where relative ones are resolved."""

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

    def __init__(self, *, resolved: bool = True) -> None:
        """Start a document.

        :param resolved: whether relative URLs may become long ones: of those, a digest is kept, so
            that the memory is in line with what is written. To look for them takes a while.
        """
        self._urls: set[str | bytes] = set()
        self._resolved = resolved

    def __bool__(self) -> bool:
        return bool(self._urls)

    def add(self, url: str) -> bool:
        """Remember a URL; tell whether it is new."""
        known = _digest(url) if self._resolved and len(url) > LONG else url
        if known in self._urls:
            return False
        if len(self._urls) < _MAX_URLS:
            self._urls.add(known)
        return True

    def add_all(self, urls: Sequence[str]) -> bool:
        """Remember these URLs if all of them are new; tell whether they are."""
        seen, before = self._urls, len(self._urls)
        added: Iterable[str | bytes] = urls
        if self._resolved:
            added = [_digest(url) if len(url) > LONG else url for url in urls]
        if before + len(urls) > _MAX_URLS or not seen.isdisjoint(added):
            return False
        seen.update(added)
        if len(seen) < before + len(urls):  # there are duplicates among them
            seen.difference_update(added)
            return False
        return True


def _digest(url: str) -> bytes:
    from hashlib import blake2b  # few documents have such URLs

    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()
