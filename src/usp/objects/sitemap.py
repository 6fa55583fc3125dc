"""The classes of sitemaps in the tree.

::

    AbstractSitemap
     ├ InvalidSitemap              could not be fetched or parsed; has the reason
     ├ SitemapLink                 listed by a document that was parsed without fetching
     ├ AbstractPagesSitemap        lists pages
     │  ├ PagesXMLSitemap, PagesTextSitemap
     │  └ PagesRSSSitemap, PagesAtomSitemap, PagesJSONFeedSitemap
     └ AbstractIndexSitemap        lists other sitemaps
        ├ IndexWebsiteSitemap      the root that stands for the site as a whole
        └ IndexXMLSitemap, IndexRobotsTxtSitemap

A sitemap holds any re-iterable of pages: a list, or a stored document that is parsed anew each
time. So iterating over a tree never holds more than one chunk of one sitemap.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar, Final

from usp._display import redact, shown
from usp.objects.abstract_sitemap import AbstractSitemap, HasProblems, HasSkipped
from usp.objects.fetch_info import Provenance
from usp.objects.outcome import Attempt, CrawlFacts, Outcome, SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import NOT_EXPANDED, Problem, listed_problems
from usp.objects.robots import RobotsSource, RobotsVerdict

__all__ = [
    "AbstractIndexSitemap",
    "AbstractPagesSitemap",
    "AbstractSitemap",
    "IndexRobotsTxtSitemap",
    "IndexWebsiteSitemap",
    "IndexXMLSitemap",
    "InvalidSitemap",
    "PagesAtomSitemap",
    "PagesJSONFeedSitemap",
    "PagesRSSSitemap",
    "PagesTextSitemap",
    "PagesXMLSitemap",
    "SitemapLink",
]

_SHOWN_IN_REPR: Final = 3


class _Leaf(AbstractSitemap):
    """A sitemap without pages and children: it could not be parsed, or was not fetched."""

    @property
    def pages(self) -> list[SitemapPage]:
        """Always empty."""
        return []

    @property
    def sub_sitemaps(self) -> list[AbstractSitemap]:
        """Always empty."""
        return []


class InvalidSitemap(_Leaf):
    """A sitemap that was declared, and could not be fetched or parsed."""

    _code: str | None = None

    def __init__(self, url: str, reason: str, *, code: str | None = None) -> None:
        super().__init__(url)
        given: Any = reason  # 1.8.1 takes anything here
        self._reason = redact(given) if isinstance(given, str) else given
        self._code = code

    @property
    def reason(self) -> str:
        """The reason, in words."""
        return self._reason

    @property
    def code(self) -> str | None:
        """The reason as a problem code (``SM…``); None on an object that the caller built."""
        return self._code

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The reason as a problem, where it has a code."""
        return (Problem(self._code, self._reason),) if self._code else ()

    def _known_losses(self) -> tuple[Problem, ...]:
        return self.problems

    @property
    def complete(self) -> bool:
        """Always False."""
        return False

    def to_dict(self, with_pages: bool = True) -> dict[str, Any]:
        """Return the URL and the reason."""
        return {**super().to_dict(with_pages), "reason": self._reason}

    def _same_content(self, other: AbstractSitemap) -> bool:
        return isinstance(other, InvalidSitemap) and self._reason == other._reason

    def __repr__(self) -> str:
        return shown(f"{type(self).__name__}(url={self._url}, reason={self._reason})")


class SitemapLink(_Leaf):
    """A sitemap that a document lists and that was not fetched: no failure, just a link."""

    def __init__(self, url: str, *, index_lastmod: datetime | None = None) -> None:
        super().__init__(url)
        self._provenance = Provenance(index_lastmod=index_lastmod)


