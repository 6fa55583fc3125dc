"""Streams: the pages of a site one by one, without a tree."""

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from inspect import GEN_CREATED, getgeneratorstate
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar, Unpack

from usp._closing import ClosesAtExit, close_unless_read, is_being_read
from usp._crawl import Crawl
from usp._crawl.assembly import site_verdict
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.policy import Policy
from usp._crawl.work import PageBatch, ReadBatch
from usp._display import without_credentials
from usp._drive.events import Emit, emitter
from usp._drive.page_filter import PageFilter, StreamFilter
from usp._drive.run import CrawlClient, options_for, steps
from usp._drive.steps import advance, check_process
from usp._keywords import CrawlFields, crawl_keywords, explains_crawl
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp.objects.events import CrawlFinished, Observer
from usp.objects.outcome import Attempt, Outcome, SkipReason
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.objects.robots import RobotsVerdict
from usp.web_client.abstract_client import AbstractWebClient

__all__ = ["PageStream", "iter_pages"]

Item_co = TypeVar("Item_co", covariant=True)
Filter = TypeVar("Filter", bound=StreamFilter)


class StreamState(Generic[Filter]):
    """The crawl of a stream and its filter, which the stream and its generator share."""

    def __init__(
        self, crawl: Crawl, emit: Emit, make_filter: Callable[[Crawl, Emit], Filter]
    ) -> None:
        self.emit = emit
        self._make_filter = make_filter
        self._is_at_end = False
        self.is_ending = False
        """Whether the stream is closed, or will be by the thread that reads it."""
        self.set_crawl(crawl)

    def set_crawl(self, crawl: Crawl) -> None:
        """Use this crawl: that of a file starts when the file was read."""
        self.crawl = crawl
        self.filter = self._make_filter(crawl, self.emit)

    def reach_end(self) -> None:
        """Record that all pages were handed over: the outcome is final."""
        self._is_at_end = True
        self.emit(CrawlFinished(self.crawl.outcome))

    def close(self) -> None:
        """Record that no more pages are handed over; those that are missing make it partial."""
        if not self._is_at_end and self.crawl.stopped is None:
            self.crawl.stop("SM706", "The stream was closed before its end")


class ItemReader(Protocol[Filter, Item_co]):
    """Makes the items of a stream of what has arrived."""

    takes_long: bool
    """Whether its methods take so long that an event loop must not wait for them."""

    def batches(self, node: Node, state: StreamState[Filter]) -> ReadBatch[Any]:
        """Return what reads the pages of a node, many at a time."""

    def items(self, node: Node, batch: Any, state: StreamState[Filter]) -> Iterator[Item_co]:  # noqa: ANN401
        """Yield the items of some pages."""

    def after(self, node: Node, *, to_the_end: bool) -> Iterator[Item_co]:
        """Yield the items that follow the pages of a node."""

    def end(self, state: StreamState[Filter]) -> Iterator[Item_co]:
        """Yield the items at the end of the crawl."""


ReadReady = Callable[[StreamState[Filter], bool], Iterator[Item_co]]
"""Yields the items of what has arrived; it is told whether the crawl is over."""


def read_items(
    reader: ItemReader[Filter, Item_co], state: StreamState[Filter], is_over: bool
) -> Iterator[Item_co]:
    """Yield the items that a reader makes of what has arrived, node by node."""
    chosen = state.filter
    for node in chosen.ready_nodes():
        read = reader.batches(node, state)
        while not chosen.closed and (batch := read(chosen.ended)):
            yield from reader.items(node, batch, state)
        yield from reader.after(node, to_the_end=not (read.ended or chosen.closed))
        if node.pages_due:
            chosen.finish(node, ended=read.ended)
    if is_over:
        yield from reader.end(state)


