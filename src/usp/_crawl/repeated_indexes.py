"""The budget of repeated places: what keeps webs and diamonds of indexes bounded."""

from usp._crawl.nodes import Place
from usp._crawl.resource import Standing
from usp._crawl.resource_table import Resources


class Repeats:
    """Lets an index stand open in several places, as long as the budget lasts."""

    def __init__(self, budget: int, resources: Resources) -> None:
        self._left = budget
        self._resources = resources

    def allowed(self, place: Place, urls: list[str]) -> list[str]:
        """Return the children of an index that have a place here.

        The first time, all of them. Where the index stands open elsewhere already, all of them
        while the budget of repeated places lasts. After that it stands closed, but for children
        that stand nowhere else, or only so much deeper that something below them may be out of
        reach there.
        """
        standing = place.resource.standing if place.resource else Standing()
        before = standing.opened_at
        standing.opened_at = place.level if before is None else min(before, place.level)
        if before is None:
            return urls
        if len(urls) <= self._left:
            self._left -= len(urls)
            return urls
        nearer = place.level < before
        news = [url for url in urls if nearer and self._is_news(url, place.level + 1)]
        place.closed = len(news) < len(urls)
        return news

    def _is_news(self, url: str, level: int) -> bool:
        """Tell whether a child stands nowhere else, or only deeper."""
        resource = self._resources.find(url)
        placed_at = resource.placed_at if resource else None
        return placed_at is None or placed_at > level
