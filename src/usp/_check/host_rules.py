"""Rules about the hosts of a site: SM352, SM354 and SM367.

A sitemap may list pages of its own host that are below its folder (sitemaps.org, "Sitemap file
location"), and what the robots.txt of a host declares may list any page of that host.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from usp._check.facts import EntryFacts, SitemapFacts
from usp._check.findings import Occurrence
from usp._check.origins import (
    MAX_HOST_NAME,
    MAX_HOSTS,
    Origins,
    UrlOrigin,
    folder_of,
    origin_of,
    path_of,
)
from usp._check.registry import SiteRule, site_rule
from usp._check.rules import CheckSeverity
from usp._check.site_facts import SiteFacts
from usp._quantities import count


@dataclass(slots=True)
class _SitemapScope:
    """What one sitemap may list."""

    sitemap: SitemapFacts
    origin: UrlOrigin | None
    folder: str
    """The folder that pages must be in; a slash if they may be anywhere."""
    proofs: dict[UrlOrigin, bool | None] = field(default_factory=dict)
    """Whether the robots.txt of a host declares it; None if that can't be known."""


@dataclass(slots=True)
class _Use:
    """How often an origin is used, and where first."""

    urls: int
    first: Occurrence


@site_rule("SM352", "SM354", "SM367", "SM750")
class Hosts(SiteRule):
    """Compares the hosts of pages with those of sitemaps, and with one another."""

    def __init__(self, site: SiteFacts) -> None:
        self._origins = Origins()
        self._robots = site.robots
        self._undecided: Counter[tuple[str, UrlOrigin]] = Counter()
        self._scope: _SitemapScope | None = None
        self._uses: dict[UrlOrigin, _Use] = {}

    def add(self, facts: EntryFacts) -> Iterable[Occurrence]:
        """Look at the host and folder of each URL."""
        scope = self._scope
        if scope is None or scope.sitemap is not facts.sitemap:
            scope = self._scope = self._scope_of(facts.sitemap)
        found: list[Occurrence] = []
        for url in facts.entry.urls:
            origin = self._origins.of(url)
            if origin is None:
                continue
            self._count(origin, facts, url)
            if scope.origin and origin.host != scope.origin.host:
                found += self._other_host(facts, url, scope, origin)
            elif scope.folder != "/" and not path_of(url).startswith(scope.folder):
                found += self._outside(facts, url, scope)
        return found

    def finish(self) -> Iterator[Occurrence]:
        """Compare the forms of hosts with one another."""
        yield from self._mixed_schemes()
        for (code, origin), pages in self._undecided.items():
            txt = self._robots.known(origin)
            why = "failed" if txt and txt.failed else "was not read"
            detail = f"{code}: the robots.txt of {origin} {why}; undecided pages: {pages:,}"
            yield Occurrence("SM750", None, detail=detail)
        bare: dict[str, list[_Use]] = {}
        for origin, use in self._uses.items():
            both = bare.setdefault(origin.bare_host, [_NO_USE, _NO_USE])
            both[origin.is_www] = _sum(both[origin.is_www], use)
        for host, (without, with_www) in bare.items():
            if without.urls and with_www.urls:
                urls = count(with_www.urls, "URL")
                detail = f"{urls} of {host} with www. and {without.urls:,} without"
                yield _site_wide("SM367", min(without, with_www, key=_by_count), detail)

    def _scope_of(self, sitemap: SitemapFacts) -> _SitemapScope:
        origin = None if sitemap.is_file else origin_of(sitemap.url)
        return _SitemapScope(sitemap, origin, folder_of(sitemap.url) if origin else "/")

    def _is_proven(self, scope: _SitemapScope, origin: UrlOrigin) -> bool | None:
        """Tell whether the robots.txt of a host declares a sitemap; None if nobody knows."""
        if origin not in scope.proofs:
            if len(scope.proofs) >= MAX_HOSTS:
                scope.proofs.clear()
            scope.proofs[origin] = self._robots.proves(origin, *scope.sitemap.names)
        return scope.proofs[origin]

    def _undecide(self, code: str, origin: UrlOrigin) -> None:
        if len(self._undecided) < MAX_HOSTS:
            self._undecided[code, origin] += 1

    def _outside(self, facts: EntryFacts, url: str, scope: _SitemapScope) -> Iterator[Occurrence]:
        """Judge a page that is not in the folder of the sitemap."""
        assert scope.origin is not None  # noqa: S101 -- without one, the folder is a slash
        is_proven = self._is_proven(scope, scope.origin)
        if is_proven:
            scope.folder = "/"
        elif is_proven is None:
            self._undecide("SM354", scope.origin)
        else:
            detail = f"it is not below {scope.folder}, the folder of the sitemap"
            yield facts.occurrence("SM354", detail, url=url)

    def _count(self, origin: UrlOrigin, facts: EntryFacts, url: str) -> None:
        use = self._uses.get(origin)
        if use is not None:
            use.urls += 1
        elif len(self._uses) < MAX_HOSTS and len(origin.host) <= MAX_HOST_NAME:
            self._uses[origin] = _Use(1, facts.occurrence("SM367", url=url))

    def _other_host(
        self, facts: EntryFacts, url: str, scope: _SitemapScope, origin: UrlOrigin
    ) -> Iterator[Occurrence]:
        """Judge a page on another host than the sitemap."""
        assert scope.origin is not None  # noqa: S101 -- the caller has compared it
        is_proven = self._is_proven(scope, origin)
        detail = f"the sitemap is on {scope.origin.host}"
        if is_proven:
            detail = f"the robots.txt of {origin.host} declares the sitemap"
            yield facts.occurrence("SM352", detail, CheckSeverity.INFO, url=url)
        elif origin.bare_host == scope.origin.bare_host:
            yield facts.occurrence("SM352", f"{detail}; only www. differs", url=url)
        elif is_proven is None:
            self._undecide("SM352", origin)
        else:
            yield facts.occurrence("SM352", detail, url=url)

    def _mixed_schemes(self) -> Iterator[Occurrence]:
        schemes = dict.fromkeys(("http", "https"), _NO_USE)
        for origin, use in self._uses.items():
            schemes[origin.scheme] = _sum(schemes[origin.scheme], use)
        plain, secure = schemes["http"], schemes["https"]
        if plain.urls and secure.urls:
            detail = f"{count(secure.urls, 'URL')} with https and {plain.urls:,} with http"
            yield _site_wide("SM367", min(plain, secure, key=_by_count), detail)


_NO_USE = _Use(0, Occurrence("SM367", None))


def _by_count(use: _Use) -> int:
    return use.urls


def _sum(one: _Use, other: _Use) -> _Use:
    return _Use(one.urls + other.urls, one.first if one.urls else other.first)


def _site_wide(code: str, use: _Use, detail: str) -> Occurrence:
    """Return an occurrence in the site as a whole, with the first page as an example."""
    first = use.first
    return Occurrence(code, None, first.url, detail=f"{detail}, first in {first.sitemap_url}")
