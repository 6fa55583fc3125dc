"""What users of asyncio call: the sitemaps of a website as a coroutine, its pages as an async
iterator, and the trees of many websites at once.

The same names as in ``usp.tree`` and ``usp.stream``, with the same parameters; callbacks are plain
functions and run in the task of the caller. Needs the extra ``async``, which is aiohttp.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import Self, TypeVar, Unpack

from usp._crawl.assembly import website_tree
from usp._crawl.core import Crawl, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.options import Callbacks
from usp._crawl.policy import Policy, PolicyFields, policy_of
from usp._crawl.urls import is_start_url
from usp._drive import events as report
from usp._drive.aio import AioCrawlRun, PageBatches, run
from usp._drive.bounded_tasks import as_they_finish
from usp._drive.page_filter import PageFilter
from usp._source import CrawlStart, SourceName, known_and_extra, url_of
from usp._store import Store
from usp._validate import argument_error, check_flags, check_int, check_optional_instance
from usp.objects.events import Observer
from usp.objects.outcome import Outcome
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.stream import StreamStatus
from usp.tree import _UNPUBLISHED_SITEMAP_PATHS
from usp.web_client.abstract_aio_client import AbstractAioWebClient

try:
    from usp.web_client.aio_client import AioWebClient
except ModuleNotFoundError as error:
    if error.name != "aiohttp":
        raise
    raise ImportError("usp.aio needs aiohttp: pip install 'usp[async]'") from None

__all__ = [
    "AioWebClient",
    "iter_pages",
    "sitemap_tree",
    "sitemap_tree_for_homepage",
    "sitemap_trees",
]

_T = TypeVar("_T")


class Stream(AsyncIterator[_T]):
    """An async iterator that can be closed at any time, and is an async context manager for it."""

    _items: AsyncGenerator[_T, None]

    def __anext__(self) -> Awaitable[_T]:
        return self._items.__anext__()

    async def aclose(self) -> None:
        """End what is under way: when this returns, nothing is fetched any more."""
        await self._items.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class PageStream(StreamStatus, Stream[SitemapPage]):
    """Pages as they arrive, in the tree's order."""

    def __init__(
        self,
        crawl: Crawl,
        client: AbstractAioWebClient | None,
        homepage: str,
        store: Store,
        stop_callback: StopCallback | None = None,
        observer: Observer | None = None,
    ) -> None:
        """Begin a stream, with a client of its own where none is given."""
        self._crawl = crawl
        self._emit = report.emitter(observer)
        self._page_filter = PageFilter(crawl, stop_callback, self._emit)
        self._store = store
        self._items = self._read(client, homepage, store)

    async def aclose(self) -> None:
        """End what is under way: when this returns, nothing is fetched any more."""
        await super().aclose()
        self._store.close()  # a file that was named is there before anything is read

    async def _read(
        self, given: AbstractAioWebClient | None, homepage: str, store: Store
    ) -> AsyncGenerator[SitemapPage, None]:
        crawl = self._crawl
        try:
            async with (
                _client(given) as client,
                AioCrawlRun(crawl, client, homepage, self._emit, store) as under_way,
            ):
                going = True
                while True:
                    while crawl.ready and not self._page_filter.is_closed():
                        node = crawl.ready.popleft()
                        batches = PageBatches(node.document)
                        while not self._page_filter.is_closed() and (batch := await batches.next()):
                            for page in self._page_filter.select(node, batch):
                                yield page
                        self._page_filter.close(node)
                    if not going:  # what had come when a limit was reached was read, too
                        return
                    going = await under_way.step()
        finally:
            store.close()


async def sitemap_tree_for_homepage(
    homepage_url: str,
    web_client: AbstractAioWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool = True,
    extra_known_paths: set[str] | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    normalize_homepage_url: bool = True,
    *,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **changes: Unpack[PolicyFields],
) -> IndexWebsiteSitemap:
    """Find, fetch and read all sitemaps of a website, as ``usp.tree`` does.

    The tree is the same as that of ``usp.tree``, and its pages are read when they are walked,
    without waiting for anything: the crawl is over.

    :param web_client: the client to fetch with; by default an ``AioWebClient`` of the crawl's own.
    """
    settled = policy_of(policy, changes)
    check_optional_instance("web_client", web_client, AbstractAioWebClient)
    callbacks = Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.of_homepage(
        homepage_url,
        settled,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
        known_paths=known_and_extra(_UNPUBLISHED_SITEMAP_PATHS, extra_known_paths),
        normalize=normalize_homepage_url,
    )
    return await _tree(start, settled, web_client, callbacks)


