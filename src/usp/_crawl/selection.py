"""Which sitemaps and pages are wanted: one frozen value, judged one sitemap or page at a time.

What isn't said chooses everything. What is left out is counted, by its reason.
"""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import islice
from typing import Final

from usp._parse import Child, parse_date
from usp._validate import argument_error, check_strings
from usp.exceptions import SitemapException
from usp.objects.abstract_sitemap import Checked
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage, as_utc
from usp.objects.problem import Problem

Moment = datetime | date | str
"""A date means the whole day, in UTC; so does a text like ``2026-01-31``, and ``2026`` the year."""
Patterns = str | re.Pattern[str] | Sequence[str | re.Pattern[str]]
"""One regular expression or several, any of which may be found anywhere in a URL."""
Kinds = str | Iterable[str]

_KINDS: Final = {"image": "images", "news": "news_story", "video": "videos"}
"""What a page can be wanted for, and the field that says so."""
_EXPRESSIONS: Final = "regular expressions"
_BARE_DATE: Final = re.compile(r"\s*\d{4}(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?\s*")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted of a site."""

    since: datetime | None = None
    until: datetime | None = None
    undated: bool = True
    include: tuple[re.Pattern[str], ...] = ()
    exclude: tuple[re.Pattern[str], ...] = ()
    kind: tuple[str, ...] = ()
    include_sitemaps: tuple[re.Pattern[str], ...] = ()
    exclude_sitemaps: tuple[re.Pattern[str], ...] = ()
    trust_index_lastmod: bool = False

    @property
    def takes_every_page(self) -> bool:
        """Whether no page is left out."""
        return not (self.since or self.until or self.include or self.exclude or self.kind)

    def refuses_page(self, page: SitemapPage) -> SkipReason | None:
        """Return why a page isn't wanted; None if it is."""
        if not _passes(page.url, self.include, self.exclude):
            return SkipReason.PAGE_PATTERN
        if self.kind and not any(getattr(page, _KINDS[kind]) for kind in self.kind):
            return SkipReason.PAGE_KIND
        if self.since is None and self.until is None:
            return None
        when = page.updated_at
        if when is None:
            return None if self.undated else SkipReason.PAGE_UNDATED
        early = self.since is not None and when < self.since
        late = self.until is not None and when > self.until
        return SkipReason.PAGE_DATE if early or late else None

    def refuses_sitemap(self, child: Child, *, of_index: bool) -> SkipReason | None:
        """Return why a sitemap isn't asked for; None if it is.

        Patterns to include are for the children of an index: robots.txt and known paths are the
        way to them.
        """
        if not _passes(child.url, self.include_sitemaps if of_index else (), self.exclude_sitemaps):
            return SkipReason.SITEMAP_PATTERN
        if self.trust_index_lastmod and self.since and child.lastmod:
            changed = _span(child.lastmod)  # a bare date: at any time of that day
            if changed is not None and changed[1] < self.since:
                return SkipReason.SITEMAP_LASTMOD
        return None

    def choose(
        self, pages: Iterable[SitemapPage], skipped: Counter[SkipReason] | None = None
    ) -> Iterator[SitemapPage]:
        """Yield the pages that are wanted, and count the others."""
        if self.takes_every_page:
            yield from pages
            return
        for page in pages:
            reason = self.refuses_page(page)
            if reason is None:
                yield page
            elif skipped is not None:
                skipped[reason] += 1