class _ReadSitemap(AbstractSitemap):
    """A document that was parsed: it may list pages, sitemaps, or both by mistake."""

    _pages: Iterable[SitemapPage] = ()
    _sub_sitemaps: list[AbstractSitemap]
    _notes: tuple[Problem, ...] = ()

    @property
    def pages(self) -> list[SitemapPage]:
        """The pages that this document lists: a new list each time, parsed anew."""
        return list(self._pages)

    @property
    def sub_sitemaps(self) -> list[AbstractSitemap]:
        """The sitemaps that this document lists, in its order: the list itself, to be edited."""
        return self._sub_sitemaps

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems with this document; the first access parses it."""
        found = self._pages.problems if isinstance(self._pages, HasProblems) else ()
        return (*self._notes, *found)

    @property
    def complete(self) -> bool:
        """Whether nothing of this document was lost; parses it, as ``problems`` does."""
        return self._pages.complete if isinstance(self._pages, HasProblems) else True

    def _known_losses(self) -> tuple[Problem, ...]:
        collapsed = [note for note in self._notes if note.code == NOT_EXPANDED]
        # Not by isinstance(): before Python 3.12 that reads ``problems``, and parses the document.
        return (*collapsed, *getattr(self._pages, "known_errors", ()))

    @property
    def document_bytes(self) -> int | None:
        """The size of this document, decompressed; None if the caller built it."""
        return self._pages.document_bytes if isinstance(self._pages, HasProblems) else None

    @property
    def skipped(self) -> Counter[SkipReason]:
        """The number of sitemaps and pages of this document that were skipped, by reason."""
        pages = (
            self._pages.skipped if isinstance(self._pages, HasSkipped) else Counter[SkipReason]()
        )
        return super().skipped + pages

    def _own_pages(self) -> Iterable[SitemapPage]:
        # A subclass may override ``pages``.
        return self._pages if type(self).pages is _ReadSitemap.pages else self.pages

    def _pages_to_list(self) -> list[dict[str, Any]]:
        return [page.to_dict() for page in self._own_pages()]

    def _sub_sitemaps_to_list(self, with_pages: bool) -> list[dict[str, Any]]:
        return [sub.to_dict(with_pages=with_pages) for sub in self.sub_sitemaps]

    def __repr__(self) -> str:
        # Short, whatever the size: a log line must not parse a million pages.
        pages = [repr(page) for page in islice(self._own_pages(), _SHOWN_IN_REPR + 1)]
        subs = [f"{type(sub).__name__}(url={sub.url})" for sub in self.sub_sitemaps]
        listed = {"pages": pages, "sub_sitemaps": subs}
        wanted = [name for name, items in listed.items() if items or name == self._lists]
        fields = "".join(f", {name}=[{_first(listed[name])}]" for name in wanted)
        return shown(f"{type(self).__name__}(url={self._url}{fields})")

    _lists: ClassVar[str]
    """What this kind of sitemap lists: ``pages`` or ``sub_sitemaps``."""


def _reiterable(pages: Iterable[SitemapPage]) -> Iterable[SitemapPage]:
    """Return pages that can be iterated more than once: a generator gives them only once."""
    return list(pages) if hasattr(pages, "__next__") else pages


def _first(items: list[str]) -> str:
    more = ["..."] if len(items) > _SHOWN_IN_REPR else []
    return ", ".join(items[:_SHOWN_IN_REPR] + more)


class AbstractPagesSitemap(_ReadSitemap):
    """A sitemap that lists pages."""

    _lists = "pages"

    def __init__(
        self,
        url: str,
        pages: Iterable[SitemapPage],
        *,
        sub_sitemaps: list[AbstractSitemap] | None = None,
        notes: tuple[Problem, ...] = (),
    ) -> None:
        super().__init__(url)
        self._pages = _reiterable(pages)
        self._sub_sitemaps = [] if sub_sitemaps is None else sub_sitemaps
        self._notes = notes

    def to_dict(self, with_pages: bool = True) -> dict[str, Any]:
        """Return the sitemap as plain values, with or without the pages."""
        sitemap = super().to_dict(with_pages)
        if with_pages:
            sitemap["pages"] = self._pages_to_list()
        if self.sub_sitemaps:
            sitemap["sub_sitemaps"] = self._sub_sitemaps_to_list(with_pages)
        return sitemap


class PagesXMLSitemap(AbstractPagesSitemap):
    """An XML sitemap (``<urlset>``)."""


class PagesTextSitemap(AbstractPagesSitemap):
    """A plain text sitemap, one URL per line."""


class PagesRSSSitemap(AbstractPagesSitemap):
    """An RSS feed."""


class PagesAtomSitemap(AbstractPagesSitemap):
    """An Atom feed."""


class PagesJSONFeedSitemap(AbstractPagesSitemap):
    """A JSON Feed."""


class AbstractIndexSitemap(_ReadSitemap):
    """A sitemap that lists other sitemaps."""

    _lists = "sub_sitemaps"

    def __init__(
        self,
        url: str,
        sub_sitemaps: list[AbstractSitemap],
        *,
        pages: Iterable[SitemapPage] = (),
        notes: tuple[Problem, ...] = (),
    ) -> None:
        super().__init__(url)
        self._sub_sitemaps = sub_sitemaps
        self._pages = _reiterable(pages)
        self._notes = notes

    def to_dict(self, with_pages: bool = True) -> dict[str, Any]:
        """Return the sitemap and all below it as plain values, with or without the pages."""
        sitemap = super().to_dict(with_pages)
        sitemap["sub_sitemaps"] = self._sub_sitemaps_to_list(with_pages)
        if with_pages and (pages := self._pages_to_list()):
            sitemap["pages"] = pages
        return sitemap


class IndexWebsiteSitemap(AbstractIndexSitemap):
    """The root: the site, above its robots.txt and what was found at known paths."""

    _outcome: Outcome | None = None
    _tried: tuple[Attempt, ...] = ()
    _robots: RobotsSource | None = None
    _facts: CrawlFacts | None = None

    def __init__(
        self,
        url: str,
        sub_sitemaps: list[AbstractSitemap],
        *,
        outcome: Outcome | None = None,
        tried: tuple[Attempt, ...] = (),
        notes: tuple[Problem, ...] = (),
    ) -> None:
        super().__init__(url, sub_sitemaps, notes=notes)
        self._outcome = outcome
        self._tried = tried

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the crawl; None for a root that the caller built.

        Documents are parsed lazily, so ``found`` becomes ``partial`` as soon as one that is parsed
        turns out to be damaged: it is final once all pages were walked.
        """
        if self._outcome is Outcome.FOUND and self._has_losses():
            return Outcome.PARTIAL
        return self._outcome

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the crawl: why its tree is not complete.

        The limit that ended the crawl, then each sitemap that could not be read, or only in part
        (``sitemap_url``), as far as documents were parsed. The other problems are those of single
        sitemaps.
        """
        losses = (
            replace(problem, sitemap_url=sub.url)
            for sub in self.all_sitemaps()
            for problem in sub._known_losses()
        )
        return (*self._notes, *listed_problems(losses))

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be lost; ``tree_complete`` parses all documents for that."""
        return not self._has_losses()

    def _has_losses(self) -> bool:
        return any(sub._known_losses() for sub in self.all_sitemaps())

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """Each URL that was tried, in document order, with its result."""
        return self._tried

    def robots_verdict(self, agent: str) -> RobotsVerdict | None:
        """Return what the site's robots.txt says for an agent: which URLs it may fetch.

        :param agent: the name of the agent, such as ``Googlebot``.
        :return: None if robots.txt was not requested.
        """
        return self._robots.verdict(agent, self.url) if self._robots else None


class IndexXMLSitemap(AbstractIndexSitemap):
    """An XML sitemap index (``<sitemapindex>``)."""


class IndexRobotsTxtSitemap(AbstractIndexSitemap):
    """A robots.txt, with the sitemaps that it declares."""
