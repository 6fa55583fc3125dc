"""Which robots.txt declares which sitemap: the proof that a sitemap may list pages of a host."""

from usp._check.facts import EntryFacts, SitemapFacts
from usp._check.origins import host_of
from usp._parse import Kind


class Declarations:
    """What the robots.txt files of a check declare, and which index leads to a sitemap."""

    def __init__(self) -> None:
        self._by_host: dict[str, set[str]] = {}
        self._parents: dict[str, tuple[str, str | None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_host.values()))

    def add(self, facts: EntryFacts) -> None:
        """Take a line of robots.txt."""
        if facts.sitemap.kind is Kind.ROBOTS:
            for declared in self._declared(facts.sitemap):
                declared.update(facts.entry.urls)

    def end_document(self, sitemap: SitemapFacts) -> None:
        """Take a document that may lead to others."""
        if sitemap.kind is Kind.ROBOTS:
            self._declared(sitemap)
        elif sitemap.kind is Kind.INDEX:
            self._parents[sitemap.url] = sitemap.declared_url, sitemap.parent_url

    def was_read(self, host: str) -> bool:
        """Tell whether the robots.txt of a host was read."""
        return host in self._by_host

    def proves(self, sitemap: SitemapFacts, host: str) -> bool:
        """Tell whether the robots.txt of a host declares a sitemap, or an index that has it."""
        declared = self._by_host.get(host)
        if not declared:
            return False
        names, parent = {sitemap.url, sitemap.declared_url}, sitemap.parent_url
        seen: set[str] = set()
        while not names & declared:
            if parent is None or parent in seen:
                return False
            seen.add(parent)
            names = {parent}
            declared_url, parent = self._parents.get(parent, (parent, None))
            names.add(declared_url)
        return True

    def names(self, urls: set[str]) -> bool:
        """Tell whether some robots.txt declares one of these URLs."""
        return any(urls & declared for declared in self._by_host.values())

    def declares(self, url: str, host: str) -> bool:
        """Tell whether the robots.txt of a host declares a URL."""
        return url in self._by_host.get(host, ())

    def _declared(self, robots: SitemapFacts) -> list[set[str]]:
        """Return what is declared for the hosts of a robots.txt: before redirects and after."""
        hosts = {host_of(robots.url), host_of(robots.declared_url)} - {""}
        return [self._by_host.setdefault(host, set()) for host in hosts]