class Selected:
    """The pages of a document that are wanted: chosen anew each time they are walked."""

    def __init__(
        self,
        pages: Iterable[SitemapPage],
        selection: Selection,
        first: int | None = None,
        *,
        up_to_next: bool = False,
    ) -> None:
        """Choose pages, at most so many.

        :param up_to_next: whether those that are left out behind the last of them count, too, up to
            the next that would be chosen.
        """
        self._pages = pages
        self._selection = selection
        self._first = first
        self._up_to_next = up_to_next
        self._skipped: Counter[SkipReason] | None = None

    def __iter__(self) -> Iterator[SitemapPage]:
        return islice(self._selection.choose(self._pages), self._first)

    @property
    def skipped(self) -> Counter[SkipReason]:
        """How many pages were left out, by reason; asking reads the document, the first time."""
        if self._skipped is None:
            self._skipped = Counter()
            end = None if self._first is None else self._first + self._up_to_next
            for _ in islice(self._selection.choose(self._pages, self._skipped), end):
                pass
        return self._skipped

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the document."""
        return self._pages.problems if isinstance(self._pages, Checked) else ()

    @property
    def complete(self) -> bool:
        """Whether nothing of the document was lost."""
        return self._pages.complete if isinstance(self._pages, Checked) else True

    def __reduce__(self) -> tuple[object, ...]:
        chosen = {name: getattr(self._selection, name) for name in Selection.__slots__}
        return restore_selected, (self._pages, self._first, chosen, self._up_to_next)


def restore_selected(
    pages: Iterable[SitemapPage],
    first: int | None,
    chosen: dict[str, object],
    up_to_next: bool = False,
) -> Selected:
    """Bring back the chosen pages of a pickled sitemap."""
    selection = Selection(**chosen)  # type: ignore[arg-type]  # as they were
    return Selected(pages, selection, first, up_to_next=up_to_next)


# Pickles name this function; the public path is the one that stays.
restore_selected.__module__ = "usp"


def moment(name: str, given: Moment | None, *, last: bool) -> datetime | None:
    """Read a bound: the first moment of a day, or its last."""
    if isinstance(given, date) and not isinstance(given, datetime):
        given = given.isoformat()
    if isinstance(given, str):
        first_and_last = _span(given)
        if first_and_last is None:
            raise argument_error(name, "a date", given)
        return first_and_last[last]
    if given is None or isinstance(given, datetime):
        return as_utc(given)
    raise argument_error(name, "a date", given)


def _span(text: str) -> tuple[datetime, datetime] | None:
    """Return the first and the last moment that a text may mean; None if it is no date."""
    first = as_utc(parse_date(text))
    if first is None:
        return None
    bare = _BARE_DATE.fullmatch(text)
    if bare is None:
        return first, first
    month = first.month if bare["month"] else 12
    day = first.day if bare["day"] else monthrange(first.year, month)[1]
    return first, datetime.combine(date(first.year, month, day), time.max, UTC)


def patterns(name: str, given: Patterns) -> tuple[re.Pattern[str], ...]:
    """Read one regular expression or several."""
    several = (given,) if isinstance(given, str | re.Pattern) else given
    if not isinstance(several, Iterable):
        raise argument_error(name, _EXPRESSIONS, given)
    return tuple(_pattern(name, pattern) for pattern in several)


def _pattern(name: str, given: object) -> re.Pattern[str]:
    written = given.pattern if isinstance(given, re.Pattern) else given
    if not isinstance(written, str):  # one of bytes finds nothing in a URL, which is a text
        raise argument_error(name, _EXPRESSIONS, given)
    try:
        return re.compile(given)  # type: ignore[call-overload,no-any-return]  # looked at above
    except (re.error, OverflowError, RecursionError) as error:
        raise SitemapException(f"{name} must be regular expressions: {error}.") from error


def parse_kind(given: Kinds) -> tuple[str, ...]:
    """Read what kinds of pages are wanted."""
    several = [given] if isinstance(given, str) else check_strings("kind", given)
    for kind in several:
        if kind not in _KINDS:
            raise argument_error("kind", f"among {', '.join(_KINDS)}", kind)
    return tuple(several)


def _passes(
    url: str, include: tuple[re.Pattern[str], ...], exclude: tuple[re.Pattern[str], ...]
) -> bool:
    if include and not any(pattern.search(url) for pattern in include):
        return False
    return not any(pattern.search(url) for pattern in exclude)
