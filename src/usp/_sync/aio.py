"""``usp.aio.sync``: what changed since the last run, in asyncio."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import partial
from types import TracebackType
from typing import Self, Unpack

from usp._aio_stream import AioCrawlStream, first_crawl
from usp._crawl.policy import Policy
from usp._drive.aio import AioCrawlClient, options_for
from usp._drive.bounded_tasks import as_they_finish
from usp._drive.events import emitter
from usp._drive.off_loop import closing_in_thread, in_thread_to_end
from usp._keywords import aio_crawl_keywords, explains_crawl, taken
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp._sync.changes import Change
from usp._sync.options import (
    DiscoveryChoice,
    SiteReport,
    SyncChoices,
    SyncFields,
    SyncSource,
    explains_sync,
)
from usp._sync.reader import SyncReader
from usp._sync.session import Session
from usp._sync.state_path import WAIT_SECONDS
from usp._validate import check_int
from usp.exceptions import UsageError
from usp.objects.events import Observer
from usp.stream import StreamState
from usp.web_client.abstract_aio_client import AbstractAioWebClient


class AioSync(AsyncIterator[Change]):
    """Changes as the runs find them; ``usp.aio.sync`` returns it.

    A change counts as taken when the next one is asked for, or ``aclose()`` is called. What was not
    taken comes again in the next run: each change comes at least once.
    """

    __module__ = "usp.aio"  # where users find it

    _session: Session
    _changes: AsyncGenerator[Change | None, None]
    _is_read = False
    """Whether a task is waiting for the next change."""

    @classmethod
    def _start(cls, session: Session, changes: AsyncGenerator[Change | None, None]) -> Self:
        found = cls.__new__(cls)
        found._session, found._changes = session, changes
        return found

    @property
    def reports(self) -> tuple[SiteReport, ...]:
        """What came of each site that is done."""
        return tuple(self._session.reports)

    async def __anext__(self) -> Change:
        self._check_not_read()
        self._is_read = True
        try:
            change = await self._next()
        finally:
            self._is_read = False
        if change is None:
            raise StopAsyncIteration
        return change

    def _check_not_read(self) -> None:
        if self._is_read:
            message = "The sync is being read by another task: cancel that task to end it."
            raise UsageError(message)

    async def _next(self) -> Change | None:
        session = self._session
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self._changes.aclose)
            await self._take()
            change = await anext(self._changes, None)
            if change is None:
                await self._take()
            if change is not None or not session.options.commit_each:
                undo.pop_all()
        return change

    async def _take(self) -> None:
        """Record that what was handed over was taken; a thread waits, if that is necessary."""
        session = self._session
        if session.takes_now and not session.commit_unless_busy():
            await in_thread_to_end(session.commit)

    async def aclose(self) -> None:
        """End normally: what was handed over was taken, and nothing more is fetched.

        :raises UsageError: if another task is waiting for a change: that one is to be cancelled.
        """
        self._check_not_read()
        try:
            await in_thread_to_end(self._session.commit)
        finally:
            await self._changes.aclose()

    async def __aenter__(self) -> Self:
        return self

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
            self._check_not_read()
            await self._changes.aclose()


@explains_crawl
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

    The state is opened when the first change is requested, in a thread: the event loop goes on
    while another process uses it.

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
    :param sync_fields: what you can choose, single fields of the policy, settings of the client.
    :return: an async iterator of changes, with ``reports`` and ``aclose()``.
    :raises UsageError: if an argument is wrong. That the file is no state (``UsageError``), or in
        use (``StateError``), is raised when the first change is requested.
    """
    check_int("sites_at_once", sites_at_once, 1)
    discovery = DiscoveryChoice(use_robots, use_known_paths)
    chosen, given = taken(SyncChoices, sync_fields)
    only = sources[0] if len(sources) == 1 else None
    policy, client = aio_crawl_keywords(policy, web_client, given, only)
    session = Session.of(sources, state, wait, discovery, policy, chosen)
    runner = _AioRunner(session, observer)
    return AioSync._start(session, _changes_of(runner, client, sites_at_once))


async def _changes_of(
    runner: "_AioRunner",
    client: AbstractAsyncContextManager[AbstractAioWebClient],
    at_once: int,
) -> AsyncGenerator[Change | None, None]:
    """Yield what was not taken in earlier runs, then what the runs find; None until it is closed.

    It knows nothing of the iterator that users have, so that one that is dropped is closed at once.
    """
    session, given_up = runner.session, threading.Event()
    opening = partial(session.opened, given_up)
    async with closing_in_thread(opening, given_up.set):
        for source in session.sources:
            async for change in _pending(session, source):
                yield change
        runs = as_they_finish(session.sources, client, runner.run, at_once)
        async with aclosing(runs):
            async for source, report in runs:
                if report:
                    session.reports.append(report)
                async for change in _pending(session, source):
                    yield change
        while True:  # what was handed over may still be taken
            yield None


async def _pending(session: Session, source: SyncSource) -> AsyncGenerator[Change, None]:
    """Yield the changes of a site that are wanted and were not taken."""
    while some := await in_thread_to_end(session.pending, source):
        for change in some:
            if session.hands_over(source, change):
                yield change


class _AioNodeStream(AioCrawlStream[None]):
    """The nodes of a crawl, as they are read."""


class _AioRunner:
    """Runs sites, each in one task."""

    def __init__(self, session: Session, observer: Observer | None) -> None:
        self.session = session
        self._observer = observer

    async def run(self, client: AbstractAioWebClient, source: SyncSource) -> SiteReport | None:
        """Run one site to its end."""
        await asyncio.sleep(await in_thread_to_end(self.session.delay, source))
        started = time.monotonic()
        async with closing_in_thread(partial(self.session.run, source)) as run:
            reader = SyncReader(run)
            async with self._stream(source, reader, client) as stream:
                async for _ in stream:
                    pass
            return SiteReport._of(source.name, reader, stream.outcome, time.monotonic() - started)

    def _stream(
        self, source: SyncSource, reader: SyncReader, client: AbstractAioWebClient
    ) -> _AioNodeStream:
        policy = self.session.options.policy
        shared = AioCrawlClient(client)
        options = options_for(shared, reader.options(self._observer))
        store = Store(file_per_document=True)
        start = CrawlStart.for_source(
            source.source,
            policy,
            use_robots=self.session.discovery.use_robots,
            use_known_paths=self.session.discovery.use_known_paths,
            store=store,
        )
        crawl = first_crawl(start, policy, options)
        state = StreamState(crawl, emitter(options.observer), reader.filter)
        return _AioNodeStream._start(start, state, reader, shared, store)
