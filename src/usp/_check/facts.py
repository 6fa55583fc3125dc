"""What rules look at: one sitemap, and one entry of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from usp._check.findings import Occurrence
from usp._check.rules import CheckSeverity
from usp._parse import Kind, Source, clean_text, parse_date
from usp._parse.checking import AuditEntry, EntryShape, once_a_shape
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo
from usp.objects.outcome import FoundBy

_LINK: Final = "xhtml:link"
_ATTRIBUTES: Final = tuple(f"{_LINK}@{name}" for name in ("rel", "hreflang", "href"))
"""What the link to an alternate must have."""
MAX_SHARING: Final = 10
"""How many URLs of one entry have its alternates: it should have one, and thousands of URLs with
thousands of alternates each would be millions of links."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the caller chose for all rules."""

    now: datetime
    """The time of the check, in UTC: what is old, and what is in the future."""
    engines: frozenset[str] = frozenset()
    """The engines whose own rules count: google, bing, yandex, baidu."""
    agents: tuple[str, ...] = ("Googlebot", "Bingbot", "YandexBot")
    """The agents for which robots.txt is asked."""
    min_pages: int | None = None
    required: tuple[str, ...] = ()
    """URLs that some sitemap must list."""


@dataclass(frozen=True, slots=True)
class SitemapFacts:
    """One document of the site, apart from its entries."""

    url: str
    """Its URL after redirects; the name of a file."""
    kind: Kind
    options: CheckOptions
    source: Source
    """Its bytes, for a rule that reads it in another way."""
    is_file: bool = False
    """Whether it was read from a file, so that its URL is not known."""
    declared_url: str = ""
    """The URL as it is declared, before redirects."""
    found_by: FoundBy | None = None
    parent_url: str | None = None
    """The sitemap or robots.txt that declares it."""
    parent_kind: Kind | None = None
    index_lastmod: datetime | None = None
    """The date that its index gives."""
    fetch_info: FetchInfo = NOT_FETCHED

    @property
    def scheme(self) -> str:
        """The scheme that its URLs should have; empty if they may have any."""
        if self.is_file or self.kind is Kind.ROBOTS:
            return ""
        return self.url.partition(":")[0].lower()

    @property
    def names(self) -> tuple[str, ...]:
        """The URLs that may be declared for it: its own, and that of its index."""
        return (self.url, self.declared_url, *([self.parent_url] if self.parent_url else []))

    def occurrence(
        self, code: str, detail: str = "", severity: CheckSeverity | None = None
    ) -> Occurrence:
        """Return an occurrence in the document as a whole."""
        return Occurrence(code, self.url, detail=detail, severity=severity)


@dataclass(slots=True)
class EntryFacts:
    """One entry, and the sitemap that it belongs to."""

    sitemap: SitemapFacts
    entry: AuditEntry
    _alternates: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    _lastmod: tuple[str, datetime | None] | None = field(default=None, repr=False)

    @property
    def lastmod(self) -> tuple[str, datetime | None]:
        """The first ``<lastmod>`` that is not blank, as it is written, and its date."""
        if self._lastmod is None:
            written = next(filter(str.strip, self.entry.raw("lastmod")), "")
            self._lastmod = written, parse_date(written) if written else None
        return self._lastmod

    def date_of(self, text: str) -> datetime | None:
        """Return the date of a text of this entry."""
        written, date = self.lastmod
        return date if text == written else parse_date(text)

    @property
    def alternates(self) -> tuple[tuple[str, str], ...]:
        """The hreflang of each alternate, in lower case, and its URL, as they are written."""
        if self._alternates is None:
            self._alternates = alternates(self.entry) if self.entry.has("xhtml:") else ()
        return self._alternates

    @property
    def is_page(self) -> bool:
        """Whether the entry lists a page, and not another sitemap."""
        return self.entry.name != "sitemap" and self.sitemap.kind is not Kind.ROBOTS

    def occurrence(
        self,
        code: str,
        detail: str = "",
        severity: CheckSeverity | None = None,
        *,
        url: str | None = None,
    ) -> Occurrence:
        """Return an occurrence at this entry."""
        entry = self.entry
        return Occurrence(
            code, self.sitemap.url, url or entry.url, entry.line, entry.offset, detail, severity
        )


@dataclass(frozen=True, slots=True)
class UnreadFacts:
    """A URL that brought no document, or that was left out."""

    url: str
    """Empty for all that is beyond a limit of the crawl."""
    status: int | None
    """The HTTP status; None if there was no response."""
    reason: str
    found_by: FoundBy
    is_skipped: bool = False
    """Whether the caller left it out."""
    is_unfinished: bool = False
    """Whether a limit of the crawl ended its request, so that nothing is known of it."""


@dataclass(slots=True)
class DocumentEnd:
    """What is known of a document once it was read."""

    entries: int = 0
    document_bytes: int = 0
    complete: bool = True
    """Whether nothing of it was lost."""
    other_charset: str | None = None
    """The charset that is declared or was found, if it is not UTF-8."""
    names_news: bool = False
    """Whether it declares the namespace of news."""
    codes: set[str] = field(default_factory=set)
    """The codes that were found in it so far."""


def alternates(entry: AuditEntry) -> tuple[tuple[str, str], ...]:
    """Return the hreflang of each alternate, in lower case, and its URL, as they are written."""
    record = entry.record
    found: list[tuple[str, str]] = []
    for rel, hreflang, href in _links(entry.shape):
        if "alternate" in record[rel][1].lower():
            code, url = clean_text(record[hreflang][1]), clean_text(record[href][1])
            if code and url:
                found.append((code.lower(), url))
    return tuple(found)


@once_a_shape
def _links(shape: EntryShape) -> tuple[tuple[int, ...], ...]:
    """Return where ``rel``, ``hreflang`` and ``href`` of each link are that has all three."""
    found: list[tuple[int, ...]] = []
    at: dict[str, int] = {}
    for number, key in enumerate(shape.keys):
        if key in _ATTRIBUTES:
            at[key] = number
        elif key == _LINK:
            if len(at) == len(_ATTRIBUTES):
                found.append(tuple(at[name] for name in _ATTRIBUTES))
            at = {}
    return tuple(found)
