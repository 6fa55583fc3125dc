"""What rules look at: one sitemap, and one entry of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from usp._check.findings import Occurrence
from usp._check.rules import CheckSeverity
from usp._parse import AuditEntry, Kind, Source, clean_text
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo
from usp.objects.outcome import FoundBy

_LINK: Final = "xhtml:link"
_HREF: Final = "xhtml:link@href"
_HREFLANG: Final = "xhtml:link@hreflang"
_REL: Final = "xhtml:link@rel"


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
    found: list[tuple[str, str]] = []
    rel = written = href = ""
    # Comparisons, and no prefixes: every entry of every sitemap comes here.
    for key, text in entry.record:
        if key == _HREF:
            href = clean_text(text)
        elif key == _HREFLANG:
            written = clean_text(text)
        elif key == _REL:
            rel = text
        elif key == _LINK:
            if written and href and "alternate" in rel.lower():
                found.append((written.lower(), href))
            rel = written = href = ""
    return tuple(found)
