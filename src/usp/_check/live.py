"""Live pages: how many are requested, which of the listed ones, and what they say about all.

``live_run`` requests them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from usp._check.facts import MAX_SHARING, EntryFacts
from usp._check.findings import Occurrence
from usp._check.registry import SiteRule
from usp._check.samples import (
    PageEntry,
    PageSample,
    SampleSize,
    page_sample,
    sample_number,
    wilson_interval,
)
from usp._lazy import lazy_property
from usp.web_client.abstract_aio_client import AbstractAioWebClient

_MEDIA: Final = ("image:loc", "video:thumbnail_loc", "video:content_loc")
_MAX_MEDIA: Final = 20
"""How many images and videos of one page are requested."""
_PAGE_CODES: Final = (
    *("SM901", "SM902", "SM903", "SM904", "SM905"),
    *("SM907", "SM908", "SM909", "SM910"),
)
"""The codes of which a sample says how many pages of the site have them."""

MakeAioClient = Callable[[], AbstractAioWebClient]


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How live pages are checked."""

    size: SampleSize
    seed: int
    make_client: MakeAioClient


@dataclass(frozen=True, slots=True)
class LiveEstimate:
    """How many pages of the site have a fault, by what a sample says."""

    code: str
    found: int
    """The pages of the sample that have it."""
    low: float
    """The least share of all pages, with a probability of 95 %."""
    high: float
    """The largest share."""


@dataclass(frozen=True, slots=True)
class LiveSummary:
    """What was requested, and what it says about all pages."""

    listed: int
    """The pages that the sitemaps list."""
    requested: int
    """The pages of the sample."""
    verified: int
    """Those of which something is known."""
    seed: int
    estimates: tuple[LiveEstimate, ...]
    """One for each rule about pages, those without a finding included."""


class ListedPages:
    """What rules about pages need to know of the pages of an entry."""

    def __init__(self, facts: EntryFacts) -> None:
        self._facts = facts
        self._sharing = frozenset(facts.entry.urls[:MAX_SHARING])

    @lazy_property
    def _lastmod(self) -> str:
        return next((text.strip() for text in self._facts.entry.raw("lastmod")), "")

    @lazy_property
    def _media(self) -> tuple[str, ...]:
        entry = self._facts.entry
        media = () if entry.is_plain else (url for key in _MEDIA for url in entry.texts(key))
        return tuple(dict.fromkeys(filter(None, media)))[:_MAX_MEDIA]

    def page(self, url: str) -> PageEntry:
        """Return the page at one of the URLs of the entry."""
        facts, entry = self._facts, self._facts.entry
        alternates = facts.alternates if url in self._sharing else ()
        place = facts.sitemap.url, url, entry.line, entry.offset
        return PageEntry(*place, self._lastmod, alternates, self._media)


def estimates(
    found: Mapping[str, int], *, verified: int, is_exact: bool
) -> tuple[LiveEstimate, ...]:
    """Return what a sample says about all pages.

    :param is_exact: whether the sample is all of them.
    """
    made = []
    for code in _PAGE_CODES:
        count = found.get(code, 0)
        share = count / verified if verified else 0.0
        low, high = (share, share) if is_exact else wilson_interval(count, verified)
        made.append(LiveEstimate(code, count, low, high))
    return tuple(made)


class SampledPages(SiteRule):
    """Chooses the sample while sitemaps are read."""

    def __init__(self, live: LiveOptions) -> None:
        self.sample: PageSample = page_sample(live.size, live.seed)

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Choose among the pages of an entry."""
        if not facts.entry.repeated:
            pages = ListedPages(facts)
            for url in facts.entry.urls:
                if self.sample.wants(url):
                    self.sample.add(pages.page(url))
        return ()

    def close(self) -> None:
        """Remove temporary files."""
        self.sample.close()


def sampled_removed(
    removed: Iterable[PageEntry], size: SampleSize, seed: int
) -> Iterator[PageEntry]:
    """Yield the removed pages that are requested: a sample, if that of listed pages is one."""
    if size.count is None:
        bound = size.share * 2**64
        return (page for page in removed if sample_number(seed, page.url) < bound)
    chosen = page_sample(size, seed)
    for page in removed:
        if chosen.wants(page.url):
            chosen.add(page)
    return iter(chosen)
