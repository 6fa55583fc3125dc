"""``usp.aio.sync``: what changed since the last run, in asyncio."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, closing
from types import TracebackType
from typing import Self, Unpack

from usp._aio_stream import AioCrawlStream, AioStream, first_crawl
from usp._crawl.policy import Policy, explains_policy
from usp._drive.aio import client_scope, options_for
from usp._drive.bounded_tasks import as_they_finish
from usp._drive.events import emitter
from usp._drive.off_loop import in_thread
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp._sync.changes import Change
from usp._sync.options import (
    DiscoveryChoice,
    SiteReport,
    SyncFields,
    SyncOptions,
    SyncSource,
    explains_sync,
    sources_of,
)
from usp._sync.reader import SyncReader
from usp._sync.state import WAIT_SECONDS, State
from usp._sync.sync import Delivery, with_numbers
from usp._validate import check_int, check_number, check_optional_instance
from usp.objects.events import Observer
from usp.stream import StreamState
from usp.web_client.abstract_aio_client import AbstractAioWebClient


class AioSync(AioStream[Change]):
    """Changes as the runs find them; ``usp.aio.sync`` returns it.

    A change counts as taken when the next one is asked for, or ``aclose()`` is called. What was not
    taken comes again in the next run: each change comes at least once.
    """

    __module__ = "usp.aio"  # where users find it

    _delivery: Delivery
    _resources: ExitStack

    @classmethod
    def _start(
        cls, delivery: Delivery, changes: AsyncGenerator[Change, None], resources: ExitStack
    ) -> Self:
        found = cls.__new__(cls)
        found._delivery, found._items, found._resources = delivery, changes, resources
        return found

    @property
    def reports(self) -> tuple[SiteReport, ...]:
        """What came of each site that is done."""
        return tuple(self._delivery.reports)

    async def __anext__(self) -> Change:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self._end)
            self._delivery.ask_for_next()
            change = await anext(self._items, None)
            if change is None:
                self._delivery.ask_for_next()
            if change is not None or not self._delivery.options.commit_each:
                undo.pop_all()
        if change is None:
            raise StopAsyncIteration
        return change

    async def aclose(self) -> None:
        """End normally: what was handed over was taken, and nothing more is fetched."""
        try:
            self._delivery.commit()
        finally:
            await self._end()

    async def _end(self) -> None:
        with self._resources:
            await self._items.aclose()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End; after an exception, the last change was not taken."""
        if kind is None:
            await self.aclose()
        else:
            await self._end()


@explains_policy
@explains_sync
def sync(
    *sources: SourceName,
    state: SourceName,
    sites_at_once: int = 100,
    wait: float = WAIT_SECONDS,
    web_client: AbstractAioWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **sync_fields: Unpack[SyncFields],
) -> AioSync:
    """Find what changed on some sites since the last run, as ``usp.sync`` does.

    The state is opened here, so this waits for another process that uses it; nothing is fetched
    before the first change is requested.

    :param sources: homepages, bare domains (which mean https), URLs of sitemaps, files.
    :param state: the file that keeps what is known; it is made if it isn't there.
    :param sites_at_once: how many sites are read concurrently.
    :param wait: how many seconds to wait while another process uses the state.
    :param web_client: the client to fetch with; by default one ``AioWebClient`` for all sites.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param observer: called with each event of the crawls; see ``usp.objects.events``.
    :param policy: limits and options of the crawls. ``include`` and ``exclude`` choose which
        changes are handed over.
    :param sync_fields: what you can choose, and single fields of the policy.
    :return: an async iterator of changes, with ``reports`` and ``aclose()``.
    :raises UsageError: if an argument is wrong, or the file is no state.
    :raises StateError: if another process uses the state.
    """
    check_int("sites_at_once", sites_at_once, 1)
    check_number("wait", wait, 0)
    check_optional_instance("web_client", web_client, AbstractAioWebClient)
    options = SyncOptions.of(policy, sync_fields)
    discovery = DiscoveryChoice(use_robots, use_known_paths)
    named = sources_of(sources, options.policy, discovery)
    with ExitStack() as undo:
        delivery = undo.enter_context(closing(Delivery(State.open_to_run(state, wait), options)))
        runner = _AioRunner(delivery, observer, discovery)
        numbered = with_numbers(delivery, named)
        found = _changes_of(runner, numbered, client_scope(web_client), sites_at_once)
        return AioSync._start(delivery, found, undo.pop_all())


async def _changes_of(
    runner: "_AioRunner",
    sources: Sequence[SyncSource],
    client: AbstractAsyncContextManager[AbstractAioWebClient],
    at_once: int,
) -> AsyncGenerator[Change, None]:
    """Yield what was not taken in earlier runs, then what the runs of the sites find."""
    delivery = runner.delivery
    for source in sources:
        for change in delivery.pending(source.site_id):
            yield change
    async for source, report in as_they_finish(sources, client, runner.run, at_once):
        if report:
            delivery.reports.append(report)
        for change in delivery.pending(source.site_id):
            yield change


class _AioNodeStream(AioCrawlStream[None]):
    """The nodes of a crawl, as they are read."""


class _AioRunner:
    """Runs sites, each in one task."""

    def __init__(
        self,
        delivery: Delivery,
        observer: Observer | None,
        discovery: DiscoveryChoice,
    ) -> None:
        self.delivery = delivery
        self._observer = observer
        self._discovery = discovery

    async def run(self, client: AbstractAioWebClient, source: SyncSource) -> SiteReport | None:
        """Run one site to its end."""
        await asyncio.sleep(self.delivery.options.delay())
        started = time.monotonic()
        run = await in_thread(self.delivery.run, source)
        with closing(run):
            reader = SyncReader(run)
            async with self._stream(source, reader, client) as stream:
                async for _ in stream:
                    pass
            return SiteReport._of(source.name, reader, stream.outcome, time.monotonic() - started)

    def _stream(
        self, source: SyncSource, reader: SyncReader, client: AbstractAioWebClient
    ) -> _AioNodeStream:
        policy = self.delivery.options.policy
        options = options_for(client, reader.options(self._observer))
        store = Store(file_per_document=True)
        start = CrawlStart.for_source(
            source.source,
            policy,
            use_robots=self._discovery.use_robots,
            use_known_paths=self._discovery.use_known_paths,
            store=store,
        )
        crawl = first_crawl(start, policy, options)
        state = StreamState(crawl, emitter(options.observer), reader.filter)
        return _AioNodeStream._start(start, state, reader, client_scope(client), store)
