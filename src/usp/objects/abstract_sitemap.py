"""The base of every sitemap in the tree."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import zip_longest
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

from usp._display import shown, without_credentials
from usp.objects.fetch_info import UNKNOWN, FetchInfo, Provenance
from usp.objects.outcome import FoundBy, SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem

__all__ = ["AbstractSitemap"]

_ABSENT: Final = object()


@runtime_checkable
class HasProblems(Protocol):
    """Pages that know the problems of the document they come from."""

    @property
    def problems(self) -> tuple[Problem, ...]: ...

    @property
    def complete(self) -> bool: ...

    @property
    def document_bytes(self) -> int | None: ...


@runtime_checkable
class HasSkipped(Protocol):
    """Pages of which the caller's selection skips some."""

    @property
    def skipped(self) -> Counter[SkipReason]: ...


class AbstractSitemap(ABC):
    """A sitemap in the tree."""

    _provenance: Provenance = UNKNOWN
    _skipped_sitemaps: Counter[SkipReason] | None = None
    _child_count: int | None = None
    """How many sitemaps it lists, if a crawl read it: a limit may have ended that before them."""
    _renamed: ClassVar[dict[str, str]] = {
        "_AbstractSitemap__url": "_url",
        "_AbstractIndexSitemap__sub_sitemaps": "_sub_sitemaps",
        "_InvalidSitemap__reason": "_reason",
        "_pages_value": "_pages",
    }
    """Attribute names in pickles of 1.8.1, and their names here."""

    def __init__(self, url: str) -> None:
        self._url: str = _bare(url)

    @property
    def url(self) -> str:
        """The sitemap's URL, after redirects; without a user and password."""
        return self._url

    @property
    def found_by(self) -> FoundBy | None:
        """How it was found; None for a sitemap that the caller built."""
        return self._provenance.found_by

    @property
    def declared_url(self) -> str | None:
        """The URL as it was declared, before redirects."""
        return self._provenance.declared_url

    @property
    def index_lastmod(self) -> datetime | None:
        """The ``<lastmod>`` that its index gives, in UTC."""
        return self._provenance.index_lastmod

    @property
    def fetch_info(self) -> FetchInfo:
        """Status, headers, redirects, size and times of the response."""
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
        """The pages that this document lists: a new list each time, parsed anew."""

    @property
    @abstractmethod
    def sub_sitemaps(self) -> list["AbstractSitemap"]:
        """The sitemaps that this document lists, in its order."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems with this document; the first access parses it."""
        return ()

    @property
    def complete(self) -> bool:
        """Whether nothing of this document was lost; parses it, as ``problems`` does."""
        return True

    def _known_losses(self) -> tuple[Problem, ...]:
        """Return why something of this document is missing, as far as it was parsed."""
        return ()

    @property
    def document_bytes(self) -> int | None:
        """The size of this document, decompressed; None if it is unknown. Parses it if needed."""
        return None

    @property
    def tree_complete(self) -> bool:
        """Whether nothing of this document and of all below it was lost."""
        return self.complete and all(sub.complete for sub in self.all_sitemaps())

    @property
    def skipped(self) -> Counter[SkipReason]:
        """The number of sitemaps and pages of this document that were skipped, by reason.

        The caller's selection decides; the first access parses the document.
        """
        return Counter(self._skipped_sitemaps or {})

    @property
    def tree_skipped(self) -> Counter[SkipReason]:
        """The same for this document and all below it together."""
        return sum((sub.skipped for sub in self.all_sitemaps()), self.skipped)

    def all_pages(self) -> Iterator[SitemapPage]:
        """Yield the pages of this sitemap, then those of all below it, one sitemap at a time.

        Pages are parsed lazily, while you iterate.
        """
        yield from self._own_pages()
        for sub_sitemap in self.sub_sitemaps:
            yield from sub_sitemap.all_pages()

    def _own_pages(self) -> Iterable[SitemapPage]:
        """Return this document's pages, lazily where possible."""
        return self.pages

    def all_sitemaps(self) -> Iterator["AbstractSitemap"]:
        """Yield all sitemaps below this one, each before its own children."""
        for sub_sitemap in self.sub_sitemaps:
            yield sub_sitemap
            yield from sub_sitemap.all_sitemaps()

    def to_dict(self, with_pages: bool = True) -> dict[str, Any]:  # noqa: ARG002 -- for subclasses
        """Return the sitemap and all below it as plain values, with or without the pages."""
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
        return shown(f"{type(self).__name__}(url={self._url})")

    def __setstate__(self, state: dict[str, Any] | tuple[dict[str, Any] | None, ...]) -> None:
        # 1.8.1 pickles (attributes, slots); ours pickle the attributes alone.
        parts = state if isinstance(state, tuple) else (state,)
        self.__dict__.setdefault("_sub_sitemaps", [])  # 1.8.1 has none on sitemaps of pages
        for part in parts:
            for name, value in (part or {}).items():
                self.__dict__[self._renamed.get(name, name)] = value
        self._url = _bare(self._url)  # 1.8.1 keeps the user and password


def _bare(url: Any) -> Any:  # noqa: ANN401 -- 1.8.1 takes anything here
    """Return a URL without credentials; what is not a string stays as it is."""
    return without_credentials(url) if isinstance(url, str) else url
