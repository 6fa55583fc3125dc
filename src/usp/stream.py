"""What users call who want pages and no tree: the pages of a site as a stream."""

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from usp._crawl.machine import Crawl, RecurseCallback, RecurseListCallback
from usp._crawl.policy import Policy
from usp._crawl.seeds import KNOWN_PATHS, Seed, website_seeds
from usp._drive.choose import steps
from usp._store import Store
from usp.exceptions import SitemapException
from usp.helpers import is_http_url, strip_url_to_homepage
from usp.objects.outcome import FoundBy, Outcome
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.web_client.abstract_client import AbstractWebClient
from usp.web_client.requests_client import RequestsWebClient


class PageStream(Iterator[SitemapPage]):
    """Pages as they arrive, in the tree's order: an iterator that can be closed at any time.

    Closing shuts the sockets and doesn't wait. A stream that is used as a context manager, or is
    read to its end, closes itself.
    """

    def __init__(
        self, crawl: Crawl, client: AbstractWebClient, homepage: str, *, own: bool
    ) -> None:
        """Begin a stream; ``own`` tells that the client is the stream's to close."""
        self._crawl = crawl
        self._client = client
        self._own = own
        self._pages = self._read(homepage)

    def _read(self, homepage: str) -> Iterator[SitemapPage]:
        left = self._crawl.policy.max_pages
        carried = steps(self._crawl, self._client, homepage, Store(passing=True))
        try:
            for _ in carried:
                while self._crawl.ready:
                    place = self._crawl.ready.popleft()
                    for page in place.document.pages if place.document else ():
                        if left == 0:
                            self._crawl.stop("SM704", "The crawl has reached its limit of pages")
                            return
                        left = None if left is None else left - 1
                        yield page
                    self._crawl.release(place)
        finally:
            carried.close()  # type: ignore[attr-defined]  # a generator: it shuts the sockets
            if self._own:
                self._client.close()

    def __next__(self) -> SitemapPage:
        return next(self._pages)

    def close(self) -> None:
        """End the stream: nothing more is fetched."""
        self._pages.close()  # type: ignore[attr-defined]  # a generator

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def outcome(self) -> Outcome:
        """What came of the crawl, as far as it has come."""
        return self._crawl.outcome

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The limit that ended the stream, if one did."""
        return (Problem(*self._crawl.stopped),) if self._crawl.stopped else ()


def iter_pages(
    source: str,
    *,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    policy: Policy | None = None,
) -> PageStream:
    """Stream the pages of a site, those of a document as soon as it is there.

    Later sitemaps are fetched ahead, within the policy's bound; a sitemap that is declared in
    several places gives its pages at the first. Memory and disk don't grow with the site.

    :param source: a homepage, a bare domain (which means https), or the URL of one sitemap.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to look for sitemaps in robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are often found; by default, only
        where robots.txt declares nothing.
    :param recurse_callback: as in ``sitemap_tree_for_homepage``.
    :param recurse_list_callback: as in ``sitemap_tree_for_homepage``.
    :param policy: limits and manners of the crawl.
    :raises SitemapException: if the source isn't a URL.
    """
    url = source if "://" in source else f"https://{source}"
    if not is_http_url(url):
        raise SitemapException(f"{source!r} is neither a URL nor a domain.")
    homepage = strip_url_to_homepage(url)
    client = web_client or RequestsWebClient()
    known = KNOWN_PATHS if use_known_paths is not False else ()
    seeds = website_seeds(
        homepage, use_robots=use_robots, known_paths=known, if_needed=use_known_paths is None
    )
    is_site = url.rstrip("/") == homepage.rstrip("/")
    crawl = Crawl(
        seeds if is_site else [Seed(url, FoundBy.GIVEN)],
        policy,
        recurse_callback=recurse_callback,
        recurse_list_callback=recurse_list_callback,
        streaming=True,
    )
    return PageStream(crawl, client, homepage, own=web_client is None)
