"""What users call who want pages and no tree: the pages of a site as a stream."""

from collections import Counter
from collections.abc import Generator, Iterator
from types import TracebackType
from typing import Self, Unpack

from usp._crawl.core import Crawl, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.options import Callbacks
from usp._crawl.policy import Policy, PolicyFields, policy_of
from usp._drive import events as report
from usp._drive.page_filter import PageFilter
from usp._drive.run import steps
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp.objects.events import Observer
from usp.objects.outcome import Outcome, SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.web_client import as_web_client, default_client
from usp.web_client.abstract_client import AbstractWebClient


class StreamStatus:
    """What a stream of pages says of its crawl, at any time; in asyncio, too."""

    _crawl: Crawl
    _page_filter: PageFilter

    @property
    def outcome(self) -> Outcome:
        """What came of the crawl, as far as it has come."""
        return self._crawl.outcome

    @property
    def skipped(self) -> Counter[SkipReason]:
        """How many sitemaps and pages were left out so far, as the caller asked, and why."""
        return self._crawl.skipped + self._page_filter.skipped

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The limit that ended the stream, if one did."""
        return (Problem(*self._crawl.stopped),) if self._crawl.stopped else ()


class PageStream(StreamStatus, Iterator[SitemapPage]):
    """Pages as they arrive, in the tree's order: an iterator that can be closed at any time.

    Closing shuts the sockets and doesn't wait. A stream that is used as a context manager, or is
    read to its end, closes itself.
    """

    def __init__(
        self,
        crawl: Crawl,
        client: AbstractWebClient,
        homepage: str,
        store: Store,
        *,
        own: bool,
        stop_callback: StopCallback | None = None,
        observer: Observer | None = None,
    ) -> None:
        """Begin a stream; ``own`` tells that the client is the stream's to close."""
        self._crawl = crawl
        self._client = client
        self._own = own
        self._emit = report.emitter(observer)
        self._page_filter = PageFilter(crawl, stop_callback, self._emit)
        self._store = store
        self._pages = self._read(homepage, store)

    def _read(self, homepage: str, store: Store) -> Generator[SitemapPage]:
        carried = steps(self._crawl, self._client, homepage, self._emit, store)
        try:
            yield from self._read_ready()  # what is at hand needn't be waited for
            for _ in carried:
                yield from self._read_ready()
            yield from self._read_ready()  # what had come when a limit was reached
        finally:
            carried.close()  # shuts the sockets
            store.close()
            if self._own:
                self._client.close()

    def _read_ready(self) -> Iterator[SitemapPage]:
        while self._crawl.ready and not self._page_filter.is_closed():
            node = self._crawl.ready.popleft()
            pages = node.document.pages if node.document else ()
            yield from self._page_filter.select(node, pages)
            self._page_filter.close(node)

    def __next__(self) -> SitemapPage:
        return next(self._pages)

    def close(self) -> None:
        """End the stream: nothing more is fetched."""
        self._pages.close()
        self._store.close()  # a file that was named is there before anything is read

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def iter_pages(
    source: SourceName,
    *,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **changes: Unpack[PolicyFields],
) -> PageStream:
    """Stream the pages of a site, those of a document as soon as it is there.

    Later sitemaps are fetched ahead, within the policy's bound; a sitemap that is declared in
    several nodes gives its pages at the first. Memory and disk don't grow with the site.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to look for sitemaps in robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are often found; by default, only
        where what robots.txt declares leads to nothing.
    :param recurse_callback: as in ``sitemap_tree_for_homepage``.
    :param recurse_list_callback: as in ``sitemap_tree_for_homepage``.
    :param stop_callback: asked of each page before it is handed over: whether to end there.
    :param observer: told of each request, answer, retry and count as it happens; see
        ``usp.objects.events``.
    :param policy: limits, manners and choices of the crawl.
    :param changes: single fields of the policy, such as ``per_host=4`` or ``since="2026-01"``.
    :raises SitemapException: if the source is none of these.
    """
    settled = policy_of(policy, changes)
    web_client = web_client if web_client is None else as_web_client(web_client)
    Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    store = Store(file_per_document=True)
    start = CrawlStart.of_source(
        source, settled, use_robots=use_robots, use_known_paths=use_known_paths, store=store
    )
    client = default_client() if web_client is None else web_client
    crawl = Crawl(
        start.start_urls,
        settled,
        recurse_callback=recurse_callback,
        recurse_list_callback=recurse_list_callback,
        probe_at_once=bool(client.thread_safe),
        streaming=True,
    )
    return PageStream(
        crawl,
        client,
        start.homepage,
        store,
        own=web_client is None,
        stop_callback=stop_callback,
        observer=observer,
    )
