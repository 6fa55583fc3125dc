"""What every sitemap of the tree has, whatever its kind."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import zip_longest
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

from usp.objects.fetch_info import UNKNOWN, FetchInfo, Provenance
from usp.objects.outcome import FoundBy, SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem

_ABSENT: Final = object()


@runtime_checkable
class Checked(Protocol):
    """Pages that can say what is wrong with the document they come from."""

    @property
    def problems(self) -> tuple[Problem, ...]: ...

    @property
    def complete(self) -> bool: ...


@runtime_checkable
class Chosen(Protocol):
    """Pages of which some were left out, as the caller asked."""

    @property
    def skipped(self) -> Counter[SkipReason]: ...


class AbstractSitemap(ABC):
    """What every node of the tree is."""

    _provenance: Provenance = UNKNOWN
    _skipped_sitemaps: Counter[SkipReason] | None = None
    _renamed: ClassVar[dict[str, str]] = {
        "_AbstractSitemap__url": "_url",
        "_AbstractIndexSitemap__sub_sitemaps": "_sub_sitemaps",
        "_InvalidSitemap__reason": "_reason",
        "_pages_value": "_pages",
    }
    """Attributes as pickles of 1.8.1 name them, and as they are named here."""

    def __init__(self, url: str) -> None:
        self._url = url

    @property
    def url(self) -> str:
        """The sitemap's URL, after redirects."""
        return self._url

    @property
    def found_by(self) -> FoundBy | None:
        """How it was found; None on a sitemap that the caller built."""
        return self._provenance.found_by

    @property
    def declared_url(self) -> str | None:
        """The URL that it was asked for by, before redirects."""
        return self._provenance.declared_url

    @property
    def index_lastmod(self) -> datetime | None:
        """When it changed, as the index that names it says."""
        return self._provenance.index_lastmod

    @property
    def fetch_info(self) -> FetchInfo:
        """What the response said: status, headers, redirects, size, times."""
        return self._provenance.fetch_info

    @property
    def redirects(self) -> tuple[str, ...]:
        """The URLs that redirected before the sitemap's own URL, in order."""
        return self._provenance.fetch_info.redirects

    @property
    def http_last_modified(self) -> datetime | None:
        """The ``Last-Modified`` header of the response, in UTC."""
        return self._provenance.fetch_info.http_last_modified

    @property
    @abstractmethod
    def pages(self) -> list[SitemapPage]:
        """The pages that this very document lists: a new list each time."""

    @property
    @abstractmethod
    def sub_sitemaps(self) -> list["AbstractSitemap"]:
        """The sitemaps that this very document lists, in its order."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with this document; asking reads it if nobody has yet."""
        return ()

    @property
    def complete(self) -> bool:
        """Whether the document was whole; asking reads it if nobody has yet."""
        return True

    @property
    def tree_complete(self) -> bool:
        """Whether this document and all below it were whole."""
        return self.complete and all(sub.complete for sub in self.all_sitemaps())

    @property
    def skipped(self) -> Counter[SkipReason]:
        """How many of the sitemaps and pages that this document names were left out, and why.

        By what the caller asked for, that is; asking reads the document if nobody has yet.
        """
        return Counter(self._skipped_sitemaps or {})

    @property
    def tree_skipped(self) -> Counter[SkipReason]:
        """The same of this document and all below it together."""
        return sum((sub.skipped for sub in self.all_sitemaps()), self.skipped)

    def all_pages(self) -> Iterator[SitemapPage]:
        """Yield the pages of this sitemap, then those of all below it, one sitemap at a time."""
        yield from self._own_pages()
        for sub_sitemap in self.sub_sitemaps:
            yield from sub_sitemap.all_pages()

    def _own_pages(self) -> Iterable[SitemapPage]:
        """Return this document's pages, to be read one by one where that is possible."""
        return self.pages

    def all_sitemaps(self) -> Iterator["AbstractSitemap"]:
        """Yield all sitemaps below this one, each before its own children."""
        for sub_sitemap in self.sub_sitemaps:
            yield sub_sitemap
            yield from sub_sitemap.all_sitemaps()

    def to_dict(self, with_pages: bool = True) -> dict[str, Any]:  # noqa: ARG002 -- for subclasses
        """Return the sitemap and all below it as plain values, without the pages if so asked."""
        return {"url": self.url}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, AbstractSitemap):
            return NotImplemented
        return self._url == other._url and self._same_content(other)

    def _same_content(self, other: "AbstractSitemap") -> bool:
        ours, theirs = self._own_pages(), other._own_pages()
        return self.sub_sitemaps == other.sub_sitemaps and all(
            one == two for one, two in zip_longest(ours, theirs, fillvalue=_ABSENT)
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._url))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._url})"

    def __setstate__(self, state: dict[str, Any] | tuple[dict[str, Any] | None, ...]) -> None:
        # 1.8.1 pickles (attributes, slots); ours are the attributes alone.
        parts = state if isinstance(state, tuple) else (state,)
        self.__dict__.setdefault("_sub_sitemaps", [])  # 1.8.1 knows none on sitemaps of pages
        for part in parts:
            for name, value in (part or {}).items():
                self.__dict__[self._renamed.get(name, name)] = value
