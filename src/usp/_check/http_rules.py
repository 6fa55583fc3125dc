"""Rules about the response that brought a sitemap: SM150, SM151, SM153."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.registry import CHECKED, DocumentRule, SiteRule, document_rule
from usp._check.rules import CheckSeverity
from usp._display import excerpt
from usp._parse import Kind
from usp.objects.outcome import FoundBy

_DECLARED: Final = frozenset({FoundBy.ROBOTS, FoundBy.INDEX, FoundBy.HTML, FoundBy.GIVEN})
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_GZIP: Final = frozenset({"application/gzip", "application/x-gzip"})
_JSON: Final = frozenset({"application/json", "application/feed+json"})


@document_rule("SM150", "SM151")
class ResponseFacts(DocumentRule):
    """Looks at redirects and at the content type."""

    def finish(self, end: DocumentEnd) -> Iterator[Occurrence]:
        """Look at the response."""
        del end
        sitemap, info = self._sitemap, self._sitemap.fetch_info
        if sitemap.kind is Kind.ROBOTS:
            return
        if info.redirects and sitemap.found_by in _DECLARED:
            yield sitemap.occurrence("SM150", f"{sitemap.declared_url} redirects to {sitemap.url}")
        served = (info.content_type or "").partition(";")[0].strip().lower()
        if served and sitemap.kind is not Kind.INVALID and not _is_right(served, sitemap.kind):
            severity = None if served in _HTML else CheckSeverity.INFO
            yield sitemap.occurrence("SM151", f"it is served as {excerpt(served, 80)}", severity)


def _is_right(served: str, kind: Kind) -> bool:
    """Tell whether a content type is one of XML, text, gzip or a feed."""
    if served in _HTML:
        return False
    is_json = kind is Kind.JSON_FEED and served in _JSON
    is_xml = served.endswith(("/xml", "+xml"))
    return is_json or is_xml or served.startswith("text/") or served in _GZIP


Digest = tuple[int, int]
"""How many URLs a sitemap lists, and the sum of their hashes."""
_HASHES: Final = 2**64

CHECKED.add("SM153")


@dataclass(slots=True)
class UrlDigests(SiteRule):
    """What each sitemap lists, in a few bytes; a site rule that ``--twice`` needs."""

    digests: dict[str, Digest] = field(default_factory=dict)

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Add the URLs of an entry."""
        if not facts.entry.repeated:
            self.add_urls(facts.sitemap.url, facts.entry.urls)
        return ()

    def add_urls(self, sitemap_url: str, urls: tuple[str, ...]) -> None:
        """Add some URLs of a sitemap."""
        count, total = self.digests.get(sitemap_url, (0, 0))
        total = (total + sum(map(hash, urls))) % _HASHES
        self.digests[sitemap_url] = count + len(urls), total

    def end_document(self, sitemap: SitemapFacts, end: DocumentEnd) -> Iterable[Occurrence]:
        """Remember a sitemap without pages."""
        if end.complete and sitemap.kind not in {Kind.ROBOTS, Kind.INDEX, Kind.INVALID}:
            self.digests.setdefault(sitemap.url, (0, 0))
        return ()


def differences(first: Mapping[str, Digest], second: Mapping[str, Digest]) -> Iterator[Occurrence]:
    """Yield an occurrence for each sitemap that both fetches have and that lists other URLs."""
    for sitemap_url in sorted(first.keys() & second.keys()):
        before, after = first[sitemap_url], second[sitemap_url]
        if before != after:
            detail = f"{before[0]:,} URLs at first, {after[0]:,} in the second fetch"
            if before[0] == after[0]:
                detail = f"{before[0]:,} URLs both times, but others"
            yield Occurrence("SM153", sitemap_url, detail=detail)
