"""Rules about one document as a whole: counts, size, charset; children of an index."""

from collections.abc import Iterable, Iterator
from typing import Final

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.origins import folder_of, host_of, path_of
from usp._check.registry import DocumentRule, document_rule, entry_rule
from usp._check.rules import CheckSeverity
from usp._parse import Kind

MAX_ENTRIES: Final = 50_000
MAX_BYTES: Final = 52_428_800
MAX_BYTES_BAIDU: Final = 10_485_760
_LISTS_PAGES: Final = frozenset({Kind.URLSET, Kind.TEXT, Kind.RSS, Kind.ATOM, Kind.JSON_FEED})
_MAY_BE_EMPTY: Final = frozenset({Kind.RSS, Kind.ATOM, Kind.JSON_FEED, Kind.ROBOTS, Kind.INVALID})


@document_rule("SM250", "SM251", "SM252", "SM253", "SM255", "SM258")
class DocumentLimits(DocumentRule):
    """Counts URLs and bytes."""

    def __init__(self, sitemap: SitemapFacts) -> None:
        super().__init__(sitemap)
        self._urls = 0

    def add(self, facts: EntryFacts) -> None:
        """Count the URLs of an entry."""
        self._urls += len(facts.entry.urls)

    def finish(self, end: DocumentEnd) -> Iterator[Occurrence]:
        """Compare with the limits."""
        sitemap, kind = self._sitemap, self._sitemap.kind
        if kind is Kind.INVALID or kind is Kind.ROBOTS:
            return
        if self._urls > MAX_ENTRIES:
            code = "SM250" if kind in _LISTS_PAGES else "SM253"
            yield sitemap.occurrence(code, f"{self._urls:,} URLs")
        if end.document_bytes > MAX_BYTES_BAIDU:
            size = f"{end.document_bytes:,} bytes"
            yield sitemap.occurrence("SM252", size)
            if end.document_bytes > MAX_BYTES:
                yield sitemap.occurrence("SM251", size)
        if not end.entries and end.complete and kind not in _MAY_BE_EMPTY:
            yield sitemap.occurrence(
                "SM255", "it has no entry", CheckSeverity.INFO if end.names_news else None
            )
        if end.other_charset and "SM213" not in end.codes:
            yield sitemap.occurrence("SM258", f"the charset is {end.other_charset}")


@entry_rule("SM656", kinds=[Kind.INDEX])
def child_above_index(facts: EntryFacts) -> Iterable[Occurrence]:
    """Compare the folder of an index with those of the sitemaps that it lists."""
    sitemap = facts.sitemap
    if sitemap.is_file:
        return ()
    host, folder = host_of(sitemap.url), folder_of(sitemap.url)
    return [
        facts.occurrence("SM656", f"it is not below {folder}", url=url)
        for url in facts.entry.urls
        if host_of(url) == host and not path_of(url).startswith(folder)
    ]