class StreamStatus:
    """The state of a stream's crawl, at any time; for threads and asyncio."""

    _state: StreamState[Any]

    @property
    def url(self) -> str:
        """The site, sitemap or file; a site that was named without a scheme gets the one that
        responds.
        """
        return without_credentials(self._state.crawl._name)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the crawl so far."""
        return self._state.crawl.outcome

    @property
    def sitemaps_read(self) -> int:
        """The number of sitemaps that were read so far; robots.txt doesn't count."""
        return self._state.crawl._cursor.tally.sitemaps

    @property
    def sitemaps_failed(self) -> int:
        """The number of declared sitemaps that could not be read so far."""
        return self._state.crawl._cursor.tally.failed

    @property
    def skipped(self) -> Counter[SkipReason]:
        """The number of sitemaps and pages that were skipped so far, by reason."""
        skipped_pages: Counter[SkipReason] = self._state.filter.skipped
        return self._state.crawl.skipped + skipped_pages

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """The URLs that were tried so far, in document order, with their results.

        At most 1,000 that are sitemaps, and 1,000 others: the first of each.
        """
        return self._state.crawl._cursor.report.tried

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the crawl so far: why pages are missing.

        The limit that ended the stream, then each sitemap that could not be read, or only in part
        (``sitemap_url``). At most 1,000; if there are more, the last problem counts them.
        """
        stopped = self._state.crawl.stopped
        return (*([stopped] if stopped else []), *self._state.crawl._cursor.report.losses)

    def robots_verdict(self, agent: str) -> RobotsVerdict | None:
        """Return what the site's robots.txt says for an agent: which URLs it may fetch.

        :param agent: the name of the agent, such as ``Googlebot``.
        :return: None if robots.txt was not requested, or has not arrived yet.
        """
        crawl = self._state.crawl
        return site_verdict(crawl._name, crawl._cursor, agent)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream can't be pickled or copied: it is a crawl that runs")


class SyncStream(StreamStatus, ClosesAtExit, Iterator[Item_co]):
    """What a crawl gives as it runs: an iterator that can be closed at any time."""

    _store: Store
    _items: Generator[Item_co]
    _process: int | None = None
    """The process that reads the stream, from the first item on."""
    _close_client: Callable[[], None]

    @classmethod
    def _start(
        cls,
        start: "StreamStart",
        state: StreamState[Filter],
        read_ready: "ReadReady[Filter, Item_co]",
    ) -> Self:
        stream = cls.__new__(cls)
        stream._state = state
        stream._store = start.store
        progress = steps(start.crawl, start.client, start.homepage, state.emit, start.store)
        stream._close_client = start.close_client
        stream._items = _read(state, progress, start.store, start.close_client, read_ready)
        if start.is_file:
            advance(start.crawl, state.filter.ended)  # what it is, is known already
        return stream

    def __next__(self) -> Item_co:
        if self._process is None:
            self._process = os.getpid()
        check_process(self._process)
        try:
            return next(self._items)
        except ValueError as error:
            if is_being_read(error) and self._state.is_ending:  # another thread closes it
                raise StopIteration from None
            raise

    def close(self) -> None:
        """End the stream: nothing more is fetched.

        Another thread may call this, too. Where one is waiting for the next item, the stream ends
        there, as soon as it looks: it alone may touch the crawl.
        """
        self._state.is_ending = True
        never_began = getgeneratorstate(self._items) == GEN_CREATED
        if not close_unless_read(self._items):
            self._state.filter.end_soon()
            return
        self._state.close()  # the generator does so only if it was started
        self._store.close()  # a source that is a file was stored before the first page was read
        if never_began:  # no line of the generator was run, and none will be
            self._close_client()


class PageStream(SyncStream[SitemapPage]):
    """Pages as they arrive, in document order: an iterator that can be closed at any time.

    ``iter_pages`` returns it. Closing closes the sockets at once. A stream that is used as a
    context manager, or is read to its end, closes itself.
    """


def _read(
    state: StreamState[Filter],
    progress: Generator[None],
    store: Store,
    close_client: Callable[[], None],
    read_ready: ReadReady[Filter, Item_co],
) -> Generator[Item_co]:
    """Yield the items of a stream.

    It knows nothing of the stream itself, so that one that is dropped is closed at once, and not
    when the garbage collector gets to it.
    """
    process = os.getpid()
    try:
        yield from read_ready(state, False)  # a file needs no request
        for _ in progress:
            yield from read_ready(state, False)
            if state.is_ending:
                return
        yield from read_ready(state, True)  # what had arrived when a limit was reached
        state.reach_end()
    finally:
        state.close()
        progress.close()  # closes the sockets
        if os.getpid() == process:  # a forked process leaves its parent's files alone
            store.close()
            close_client()


def _read_ready(state: StreamState[PageFilter], _is_over: bool) -> Iterator[SitemapPage]:
    page_filter = state.filter
    for node in page_filter.ready_nodes():
        batch = PageBatch(node.document.pages if node.document else ())
        yield from page_filter.select(node, batch.one_by_one(page_filter.ended))
        page_filter.finish(node, ended=batch.ended)


@dataclass(frozen=True, slots=True)
class StreamStart:
    """A crawl that is ready to be streamed, and what it needs."""

    crawl: Crawl
    client: AbstractWebClient
    close_client: Callable[[], None]
    """Closes the client, if it belongs to the crawl."""
    homepage: str
    store: Store
    is_file: bool

    @classmethod
    def of(
        cls,
        source: SourceName,
        policy: Policy,
        options: CrawlOptions,
        client: CrawlClient,
        *,
        use_robots: bool,
        use_known_paths: bool | None,
    ) -> Self:
        """Prepare the crawl of a source.

        :raises UsageError: if an argument is wrong.
        """
        store = Store(file_per_document=True)
        start = CrawlStart.for_source(
            source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=store
        )
        return cls.at(start, policy, options, client, store)

    @classmethod
    def at(
        cls,
        start: CrawlStart,
        policy: Policy,
        options: CrawlOptions,
        client: CrawlClient,
        store: Store,
    ) -> Self:
        """Prepare a crawl that starts anywhere.

        :param store: where the start has put its file, if it is one.
        """
        with ExitStack() as undo:
            undo.callback(client.close)
            opened = client.opened()
            crawl = start.crawl(policy, replace(options_for(opened, options), streaming=True))
            undo.pop_all()
        return cls(crawl, opened, client.close, start.homepage, store, start.file is not None)


@explains_crawl
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
    **crawl_fields: Unpack[CrawlFields],
) -> PageStream:
    """Stream the pages of a site: those of a sitemap as soon as it is fetched.

    Further sitemaps are prefetched, within the policy's limit. A sitemap that is declared several
    times gives its pages once. Memory and disk use don't grow with the site.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param recurse_callback: called for each child of an index (URL, level of the index, URLs of the
        sitemaps above the child); returns whether to fetch it.
    :param recurse_list_callback: called before that with all children of an index; returns those
        to fetch.
    :param stop_callback: called with each page before you get it; True ends the stream there.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: an iterator of pages, with ``outcome``, ``tried``, ``problems``, ``skipped`` and
        ``close()``.
    :raises UsageError: if the source is none of these, or another argument is wrong.
    """
    policy, client = crawl_keywords(policy, web_client, crawl_fields, source)
    options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = StreamStart.of(
        source,
        policy,
        options,
        client,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
    )
    return page_stream(start)


def page_stream(start: StreamStart) -> PageStream:
    """Stream the pages of a crawl that starts anywhere."""
    state = StreamState(start.crawl, emitter(start.crawl._cursor.options.observer), PageFilter)
    return PageStream._start(start, state, _read_ready)
