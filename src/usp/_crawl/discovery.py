"""Where a crawl begins: the rungs of the ladder of discovery, and the paths that are known."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._crawl.policy import Policy
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
NEWER_PATHS: Final = {
    "wp-sitemap.xml": "WordPress itself, since 5.5",
    "sitemap.txt": "text sitemaps, as sitemaps.org names them",
    "sitemap1.xml": "the first of numbered parts, where the index was forgotten",
    "sitemap-0.xml": "the first part that next-sitemap and Astro write",
    "sitemap_1.xml": "the first of numbered parts",
    "sitemaps.xml": "the plural of sitemap.xml",
    "sitemapindex.xml": "the name of the root element",
    "sitemap.php": "scripts that make a sitemap when asked",
    "sitemap/sitemap.xml": "a folder of its own",
    "sitemaps/sitemap.xml": "a folder of its own",
    "sitemaps/sitemap_index.xml": "a folder of its own",
    "post-sitemap.xml": "Yoast SEO and Rank Math: posts, where the index is switched off",
    "page-sitemap.xml": "Yoast SEO and Rank Math: pages",
    "news-sitemap.xml": "Yoast News SEO",
    "video-sitemap.xml": "Yoast Video SEO",
    "server-sitemap.xml": "next-sitemap: pages that the server makes",
    "server-sitemap-index.xml": "next-sitemap: the index of those",
    "1_index_sitemap.xml": "PrestaShop's module gsitemap, the first shop",
}
"""Paths that have become common since, and why each is there."""
_RANK: Final = {path: rank for rank, path in enumerate(KNOWN_PATHS)}


class Need(Enum):
    """When a rung is climbed."""

    ALWAYS = auto()
    UNLESS_FOUND = auto()
    """Where nothing before it led to a sitemap."""
    IF_NONE = auto()
    """Where that is what the site answered: one that blocks us isn't pressed further."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A group of guesses that are made together, or not at all."""

    name: str
    need: Need = Need.ALWAYS


GIVEN: Final = Rung("given")


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
    rung: Rung = GIVEN
    homepage: "Homepage | None" = None
    """It is the homepage, and this is wanted of it."""
    quiet: bool = False
    """That nothing is there is no news, though the caller gave the URL."""


@dataclass(frozen=True, slots=True)
class Homepage:
    """What is wanted of a homepage: the sitemaps that it names, or its feeds.

    Where it redirects to its other scheme, or to or from ``www.``, the site is really there: then
    ``elsewhere`` is looked for there too.
    """

    url: str
    feeds: bool
    elsewhere: tuple[str, ...] = ()

    def moved_to(self, final_url: str) -> str | None:
        """Return the site that it redirects to, if that is the same site by another address."""
        ours, theirs = urlsplit(self.url), urlsplit(final_url)
        same_site = _bare_host(ours.hostname) == _bare_host(theirs.hostname)
        moved = (ours.scheme, ours.netloc) != (theirs.scheme, theirs.netloc)
        return urljoin(final_url, "/") if same_site and moved else None


def _bare_host(host: str | None) -> str:
    return (host or "").removeprefix("www.").rstrip(".")


@dataclass(frozen=True, slots=True)
class Ladder:
    """How the sitemaps of a site are looked for; a rung without a need is left out."""

    robots: bool = True
    known_paths: tuple[str, ...] = KNOWN_PATHS
    known: Need = Need.ALWAYS
    homepage: Need | None = None
    newer: Need | None = None
    homepage_first: bool = False
    """Whether the homepage is asked before known paths are tried."""

    def seeds(self, homepage: str) -> Iterator[Seed]:
        """Yield what is looked for on a website, given its homepage with a slash at the end."""
        if self.robots:
            robots = urljoin(homepage, "robots.txt")
            yield Seed(robots, FoundBy.WELL_KNOWN, rung=Rung("robots.txt"))
        known = self._paths(homepage, self.known_paths, Rung("known paths", self.known))
        ask = self._homepage(homepage)
        yield from (*ask, *known) if self.homepage_first else (*known, *ask)
        if self.newer:
            yield from self._paths(homepage, NEWER_PATHS, Rung("newer paths", self.newer))
        if self.homepage:
            need = Need.ALWAYS if self.homepage is Need.ALWAYS else Need.UNLESS_FOUND
            wanted = Homepage(homepage, feeds=True)
            yield Seed(homepage, FoundBy.WELL_KNOWN, rung=Rung("feeds", need), homepage=wanted)

    def _homepage(self, homepage: str) -> Iterator[Seed]:
        if self.homepage is None:
            return
        elsewhere = ("robots.txt",) * self.robots + self.known_paths
        wanted = Homepage(homepage, feeds=False, elsewhere=elsewhere)
        rung = Rung("homepage", self.homepage)
        yield Seed(homepage, FoundBy.WELL_KNOWN, rung=rung, homepage=wanted)

    @staticmethod
    def _paths(homepage: str, paths: Iterable[str], rung: Rung) -> Iterator[Seed]:
        for path in paths:
            yield Seed(urljoin(homepage, path), FoundBy.KNOWN_PATH, rung=rung)


def in_fixed_order(paths: Iterable[str]) -> list[str]:
    """Return paths in an order that doesn't depend on hash seeds: ours, then the alphabet's."""
    return sorted(paths, key=lambda path: (_RANK.get(path, len(_RANK)), path))


def ladder(
    policy: Policy,
    known_paths: Iterable[str] = KNOWN_PATHS,
    *,
    use_robots: bool,
    use_known_paths: bool | None,
    classic: bool,
) -> Ladder:
    """Return the ladder that options ask for: True is always, False never, None where needed.

    ``classic`` is the scope of 1.8.1, robots.txt and known paths, and what is new only where that
    has led to nothing; otherwise known paths, too, are tried only where what was declared has led
    to nothing. For a caller who has narrowed that scope, what is new must be asked for.
    """
    narrowed = not use_robots or use_known_paths is False
    return Ladder(
        use_robots,
        () if use_known_paths is False else tuple(known_paths),
        _need(use_known_paths, Need.ALWAYS if classic else Need.UNLESS_FOUND) or Need.ALWAYS,
        homepage=_need(policy.use_homepage, None if narrowed else Need.UNLESS_FOUND),
        newer=_need(policy.use_newer_paths, None if narrowed else Need.IF_NONE),
        homepage_first=not classic,
    )


def _need(wanted: bool | None, otherwise: Need | None) -> Need | None:
    if wanted is None:
        return otherwise
    return Need.ALWAYS if wanted else None
