"""Discovery: the start URLs of a crawl, the stages in which a site is searched, known paths."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._crawl.policy import Policy
from usp._parse import Document
from usp.objects.outcome import FoundBy

KNOWN_PATHS: Final = (
    # General ones first: what they lead to isn't requested again.
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
"""Paths that have become common since 1.8.1, and why each is tried."""
_RANK: Final = {path: rank for rank, path in enumerate(KNOWN_PATHS)}


class Condition(Enum):
    """When a stage runs."""

    ALWAYS = auto()
    UNLESS_FOUND = auto()
    """If no stage before it found a sitemap."""
    IF_NONE = auto()
    """If the site responded and has none so far: a site that blocks the crawl gets no more."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A group of guesses that are made together, or not at all."""

    name: str
    condition: Condition = Condition.ALWAYS


GIVEN: Final = Stage("given")


@dataclass(frozen=True, slots=True)
class StartUrl:
    """A URL at the top of the tree, where a crawl begins."""

    url: str
    found_by: FoundBy
    level: int = 0
    parents: frozenset[str] = frozenset()
    """URLs that count as its ancestors, though they are not in this tree."""
    document: Document | None = None
    """The document, if it needs no request."""
    stage: Stage = GIVEN
    homepage: "HomepageQuery | None" = None
    """What to look for, if the URL is the homepage."""
    quiet: bool = False
    """A 404 is no warning, though the caller gave the URL."""


@dataclass(frozen=True, slots=True)
class HomepageQuery:
    """What to look for on a homepage: the sitemaps that it names, or its feeds.

    If it redirects to the other scheme, or to or from ``www.``, the site is at that address: then
    ``other_paths`` are tried there too. If the given scheme gives no response, so are newer paths,
    which are not redirected then.
    """

    url: str
    feeds: bool
    other_paths: tuple[str, ...] = ()
    newer: Stage | None = None

    def moved_to(self, final_url: str) -> str | None:
        """Return the homepage's new address, if it redirects within the same site."""
        old, new = urlsplit(self.url), urlsplit(final_url)
        same_site = _host_without_www(old.hostname) == _host_without_www(new.hostname)
        moved = (old.scheme, old.netloc) != (new.scheme, new.netloc)
        return urljoin(final_url, "/") if same_site and moved else None

    def other_urls(self, final_url: str, stage: Stage, *, responds: bool) -> Iterator[StartUrl]:
        """Yield what to try at the homepage's new address, if it has one.

        :param stage: that of the homepage.
        :param responds: whether the given address does.
        """
        site = self.moved_to(final_url)
        if site is None:
            return
        for path in self.other_paths:
            found_by = FoundBy.WELL_KNOWN if path == "robots.txt" else FoundBy.KNOWN_PATH
            yield StartUrl(urljoin(site, path), found_by, stage=stage)
        if self.newer and not responds:
            for path in NEWER_PATHS:
                yield StartUrl(urljoin(site, path), FoundBy.KNOWN_PATH, stage=self.newer)


def _host_without_www(host: str | None) -> str:
    return (host or "").removeprefix("www.").rstrip(".")


@dataclass(frozen=True, slots=True)
class DiscoveryPlan:
    """The stages of discovery, in order; a stage without a condition is not part of the plan."""

    robots: bool = True
    known_paths: tuple[str, ...] = KNOWN_PATHS
    known: Condition = Condition.ALWAYS
    homepage: Condition | None = None
    newer: Condition | None = None
    homepage_first: bool = False
    """Whether the homepage is searched before known paths are tried."""

    def start_urls(self, homepage: str) -> Iterator[StartUrl]:
        """Yield what to try on a website; ``homepage`` ends with a slash."""
        if self.robots:
            robots = urljoin(homepage, "robots.txt")
            yield StartUrl(robots, FoundBy.WELL_KNOWN, stage=Stage("robots.txt"))
        known = self._paths(homepage, self.known_paths, Stage("known paths", self.known))
        links = self._homepage(homepage)
        yield from (*links, *known) if self.homepage_first else (*known, *links)
        if self._newer:
            yield from self._paths(homepage, NEWER_PATHS, self._newer)
        if self.homepage:
            always = self.homepage is Condition.ALWAYS
            stage = Stage("feeds", Condition.ALWAYS if always else Condition.UNLESS_FOUND)
            query = HomepageQuery(homepage, feeds=True)
            yield StartUrl(homepage, FoundBy.WELL_KNOWN, stage=stage, homepage=query)

    @property
    def _newer(self) -> Stage | None:
        return Stage("newer paths", self.newer) if self.newer else None

    def _homepage(self, homepage: str) -> Iterator[StartUrl]:
        if self.homepage is None:
            return
        other_paths = ("robots.txt",) * self.robots + self.known_paths
        query = HomepageQuery(homepage, feeds=False, other_paths=other_paths, newer=self._newer)
        stage = Stage("homepage", self.homepage)
        yield StartUrl(homepage, FoundBy.WELL_KNOWN, stage=stage, homepage=query)

    @staticmethod
    def _paths(homepage: str, paths: Iterable[str], stage: Stage) -> Iterator[StartUrl]:
        for path in paths:
            yield StartUrl(urljoin(homepage, path), FoundBy.KNOWN_PATH, stage=stage)


def in_fixed_order(paths: Iterable[str]) -> list[str]:
    """Return paths in an order that doesn't depend on hash seeds: ours, then alphabetical."""
    return sorted(paths, key=lambda path: (_RANK.get(path, len(_RANK)), path))


def discovery_plan(
    policy: Policy,
    known_paths: Iterable[str] = KNOWN_PATHS,
    *,
    use_robots: bool,
    use_known_paths: bool | None,
) -> DiscoveryPlan:
    """Return the plan for some options: True is always, False never, None where needed.

    Robots.txt and known paths, always, are the scope of 1.8.1; newer stages run only where those
    found nothing. Known paths that are tried only where needed come after the homepage, which is
    one request. A caller who excludes a stage of 1.8.1 must ask for the newer ones.
    """
    narrowed = not use_robots or use_known_paths is False
    return DiscoveryPlan(
        use_robots,
        () if use_known_paths is False else tuple(known_paths),
        _condition(use_known_paths, Condition.UNLESS_FOUND) or Condition.ALWAYS,
        homepage=_condition(policy.use_homepage, None if narrowed else Condition.UNLESS_FOUND),
        newer=_condition(policy.use_newer_paths, None if narrowed else Condition.IF_NONE),
        homepage_first=use_known_paths is None,
    )


def _condition(wanted: bool | None, default: Condition | None) -> Condition | None:
    if wanted is None:
        return default
    return Condition.ALWAYS if wanted else None
