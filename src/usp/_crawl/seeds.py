"""Where a crawl begins: robots.txt and the paths at which sitemaps are often found."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from usp._parse.document import Document
from usp.objects.outcome import FoundBy

KNOWN_PATHS: Final = (
    # The general ones first: what they lead to isn't asked for again.
    "sitemap.xml",
    "sitemap.xml.gz",
    "sitemap_index.xml",
    "sitemap_index.xml.gz",
    "sitemap-index.xml",
    "sitemap-index.xml.gz",
    "sitemap/sitemap-index.xml",
    "sitemap",
    ".sitemap.xml",
    "admin/config/search/xmlsitemap",
    "sitemap_news.xml",
    "sitemap_news.xml.gz",
    "sitemap-news.xml",
    "sitemap-news.xml.gz",
)
_RANK: Final = {path: rank for rank, path in enumerate(KNOWN_PATHS)}


@dataclass(frozen=True, slots=True)
class Seed:
    """A place at the top of the tree."""

    url: str
    found_by: FoundBy
    level: int = 0
    parents: frozenset[str] = frozenset()
    """URLs that count as its ancestors, though they are not in this tree."""
    document: Document | None = None
    """The document itself, where it needn't be fetched."""
    if_needed: bool = False
    """To be tried only where nothing was declared."""
    quiet: bool = False
    """That nothing is there is no news, though the caller gave the URL."""


def in_fixed_order(paths: Iterable[str]) -> list[str]:
    """Return paths in an order that doesn't depend on hash seeds: ours, then the alphabet's."""
    return sorted(paths, key=lambda path: (_RANK.get(path, len(_RANK)), path))


def website_seeds(
    homepage: str, *, use_robots: bool, known_paths: Iterable[str], if_needed: bool = False
) -> Iterator[Seed]:
    """Yield what is looked for on a website, given its homepage with a slash at the end."""
    if use_robots:
        yield Seed(urljoin(homepage, "robots.txt"), FoundBy.ROBOTS)
    for path in known_paths:
        yield Seed(urljoin(homepage, path), FoundBy.KNOWN_PATH, if_needed=if_needed)
