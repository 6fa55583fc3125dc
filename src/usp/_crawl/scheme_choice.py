"""The scheme of a site that was named without one: https, or http if only that responds.

The crawl starts with https. If neither its first URL nor the homepage responds, the same is tried
with http. If http responds, the crawl starts again there, as if it had been given.
"""

from collections.abc import Iterator
from typing import NamedTuple

from usp._crawl.discovery import StartUrl
from usp._crawl.messages import FetchFailed
from usp._crawl.resource import Resource
from usp._crawl.resource_table import ResourceTable
from usp._parse import Document, Kind
from usp.objects.outcome import FoundBy


class Site(NamedTuple):
    """What a crawl can start with."""

    name: str
    """The URL of the tree's root."""
    start_urls: tuple[StartUrl, ...]

    def probes(self) -> Iterator[StartUrl]:
        """Yield the URLs that show whether the site responds: the first one, and the homepage."""
        yield from self.start_urls[:1]
        if self.start_urls and self.start_urls[0].found_by is not FoundBy.GIVEN:
            homepages = (start for start in self.start_urls if start.homepage)
            yield next(homepages, StartUrl(self.name, FoundBy.WELL_KNOWN))


class SchemeChoice:
    """Chooses between the site with https and the site with http."""

    def __init__(self, preferred: Site, other: Site) -> None:
        self.preferred = preferred
        self._other = other
        self.waits_for: Resource | None = None
        """The resource without which nothing can be chosen."""

    def chosen(self, resources: ResourceTable) -> Site | None:
        """Return the site that responds, the preferred one if none does; None if it isn't known."""
        for site in (self.preferred, self._other):
            for probe in site.probes():
                resource = self._request(resources, probe)
                result = resource.own_result
                if result is None:
                    self.waits_for = resource
                    return None
                if _responded(result):
                    return site
        return self.preferred

    @staticmethod
    def _request(resources: ResourceTable, probe: StartUrl) -> Resource:
        return resources.request(
            probe.url,
            probe.level,
            is_guess=probe.found_by is not FoundBy.GIVEN,
            kind=Kind.HOMEPAGE if probe.homepage else None,
            may_fall_back=False,
        )


def _responded(result: Document | FetchFailed) -> bool:
    """Tell whether a host responded; an untrusted certificate is no reason to use http."""
    return isinstance(result, Document) or not result.no_response or result.untrusted
