"""The functions for asyncio: trees as coroutines, pages as async iterators, many sites at once.

The names and parameters are those of ``usp.tree`` and ``usp.stream``. Callbacks are plain functions
and run in the caller's task. Needs the extra ``async``, which installs aiohttp.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, Self, Unpack

from usp._aio_stream import AioCrawlStream, AioStream, first_crawl
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.policy import Policy
from usp._crawl.unique_urls import UniqueUrls
from usp._crawl.urls import is_start_url, url_with_scheme
from usp._crawl.work import PageBatch
from usp._display import redact_argument
from usp._drive.aio import AioCrawlClient, options_for, run
from usp._drive.bounded_tasks import as_they_finish
from usp._drive.events import emitter
from usp._drive.off_loop import in_thread, off_loop
from usp._drive.page_filter import PageFilter
from usp._extras import check_installed, load
from usp._keywords import CrawlFields, aio_crawl_keywords, explains_crawl
from usp._source import CrawlStart, SourceName, known_and_extra_paths
from usp._store import Store
from usp._sync.aio import AioSync, sync
from usp._tables.aio import read_tables
from usp._tables.choice import explains_table, wanted_table
from usp._validate import (
    argument_error,
    check_flags,
    check_int,
    shown_argument,
)
from usp.objects.events import Observer
from usp.objects.outcome import Outcome
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.stream import StreamState
from usp.tree import _UNPUBLISHED_SITEMAP_PATHS
from usp.web_client.abstract_aio_client import AbstractAioWebClient

load("aiohttp", "usp.aio", "async")  # its absence is told before anything needs it
from usp.web_client.aio_client import AioWebClient  # noqa: E402

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "AioPageStream",
    "AioReadFields",
    "AioSync",
    "AioTreeStream",
    "AioWebClient",
    "iter_pages",
    "record_batches",
    "sitemap_tree",
    "sitemap_tree_for_homepage",
    "sitemap_trees",
    "sync",
]

_FEW_SITEMAPS: Final = 100
"""A tree of so many is made in the event loop; a thread would take longer."""


class AioReadFields(CrawlFields, total=False):
    """How a source is read: the keywords of ``iter_pages``."""

    web_client: AbstractAioWebClient | None
    use_robots: bool
    use_known_paths: bool | None
    recurse_callback: RecurseCallback | None
    recurse_list_callback: RecurseListCallback | None
    observer: Observer | None
    policy: Policy | None


class AioPageStream(AioCrawlStream[SitemapPage]):
    """Pages as they arrive, in document order; returned by ``iter_pages``."""


class _PageReader:
    """Makes the pages of a stream."""

    takes_long = False

    def batches(self, node: Node, _state: StreamState[PageFilter]) -> PageBatch:
        return PageBatch(node.document.pages if node.document else ())

    def items(
        self, node: Node, batch: list[SitemapPage], state: StreamState[PageFilter]
    ) -> Iterator[SitemapPage]:
        return state.filter.select(node, batch)

    def after(self, _node: Node, *, to_the_end: bool) -> Iterator[SitemapPage]:
        del to_the_end
        return iter(())

    def end(self, _state: StreamState[PageFilter]) -> Iterator[SitemapPage]:
        return iter(())


class AioTreeStream(AioStream[tuple[str, IndexWebsiteSitemap]]):
    """The trees of many websites, each with its homepage as given: of ``sitemap_trees``."""

    @classmethod
    def _start(cls, items: AsyncGenerator[tuple[str, IndexWebsiteSitemap], None]) -> Self:
        stream = cls.__new__(cls)
        stream._items = items
        return stream


@explains_crawl
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
    **crawl_fields: Unpack[CrawlFields],
) -> IndexWebsiteSitemap:
    """Find, fetch and parse all sitemaps of a website, as ``usp.tree`` does.

    The tree is the same as that of ``usp.tree``. Iterating over its pages does no network I/O: the
    crawl is over, and the documents are stored.

    :param homepage_url: any URL of the site, or a bare domain, which means https.
    :param web_client: the client to fetch with; by default an ``AioWebClient`` for this crawl.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common.
    :param extra_known_paths: further paths to try, relative to the homepage.
    :param recurse_callback: as in ``usp.tree.sitemap_tree_for_homepage``.
    :param recurse_list_callback: as in ``usp.tree.sitemap_tree_for_homepage``.
    :param normalize_homepage_url: whether to shorten the URL to the homepage.
    :param stop_callback: called with each page in document order; True ends the crawl before it.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: the root of the tree; its ``outcome`` says how the crawl ended.
    :raises UsageError: if the URL isn't an HTTP(S) one, or another argument is wrong.
    """
    policy, client = aio_crawl_keywords(policy, web_client, crawl_fields, homepage_url)
    options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.for_homepage(
        homepage_url,
        policy,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
        known_paths=known_and_extra_paths(_UNPUBLISHED_SITEMAP_PATHS, extra_known_paths),
        normalize=normalize_homepage_url,
    )
    return await _tree(start, policy, options, client)


@explains_crawl
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
    **crawl_fields: Unpack[CrawlFields],
) -> IndexWebsiteSitemap:
    """Fetch and parse a site, or one sitemap with all that it leads to, as ``usp.tree`` does.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param web_client: the client to fetch with; by default an ``AioWebClient`` for this crawl.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param recurse_callback: as in ``usp.tree.sitemap_tree_for_homepage``.
    :param recurse_list_callback: as in ``usp.tree.sitemap_tree_for_homepage``.
    :param stop_callback: called with each page in document order; True ends the crawl before it.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: the root of the tree; its ``outcome`` says how the crawl ended.
    :raises UsageError: if the source is none of these, or another argument is wrong.
    """
    policy, client = aio_crawl_keywords(policy, web_client, crawl_fields, source)
    options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.for_source(
        source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=Store()
    )
    return await _tree(start, policy, options, client)


async def _tree(
    start: CrawlStart,
    policy: Policy,
    options: CrawlOptions,
    client: AioCrawlClient,
) -> IndexWebsiteSitemap:
    options = options_for(client, options)
    if start.file:
        crawl = await in_thread(start.crawl, policy, options)  # it reads the file
    else:
        crawl = start.crawl(policy, options)
    async with client as opened:
        await run(crawl, opened, start.homepage, options.observer)
    is_small = crawl._cursor.tally.declared <= _FEW_SITEMAPS
    return crawl._into_tree() if is_small else await off_loop(crawl._into_tree)


@explains_crawl
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
    **crawl_fields: Unpack[CrawlFields],
) -> AioPageStream:
    """Stream the pages of a site as ``usp.iter_pages`` does, as an async iterator.

    Nothing is fetched, and no file is read, before the first page is requested.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param web_client: the client to fetch with; by default an ``AioWebClient`` for this stream.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param recurse_callback: as in ``usp.iter_pages``.
    :param recurse_list_callback: as in ``usp.iter_pages``.
    :param stop_callback: called with each page before you get it; True ends the stream there.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: an async iterator of pages, with ``outcome``, ``tried``, ``problems``, ``skipped`` and
        ``aclose()``.
    :raises UsageError: if the source is none of these, or another argument is wrong.
    """
    policy, client = aio_crawl_keywords(policy, web_client, crawl_fields, source)
    options = CrawlOptions(
        recurse_callback, recurse_list_callback, stop_callback, observer, streaming=True
    )
    store = Store(file_per_document=True)
    start = CrawlStart.for_source(
        source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=store
    )
    crawl = first_crawl(start, policy, options_for(client, options))
    state = StreamState(crawl, emitter(observer), PageFilter)
    return AioPageStream._start(start, state, _PageReader(), client, store)


@explains_table
def record_batches(
    source: SourceName,
    table: str = "pages",
    *,
    columns: Iterable[str] | None = None,
    unique: bool = False,
    **reading: Unpack[AioReadFields],
) -> AsyncGenerator["pa.RecordBatch", None]:
    """Iterate over a table as record batches of Arrow, while it is read.

    The source is a single one, and no tree: ``usp.record_batches`` takes those.

    :raises MissingExtraError: if pyarrow is missing; the extra ``tables`` installs it.
    """
    from usp._export.arrow import ArrowTypes

    wanted = wanted_table(table, columns)
    check_flags(unique=unique)
    check_installed("pyarrow", "record_batches()", "tables")
    stream = read_tables(
        source, table, columns=wanted.names, unique=UniqueUrls() if unique else None, **reading
    )

    async def batches() -> AsyncGenerator["pa.RecordBatch", None]:
        async with stream:
            types = await in_thread(ArrowTypes, "record_batches()")
            schema = types.schema(wanted)
            async for batch in stream:
                # pyarrow imports pandas for the first one, where that is installed.
                yield await in_thread(types.record_batch, batch, schema)

    return batches()


@explains_crawl
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
    **crawl_fields: Unpack[CrawlFields],
) -> AioTreeStream:
    """Crawl many websites concurrently, and yield each tree as soon as it is complete.

    However many homepages there are, only those in progress are in memory. All crawls share one
    client; ``AioWebClient(concurrency=...)`` limits the requests of all of them, the keyword
    ``concurrency`` those of each. A homepage that isn't a URL is data here: its tree is empty, and
    has the problem.

    :param homepages: URLs or bare domains (which means https), from any iterable, sync or async.
    :param sites_at_once: how many websites are crawled concurrently.
    :param web_client: the client to fetch with; by default one ``AioWebClient`` for all crawls.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common.
    :param extra_known_paths: further paths to try, relative to each homepage.
    :param recurse_callback: as in ``usp.tree.sitemap_tree_for_homepage``.
    :param recurse_list_callback: as in ``usp.tree.sitemap_tree_for_homepage``.
    :param stop_callback: called with each page; True ends the crawl of that page's website.
    :param observer: called with the events of all crawls; the URL tells them apart.
    :param policy: limits and options of each crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: an async iterator of (homepage as given, root of its tree), with ``aclose()``.
    :raises UsageError: if an argument is wrong.
    """
    check_int("sites_at_once", sites_at_once, 1)
    if isinstance(homepages, str | bytes) or not isinstance(homepages, Iterable | AsyncIterable):
        raise argument_error("homepages", "an iterable, such as a list", homepages)
    settled, shared = aio_crawl_keywords(policy, web_client, crawl_fields)
    check_flags(use_robots=use_robots, use_known_paths=use_known_paths)
    options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback, observer)
    known_paths = known_and_extra_paths(_UNPUBLISHED_SITEMAP_PATHS, extra_known_paths)

    async def tree(client: AbstractAioWebClient, homepage: object) -> IndexWebsiteSitemap:
        if not isinstance(homepage, str) or not is_start_url(url_with_scheme(homepage)):
            return _unreachable_tree(homepage)
        start = CrawlStart.for_homepage(
            homepage,
            settled,
            use_robots=use_robots,
            use_known_paths=use_known_paths,
            known_paths=known_paths,
        )
        return await _tree(start, settled, options, AioCrawlClient(client))

    trees = as_they_finish(homepages, shared, tree, sites_at_once)
    return AioTreeStream._start(trees)


def _unreachable_tree(homepage: object) -> IndexWebsiteSitemap:
    """Return the empty tree of a homepage that is neither a URL nor a domain."""
    problem = Problem("SM604", f"{shown_argument(homepage)} is neither a URL nor a domain")
    name = redact_argument(str(homepage))
    return IndexWebsiteSitemap(name, [], outcome=Outcome.UNREACHABLE, notes=(problem,))
