"""Selection: which sitemaps and pages the caller wants, one frozen value.

Without options everything is selected. What is skipped is counted by its reason.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Final, Literal

from usp._crawl.time_bounds import date_span
from usp._parse import Child, PageColumns, timestamp
from usp._validate import argument_error, check_strings
from usp.exceptions import UsageError
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage

Patterns = str | re.Pattern[str] | Sequence[str | re.Pattern[str]]
"""One regular expression or several; each is searched for anywhere in a URL."""
Kinds = str | Iterable[str]
"""``news``, ``image``, ``video``, or several of them."""
Undated = Literal["keep", "drop"]

_KINDS: Final = {"image": "images", "news": "news_story", "video": "videos"}
"""The kinds of pages, and the field of a page that shows each."""
_KIND_COLUMNS: Final = {"image": "images", "news": "is_news", "video": "videos"}
"""The same for the columns of a page."""
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
        if not matches_patterns(page.url, self.include, self.exclude):
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

    @property
    def columns(self) -> frozenset[str]:
        """The columns, beside the URL, that decide which pages are wanted."""
        dates = {"updated_at"} if self.since or self.until else set()
        return frozenset(dates.union(_KIND_COLUMNS[kind] for kind in self.kind))

    def skip_reasons(self, columns: PageColumns) -> list[SkipReason | None]:
        """Return why each page is skipped, given its columns; None if it is wanted."""
        kinds = [columns[_KIND_COLUMNS[kind]] for kind in self.kind]
        dates = columns["updated_at"] if self.since or self.until else None
        since, until = timestamp(self.since), timestamp(self.until)
        undated = None if self.undated == "keep" else SkipReason.PAGE_UNDATED

        def reason(row: int, url: str) -> SkipReason | None:
            if not matches_patterns(url, self.include, self.exclude):
                return SkipReason.PAGE_PATTERN
            if kinds and not any(has[row] for has in kinds):
                return SkipReason.PAGE_KIND
            if dates is None:
                return None
            updated_at = dates[row]
            if updated_at is None:
                return undated
            early = since is not None and updated_at < since
            late = until is not None and updated_at > until
            return SkipReason.PAGE_DATE if early or late else None

        return list(map(reason, count(), columns["url"]))

    def sitemap_skip_reason(self, child: Child, *, in_index: bool) -> SkipReason | None:
        """Return why a sitemap is not fetched; None if it is wanted.

        ``include_sitemaps`` applies to the children of an index: robots.txt and known paths are
        the way to them.
        """
        include = self.include_sitemaps if in_index else ()
        if not matches_patterns(child.url, include, self.exclude_sitemaps):
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


def matches_patterns(
    url: str, include: Sequence[re.Pattern[str]], exclude: Sequence[re.Pattern[str]]
) -> bool:
    """Tell whether a URL matches some pattern to include, if there is one, and none to exclude."""
    if include and not any(pattern.search(url) for pattern in include):
        return False
    return not any(pattern.search(url) for pattern in exclude)
