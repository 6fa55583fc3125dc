"""Rules about one document as a whole: counts, size, charset; children of an index."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from usp._check.facts import DocumentEnd, EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.registry import document_rule, entry_rule
from usp._check.rules import CheckSeverity
from usp._parse import Kind

MAX_ENTRIES: Final = 50_000
MAX_BYTES: Final = 52_428_800
MAX_BYTES_BAIDU: Final = 10_485_760
_LISTS_PAGES: Final = frozenset({Kind.URLSET, Kind.TEXT, Kind.RSS, Kind.ATOM, Kind.JSON_FEED})
_MAY_BE_EMPTY: Final = frozenset({Kind.RSS, Kind.ATOM, Kind.JSON_FEED, Kind.ROBOTS, Kind.INVALID})


@document_rule("SM250", "SM251", "SM252", "SM253", "SM255", "SM258")
class DocumentLimits:
    """Counts URLs and bytes."""

    def __init__(self, sitemap: SitemapFacts) -> None:
        self._sitemap = sitemap
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


@entry_rule("SM656")
def child_above_index(facts: EntryFacts) -> Iterator[Occurrence]:
    """Compare the folder of an index with those of the sitemaps that it lists."""
    sitemap = facts.sitemap
    if sitemap.kind is not Kind.INDEX or sitemap.is_file:
        return
    own = urlsplit(sitemap.url)
    folder = own.path[: own.path.rfind("/") + 1]
    for url in facts.entry.urls:
        host, path = _host_and_path(url)
        if host == own.netloc.lower() and not path.startswith(folder):
            yield facts.occurrence("SM656", f"it is not below {folder}", url=url)


def _host_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:  # for example an incomplete IPv6 address
        return "", ""
    return parts.netloc.lower(), parts.path
