"""The sitemaps that a document lists: those that are wanted, up to a limit; others are counted.

A document may list millions. Only as many as a crawl can fetch become objects.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from usp._parse.formats.field_reader import first
from usp._parse.pages import CHILD
from usp._parse.pattern.layout import EntryRun, iter_entries
from usp._parse.values.deduplicate import REPLACED, Deduplicator
from usp._parse.values.urls import resolve_url, split_userinfo
from usp._parse.xml.entry_builder import Entry
from usp.objects.outcome import SkipReason

_HEAD: Final = 4 * 1024
_LONGEST_TAG: Final = 64
_CHILD: Final = b"itemap"
"""``sitemap``, or ``Sitemap`` as some libraries for XML write it."""
_CHILD_IN_CAPITALS: Final = b"ITEMAP"
_MAY_BE_NAME: Final = frozenset(
    before + first for before in (b"<", b":", b" ", b"\t", b"\r", b"\n") for first in (b"s", b"S")
)
"""The first letter of the name, and what stands before it if it is one."""
_BEFORE_NAME: Final = re.compile(
    # Also the end of a prefix that is longer than what is looked at.
    rb"<\s{0,9}+(?:%(prefix)s)?\Z|\A%(prefix)s\Z" % {b"prefix": rb"[^\s<>/\"'=&?!]*+(?<=:)"}
)
_AFTER_NAME: Final = re.compile(rb"[^\w.:\x80-\xff-]")
_CAPITALS: Final = re.compile(rb"</?[A-Z]")


@dataclass(frozen=True, slots=True)
class Child:
    """A sitemap that a document lists."""

    url: str
    lastmod: str | None = None
    """The ``<lastmod>`` in the index, as written."""
    is_feed: bool = False
    """Whether a homepage names it as a feed."""
    userinfo: str = field(default="", repr=False)
    """The user and password of its URL, as they are written there; the URL has none."""


class SkipRule(Protocol):
    """Returns why a child is skipped; None if it is wanted."""

    def __call__(self, child: Child, *, in_index: bool) -> SkipReason | None: ...


@dataclass(frozen=True, slots=True)
class ChildSelection:
    """Which of the sitemaps that a document lists are kept."""

    limit: int | None = None
    """The number of those that are kept; further ones are counted."""
    skip_reason: SkipRule | None = None


EVERY_CHILD: Final = ChildSelection()


class Children:
    """Collects the sitemaps that a document lists, each once, in their order."""

    def __init__(self, selection: ChildSelection = EVERY_CHILD, *, in_index: bool = True) -> None:
        self._selection = selection
        self._in_index = in_index
        self._kept: dict[str, Child] = {}
        self._skipped_urls = Deduplicator()
        self.skipped: Counter[SkipReason] = Counter()
        """The number of those that were skipped before the limit, by reason."""
        self.more = 0
        """The number of those beyond the limit; they are not compared with one another."""
        self.unclear: str | None = None
        """One that may be another than an earlier one: bytes of both were replaced."""

    @property
    def kept(self) -> tuple[Child, ...]:
        """The children that are wanted."""
        return tuple(self._kept.values())

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self._selection.limit is not None and len(self._kept) >= self._selection.limit

    def add(self, url: str, lastmod: str | None = None, *, is_feed: bool = False) -> None:
        """Add a child, unless it is known, skipped or beyond the limit."""
        url, userinfo = split_userinfo(url)
        if self.is_full:
            self.more += url not in self._kept
            return
        if not url or url in self._kept:
            self.unclear = url if REPLACED in url else self.unclear
            return
        child = Child(url, lastmod, is_feed, userinfo)
        rule = self._selection.skip_reason
        reason = rule(child, in_index=self._in_index) if rule else None
        if reason is None:
            self._kept[url] = child
        elif self._skipped_urls.add(url):
            self.skipped[reason] += 1

    def collected(
        self, entries: Iterable[Entry | EntryRun], base: str | None
    ) -> Iterator[Entry | EntryRun]:
        """Yield the entries of an index, and add the sitemaps that they name."""
        for piece in entries:
            self.add_entries(iter_entries([piece]), base)
            yield piece

    def add_entries(self, entries: Iterable[Entry], base: str | None) -> None:
        """Add the sitemaps that the entries of an index name."""
        for name, record, _ in entries:
            if name != CHILD:
                continue
            lastmod = first(record, "lastmod") or None
            for key, text in record:
                if key == "loc":
                    self.add(resolve_url(text, base, keep_userinfo=True), lastmod)


def children_of_entries(entries: Iterable[Entry], base: str | None) -> tuple[Child, ...]:
    """Return the sitemaps that the entries name, each once, in their order."""
    children = Children()
    children.add_entries(entries, base)
    return children.kept


def names_children(chunks: Iterable[bytes]) -> bool:
    """Tell whether anything in a document looks like the entry of an index.

    The words in capitals are looked for everywhere, and those in mixed case in a document that
    begins with capitals in tags: to look for them takes longer than all the rest. What is not
    found here and turns out to be such an entry is a loss that is reported (``inspection``).
    """
    tail = b""
    fold: Callable[[bytes], bytes] | None = None
    for chunk in chunks:
        if fold is None and chunk:
            fold = bytes.lower if _CAPITALS.search(chunk, 0, _HEAD) else bytes
        text = tail + (fold(chunk) if fold else chunk)
        if _has_child_tag(text, _CHILD):
            return True
        # One byte is found much faster than a word, and few documents contain both of these.
        has_capitals = b"P" in text and b"I" in text
        if has_capitals and _has_child_tag(text, _CHILD_IN_CAPITALS):
            return True
        tail = text[-2 * _LONGEST_TAG :]
    return False


def _has_child_tag(text: bytes, word: bytes) -> bool:
    """Tell whether there is a start tag of an index's entry; the word alone is found quickly.

    From the end: in CPython that takes a third of the time.
    """
    at = text.rfind(word)
    while at >= 0:
        if text[at - 2 : at] in _MAY_BE_NAME:  # at the start, it is not: a slice of nothing
            is_name = _AFTER_NAME.match(text, at + len(word)) is not None
            if is_name and _BEFORE_NAME.search(text[max(at - 1 - _LONGEST_TAG, 0) : at - 1]):
                return True
        at = text.rfind(word, 0, at)
    return False