async def sitemap_tree(
    source: SourceName,
    *,
    web_client: AbstractAioWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **changes: Unpack[PolicyFields],
) -> IndexWebsiteSitemap:
    """Read a site, or one sitemap with all that it leads to, as ``usp.tree`` does.

    :param web_client: the client to fetch with; by default an ``AioWebClient`` of the crawl's own.
    """
    settled = policy_of(policy, changes)
    check_optional_instance("web_client", web_client, AbstractAioWebClient)
    callbacks = Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = await asyncio.to_thread(  # a file takes its time
        CrawlStart.of_source,
        source,
        settled,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
        store=Store(),
    )
    return await _tree(start, settled, web_client, callbacks)


async def _tree(
    start: CrawlStart,
    policy: Policy,
    web_client: AbstractAioWebClient | None,
    callbacks: Callbacks,
) -> IndexWebsiteSitemap:
    crawl = Crawl(
        start.start_urls,
        policy,
        recurse_callback=callbacks.recurse_callback,
        recurse_list_callback=callbacks.recurse_list_callback,
        stop_callback=callbacks.stop_callback,
        counting=callbacks.observer is not None,
        probe_at_once=True,
    )
    async with _client(web_client) as client:
        await run(crawl, client, start.homepage, callbacks.observer)
    return website_tree(start.name, crawl)


def iter_pages(
    source: SourceName,
    *,
    web_client: AbstractAioWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **changes: Unpack[PolicyFields],
) -> PageStream:
    """Stream the pages of a site, those of a document as soon as it is there, as ``usp`` does.

    Nothing is fetched before the first page is asked for; a file is read at once.

    :param web_client: the client to fetch with; by default an ``AioWebClient`` of the stream's own.
    """
    settled = policy_of(policy, changes)
    check_optional_instance("web_client", web_client, AbstractAioWebClient)
    Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    store = Store(file_per_document=True)
    start = CrawlStart.of_source(
        source, settled, use_robots=use_robots, use_known_paths=use_known_paths, store=store
    )
    crawl = Crawl(
        start.start_urls,
        settled,
        recurse_callback=recurse_callback,
        recurse_list_callback=recurse_list_callback,
        probe_at_once=True,
        streaming=True,
    )
    return PageStream(crawl, web_client, start.homepage, store, stop_callback, observer)


class TreeStream(Stream[tuple[str, IndexWebsiteSitemap]]):
    """The trees of many websites, each with its homepage as it was given, as they finish."""

    def __init__(self, items: AsyncGenerator[tuple[str, IndexWebsiteSitemap], None]) -> None:
        self._items = items


def sitemap_trees(
    homepages: Iterable[str] | AsyncIterable[str],
    *,
    sites_at_once: int = 100,
    web_client: AbstractAioWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool = True,
    extra_known_paths: set[str] | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **changes: Unpack[PolicyFields],
) -> TreeStream:
    """Crawl many websites at once, and give each tree as soon as it is there.

    However many homepages there are, only those that are crawled are held. All crawls share one
    client, whose ``concurrency`` bounds the requests under way. A homepage that isn't a URL is data like
    any other here: its tree is empty, and names the problem. Parameters that aren't named here are
    those of ``sitemap_tree_for_homepage``, for each of the crawls.

    :param homepages: URLs or bare domains (which means https), from whatever can be iterated.
    :param sites_at_once: how many websites are crawled at once.
    :param web_client: the client to fetch with; by default an ``AioWebClient`` for all of them.
    :param stop_callback: ends the crawl of the website that the page belongs to.
    :param observer: told of all crawls, as it happens; what belongs together is told by its URL.
    """
    check_int("sites_at_once", sites_at_once, 1)
    if isinstance(homepages, str | bytes) or not isinstance(homepages, Iterable | AsyncIterable):
        raise argument_error("homepages", "several, such as a list", homepages)
    settled = policy_of(policy, changes)
    check_optional_instance("web_client", web_client, AbstractAioWebClient)
    check_flags(use_robots=use_robots, use_known_paths=use_known_paths)
    callbacks = Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    known_paths = known_and_extra(_UNPUBLISHED_SITEMAP_PATHS, extra_known_paths)

    async def tree(client: AbstractAioWebClient, homepage: object) -> IndexWebsiteSitemap:
        url = url_of(homepage) if isinstance(homepage, str) else ""
        if not is_start_url(url):
            problem = Problem("SM604", f"{homepage!r} is neither a URL nor a domain")
            return IndexWebsiteSitemap(
                str(homepage), [], outcome=Outcome.UNREACHABLE, notes=(problem,)
            )
        start = CrawlStart.of_homepage(
            url,
            settled,
            use_robots=use_robots,
            use_known_paths=use_known_paths,
            known_paths=known_paths,
            normalize=True,
        )
        return await _tree(start, settled, client, callbacks)

    return TreeStream(as_they_finish(homepages, _client(web_client), tree, sites_at_once))


def _client(own: AbstractAioWebClient | None) -> AbstractAsyncContextManager[AbstractAioWebClient]:
    """Return a client for the time of a crawl: the caller's, which stays open, or a new one."""
    return AioWebClient() if own is None else nullcontext(own)
