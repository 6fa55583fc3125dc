"""Where a crawl begins: the stages of the discovery_plan of discovery, and the paths that are known."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._crawl.policy import Policy
from usp._parse import Document
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


class Condition(Enum):
    """When a stage is climbed."""

    ALWAYS = auto()
    UNLESS_FOUND = auto()
    """Where nothing before it led to a sitemap."""
    IF_NONE = auto()
    """Where that is what the site answered: one that blocks us isn't pressed further."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A group of guesses that are made together, or not at all."""

    name: str
    need: Condition = Condition.ALWAYS


GIVEN: Final = Stage("given")


@dataclass(frozen=True, slots=True)
class StartUrl:
    """A node at the top of the tree."""

    url: str
    found_by: FoundBy
    level: int = 0
    parents: frozenset[str] = frozenset()
    """URLs that count as its ancestors, though they are not in this tree."""
    document: Document | None = None
    """The document itself, where it needn't be fetched."""
    stage: Stage = GIVEN
    homepage: "HomepageQuery | None" = None
    """It is the homepage, and this is wanted of it."""
    quiet: bool = False
    """That nothing is there is no news, though the caller gave the URL."""


@dataclass(frozen=True, slots=True)
class HomepageQuery:
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
class DiscoveryPlan:
    """How the sitemaps of a site are looked for; a stage without a need is left out."""

    robots: bool = True
    known_paths: tuple[str, ...] = KNOWN_PATHS
    known: Condition = Condition.ALWAYS
    homepage: Condition | None = None
    newer: Condition | None = None
    homepage_first: bool = False
    """Whether the homepage is asked before known paths are tried."""

    def start_urls(self, homepage: str) -> Iterator[StartUrl]:
        """Yield what is looked for on a website, given its homepage with a slash at the end."""
        if self.robots:
            robots = urljoin(homepage, "robots.txt")
            yield StartUrl(robots, FoundBy.WELL_KNOWN, stage=Stage("robots.txt"))
        known = self._paths(homepage, self.known_paths, Stage("known paths", self.known))
        next_requests = self._homepage(homepage)
        yield from (*next_requests, *known) if self.homepage_first else (*known, *next_requests)
        if self.newer:
            yield from self._paths(homepage, NEWER_PATHS, Stage("newer paths", self.newer))
        if self.homepage:
            need = Condition.ALWAYS if self.homepage is Condition.ALWAYS else Condition.UNLESS_FOUND
            wanted = HomepageQuery(homepage, feeds=True)
            yield StartUrl(
                homepage, FoundBy.WELL_KNOWN, stage=Stage("feeds", need), homepage=wanted
            )

    def _homepage(self, homepage: str) -> Iterator[StartUrl]:
        if self.homepage is None:
            return
        elsewhere = ("robots.txt",) * self.robots + self.known_paths
        wanted = HomepageQuery(homepage, feeds=False, elsewhere=elsewhere)
        stage = Stage("homepage", self.homepage)
        yield StartUrl(homepage, FoundBy.WELL_KNOWN, stage=stage, homepage=wanted)

    @staticmethod
    def _paths(homepage: str, paths: Iterable[str], stage: Stage) -> Iterator[StartUrl]:
        for path in paths:
            yield StartUrl(urljoin(homepage, path), FoundBy.KNOWN_PATH, stage=stage)


def in_fixed_order(paths: Iterable[str]) -> list[str]:
    """Return paths in an order that doesn't depend on hash start_urls: ours, then the alphabet's."""
    return sorted(paths, key=lambda path: (_RANK.get(path, len(_RANK)), path))


def discovery_plan(
    policy: Policy,
    known_paths: Iterable[str] = KNOWN_PATHS,
    *,
    use_robots: bool,
    use_known_paths: bool | None,
    classic: bool,
) -> DiscoveryPlan:
    """Return the discovery_plan that options next_requests for: True is always, False never, None where needed.

    ``classic`` is the scope of 1.8.1, robots.txt and known paths, and what is new only where that
    has led to nothing; otherwise known paths, too, are tried only where what was declared has led
    to nothing. For a caller who has narrowed that scope, what is new must be asked for.
    """
    narrowed = not use_robots or use_known_paths is False
    return DiscoveryPlan(
        use_robots,
        () if use_known_paths is False else tuple(known_paths),
        _need(use_known_paths, Condition.ALWAYS if classic else Condition.UNLESS_FOUND)
        or Condition.ALWAYS,
        homepage=_need(policy.use_homepage, None if narrowed else Condition.UNLESS_FOUND),
        newer=_need(policy.use_newer_paths, None if narrowed else Condition.IF_NONE),
        homepage_first=not classic,
    )


def _need(wanted: bool | None, otherwise: Condition | None) -> Condition | None:
    if wanted is None:
        return otherwise
    return Condition.ALWAYS if wanted else None
