"""Selection: which sitemaps and pages the caller wants, one frozen value.

Without options everything is selected. What is skipped is counted by its reason.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, Self

from usp._crawl.time_bounds import date_span
from usp._parse import Child
from usp._validate import argument_error, check_strings
from usp.exceptions import UsageError
from usp.objects.abstract_sitemap import HasProblems
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem

Patterns = str | re.Pattern[str] | Sequence[str | re.Pattern[str]]
"""One regular expression or several; each is searched for anywhere in a URL."""
Kinds = str | Iterable[str]
"""``news``, ``image``, ``video``, or several of them."""
Undated = Literal["keep", "drop"]

_KINDS: Final = {"image": "images", "news": "news_story", "video": "videos"}
"""The kinds of pages, and the field of a page that shows each."""
_EXPRESSIONS: Final = "a regular expression or several"


@dataclass(frozen=True, slots=True)
class Selection:
    """The sitemaps and pages that are wanted; see ``Policy`` for the fields."""

    since: datetime | None = None
    until: datetime | None = None
    undated: Undated = "keep"
    include: tuple[re.Pattern[str], ...] = ()
    exclude: tuple[re.Pattern[str], ...] = ()
    kind: tuple[str, ...] = ()
    include_sitemaps: tuple[re.Pattern[str], ...] = ()
    exclude_sitemaps: tuple[re.Pattern[str], ...] = ()
    trust_index_lastmod: bool = False

    @property
    def takes_every_page(self) -> bool:
        """Whether no page is skipped."""
        return not (self.since or self.until or self.include or self.exclude or self.kind)

    @property
    def takes_every_sitemap(self) -> bool:
        """Whether no sitemap is skipped."""
        by_lastmod = self.trust_index_lastmod and self.since
        return not (self.include_sitemaps or self.exclude_sitemaps or by_lastmod)

    def page_skip_reason(self, page: SitemapPage) -> SkipReason | None:
        """Return why a page is skipped; None if it is wanted."""
        if not _matches(page.url, self.include, self.exclude):
            return SkipReason.PAGE_PATTERN
        if self.kind and not any(getattr(page, _KINDS[kind]) for kind in self.kind):
            return SkipReason.PAGE_KIND
        if self.since is None and self.until is None:
            return None
        updated_at = page.updated_at
        if updated_at is None:
            return None if self.undated == "keep" else SkipReason.PAGE_UNDATED
        early = self.since is not None and updated_at < self.since
        late = self.until is not None and updated_at > self.until
        return SkipReason.PAGE_DATE if early or late else None

    def sitemap_skip_reason(self, child: Child, *, in_index: bool) -> SkipReason | None:
        """Return why a sitemap is not fetched; None if it is wanted.

        ``include_sitemaps`` applies to the children of an index: robots.txt and known paths are
        the way to them.
        """
        include = self.include_sitemaps if in_index else ()
        if not _matches(child.url, include, self.exclude_sitemaps):
            return SkipReason.SITEMAP_PATTERN
        if self.trust_index_lastmod and self.since and child.lastmod:
            span = date_span(child.lastmod)  # a bare date: any time of that day
            if span is not None and span[1] < self.since:
                return SkipReason.SITEMAP_LASTMOD
        return None

    def choose(
        self, pages: Iterable[SitemapPage], skipped: Counter[SkipReason] | None = None
    ) -> Iterator[SitemapPage]:
        """Yield the wanted pages, and count the others."""
        if self.takes_every_page:
            yield from pages
            return
        for page in pages:
            reason = self.page_skip_reason(page)
            if reason is None:
                yield page
            elif skipped is not None:
                skipped[reason] += 1


class SelectedPages:
    """The wanted pages of a document: selected anew each time they are walked."""

    def __init__(
        self,
        pages: Iterable[SitemapPage],
        selection: Selection,
        limit: int | None = None,
        *,
        count_to_next: bool = False,
    ) -> None:
        """Select pages, at most ``limit``.

        :param count_to_next: whether pages that are skipped behind the last one count as well, up
            to the next one that would be selected.
        """
        self._pages = pages
        self._selection = selection
        self._limit = limit
        self._count_to_next = count_to_next
        self._skipped: Counter[SkipReason] | None = None

    def __iter__(self) -> Iterator[SitemapPage]:
        return islice(self._selection.choose(self._pages), self._limit)

    @property
    def skipped(self) -> Counter[SkipReason]:
        """The number of skipped pages by reason; the first access reads the document."""
        if self._skipped is None:
            self._skipped = Counter()
            end = None if self._limit is None else self._limit + self._count_to_next
            for _ in islice(self._selection.choose(self._pages, self._skipped), end):
                pass
        return self._skipped

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems with the document."""
        return self._pages.problems if isinstance(self._pages, HasProblems) else ()

    @property
    def known_errors(self) -> tuple[Problem, ...]:
        """Why something of the document was lost, as far as it was read."""
        return getattr(self._pages, "known_errors", ())

    @property
    def complete(self) -> bool:
        """Whether nothing of the document was lost."""
        return self._pages.complete if isinstance(self._pages, HasProblems) else True

    @property
    def document_bytes(self) -> int | None:
        """The size of the document, decompressed."""
        return self._pages.document_bytes if isinstance(self._pages, HasProblems) else None

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "pages": self._pages,
            "limit": self._limit,
            "count_to_next": self._count_to_next,
            "selection": {f.name: getattr(self._selection, f.name) for f in fields(Selection)},
        }
        return restore_selected_pages, (state,)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the selected pages that were pickled; fields that are unknown are ignored."""
        known = {field.name for field in fields(Selection)}
        selection = Selection(**{k: v for k, v in state["selection"].items() if k in known})
        return cls(state["pages"], selection, state["limit"], count_to_next=state["count_to_next"])


def restore_selected_pages(state: dict[str, Any]) -> SelectedPages:
    """Return the selected pages of a pickled sitemap."""
    return SelectedPages.from_state(state)


# Pickles name this function by the path of the package, which is kept.
restore_selected_pages.__module__ = "usp._crawl"


def parse_patterns(name: str, given: Patterns) -> tuple[re.Pattern[str], ...]:
    """Return one regular expression or several, compiled."""
    several = (given,) if isinstance(given, str | re.Pattern) else given
    if not isinstance(several, Iterable):
        raise argument_error(name, _EXPRESSIONS, given)
    return tuple(_compile(name, pattern) for pattern in several)


def _compile(name: str, given: object) -> re.Pattern[str]:
    written = given.pattern if isinstance(given, re.Pattern) else given
    if not isinstance(written, str):  # one of bytes never matches a URL, which is a str
        raise argument_error(name, _EXPRESSIONS, given)
    try:
        return re.compile(given)  # type: ignore[call-overload,no-any-return]  # checked above
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{name} must be {_EXPRESSIONS}: {error}.") from error


def parse_kind(given: Kinds) -> tuple[str, ...]:
    """Return the kinds of pages that are wanted."""
    several = [given] if isinstance(given, str) else check_strings("kind", given)
    for kind in several:
        if kind not in _KINDS:
            raise argument_error("kind", f"among {', '.join(_KINDS)}", kind)
    return tuple(several)


def _matches(
    url: str, include: tuple[re.Pattern[str], ...], exclude: tuple[re.Pattern[str], ...]
) -> bool:
    if include and not any(pattern.search(url) for pattern in include):
        return False
    return not any(pattern.search(url) for pattern in exclude)
