"""``usp.sync`` and ``usp.changes``: what changed since the last run, in threads."""

import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from functools import partial
from types import TracebackType
from typing import Self, Unpack

from usp._crawl.policy import Policy
from usp._drive.events import emitter
from usp._drive.page_filter import RowFilter
from usp._drive.run import CrawlClient
from usp._keywords import crawl_keywords, explains_crawl, taken
from usp._source import SourceName, is_local
from usp._sync.changes import Change, kinds_named
from usp._sync.options import (
    DiscoveryChoice,
    SiteReport,
    SyncChoices,
    SyncFields,
    SyncSource,
    explains_sync,
    site_key,
)
from usp._sync.reader import SyncReader
from usp._sync.session import Session
from usp._sync.state import State
from usp._sync.state_path import WAIT_SECONDS
from usp._validate import check_int
from usp.exceptions import UsageError
from usp.objects.events import Event, Observer
from usp.stream import StreamStart, StreamState, SyncStream, read_items
from usp.web_client.abstract_client import AbstractWebClient


class Sync(Iterator[Change]):
    """Changes as the runs find them; ``usp.sync`` returns it.

    A change counts as taken when the next one is asked for, or ``close()`` is called. What was not
    taken comes again in the next run: each change comes at least once. Another thread may close it.
    """

    _session: Session
    _changes: Generator[Change | None]
    _lock: threading.Lock
    """Held by the thread that reads it, or closes it: only one may use the state."""
    _is_ending = False
    """Whether it is closed, or will be by the thread that reads it."""
    _takes_at_end = True
    """Whether what was handed over counts as taken then."""

    @classmethod
    def _start(cls, session: Session, changes: Generator[Change | None]) -> Self:
        found = cls.__new__(cls)
        found._session, found._changes = session, changes
        found._lock = threading.Lock()
        next(changes)  # the state is open then
        return found

    @property
    def reports(self) -> tuple[SiteReport, ...]:
        """What came of each site that is done."""
        return tuple(self._session.reports)

    def __next__(self) -> Change:
        if not self._lock.acquire(blocking=False):
            if self._is_ending:  # another thread closes it
                raise StopIteration
            raise UsageError("Another thread reads this sync: each of them needs its own.")
        try:
            change = self._next()
        finally:
            self._lock.release()
        if change is None:
            raise StopIteration
        return change

    def _next(self) -> Change | None:
        session = self._session
        with ExitStack() as undo:
            undo.callback(self._changes.close)
            if session.takes_now and not self._is_ending:
                session.commit()
            change = None if self._is_ending else next(self._changes, None)
            if change is None and self._is_ending:
                self._take_at_end()
            elif change is None and session.takes_now:
                session.commit()
            if change is not None or not (self._is_ending or session.options.commit_each):
                undo.pop_all()
        return change

    def _take_at_end(self) -> None:
        if self._takes_at_end:
            self._session.commit()

    def close(self) -> None:
        """End normally: what was handed over was taken, and nothing more is fetched.

        Another thread may call this, too. Where one is waiting for the next change, the sync ends
        there, as soon as it looks: it alone may use the state. The runs that were going on change
        nothing; the next sync finds what they would have found.
        """
        self._close(takes=True)

    def _close(self, *, takes: bool) -> None:
        if not self._is_ending:
            self._takes_at_end = takes
        self._is_ending = True
        if not self._lock.acquire(blocking=False):
            self._session.ended.set()
            return
        try:
            self._take_at_end()
        finally:
            self._changes.close()
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End; after an exception, the last change was not taken."""
        self._close(takes=kind is None)


@explains_crawl
@explains_sync
def sync(
    *sources: SourceName,
    state: SourceName,
    sites_at_once: int = 8,
    wait: float = WAIT_SECONDS,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **sync_fields: Unpack[SyncFields],
) -> Sync:
    """Find what changed on some sites since the last run.

    Nothing is fetched before the first change is requested. The first run of a site has no
    changes: it is the baseline. A sitemap that can't be read, or only in part, removes nothing.

    :param sources: homepages, bare domains (which mean https), URLs of sitemaps, files.
    :param state: the file that keeps what is known; it is made if it isn't there.
    :param sites_at_once: how many sites are read concurrently.
    :param wait: how many seconds to wait while another process uses the state.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param observer: called with each event of the crawls, one at a time, on any thread.
    :param policy: limits and options of the crawls. ``include`` and ``exclude`` choose which
        changes are handed over.
    :param sync_fields: what you can choose, single fields of the policy, settings of the client.
    :return: an iterator of changes, with ``reports`` and ``close()``.
    :raises UsageError: if an argument is wrong, or the file is no state.
    :raises StateError: if another process uses the state.
    """
    check_int("sites_at_once", sites_at_once, 1)
    discovery = DiscoveryChoice(use_robots, use_known_paths)
    chosen, given = taken(SyncChoices, sync_fields)
    only = sources[0] if len(sources) == 1 else None
    policy, client = crawl_keywords(policy, web_client, given, only)
    session = Session.of(sources, state, wait, discovery, policy, chosen)
    return Sync._start(session, _changes_of(session, client, observer, sites_at_once))


def _changes_of(
    session: Session,
    crawl_client: CrawlClient,
    observer: Observer | None,
    sites_at_once: int,
) -> Generator[Change | None]:
    """Yield None when the state is open, all changes, then None until it is closed.

    The changes are those that were not taken in earlier runs, then what the runs of the sites find.
    It knows nothing of the iterator that users have, so that one that is dropped is closed at once:
    a state that waits for the garbage collector would be locked until then.
    """
    with ExitStack() as resources:
        resources.callback(crawl_client.close)
        client = crawl_client.opened()
        if not all(is_local(one.source) for one in session.sources):
            client.check_settings()  # wrong ones leave no state behind
        resources.enter_context(closing(session.opened()))
        yield None
        for source in session.sources:
            yield from _pending(session, source)
        runner = _Runner(session, client, observer)
        at_once = sites_at_once if client.thread_safe else 1
        with closing(runner.all(at_once)) as done:
            for source in done:
                if session.ended.is_set():
                    break
                yield from _pending(session, source)
        while True:  # what was handed over may still be taken
            yield None


def _pending(session: Session, source: SyncSource) -> Generator[Change]:
    """Yield the changes of a site that are wanted and were not taken."""
    while some := session.pending(source):
        yield from (change for change in some if session.hands_over(source, change))


class _Runner:
    """Runs sites, each in one thread."""

    def __init__(
        self,
        session: Session,
        client: AbstractWebClient,
        observer: Observer | None,
    ) -> None:
        self._session = session
        self._client = client
        self._observer = observer
        self._lock = threading.Lock()

    def all(self, at_once: int) -> Generator[SyncSource]:
        """Run all sites, some concurrently; yield each when it is done."""
        sources = self._session.sources
        at_once = min(at_once, len(sources))
        if at_once == 1:  # it needs no thread, and Ctrl-C ends whatever it waits for
            yield from map(self.run, sources)
            return
        with ThreadPoolExecutor(at_once, "usp-sync") as threads:
            runs: list[Future[SyncSource]] = [threads.submit(self.run, one) for one in sources]
            try:
                for finished in as_completed(runs):
                    yield finished.result()
            finally:
                self._session.ended.set()
                threads.shutdown(wait=False, cancel_futures=True)

    def run(self, source: SyncSource) -> SyncSource:
        """Run one site to its end."""
        ended = self._session.ended
        if ended.wait(self._session.delay(source)):
            return source
        started = time.monotonic()
        with closing(self._session.run(source)) as run:
            reader = SyncReader(run)
            with self._stream(source, reader) as stream:
                for _ in stream:
                    if ended.is_set():
                        return source
            seconds = time.monotonic() - started
            report = SiteReport._of(source.name, reader, stream.outcome, seconds)
        if report:
            self._session.reports.append(report)
        return source

    def _stream(self, source: SyncSource, reader: SyncReader) -> "_NodeStream":
        options = reader.options(self._observe if self._observer else None)
        start = StreamStart.of(
            source.source,
            self._session.options.policy,
            options,
            CrawlClient(self._client),
            use_robots=self._session.discovery.use_robots,
            use_known_paths=self._session.discovery.use_known_paths,
        )
        state = StreamState(start.crawl, emitter(options.observer), reader.filter)
        return _NodeStream._start(start, state, partial(_read_step, reader))

    def _observe(self, event: Event) -> None:
        """Pass an event on, one at a time."""
        with self._lock:
            if self._observer:
                self._observer(event)


class _NodeStream(SyncStream[None]):
    """The nodes of a crawl, as they are read."""


def _read_step(reader: SyncReader, state: StreamState[RowFilter], is_over: bool) -> Iterator[None]:
    """Read what a step of the crawl brought.

    It yields first, though a silent site brings nothing: a run can be ended in each step.
    """
    yield None
    yield from read_items(reader, state, is_over)


def changes(
    state: SourceName,
    *,
    after: int = 0,
    site: SourceName | None = None,
    emit: Iterable[str] | None = None,
    limit: int | None = None,
) -> Iterator[Change]:
    """Return the changes that earlier runs have found, in their order.

    The state may be written meanwhile. What is read here still counts as not taken for ``sync``.

    :param state: the file of ``usp.sync``.
    :param after: only changes with a larger number (``seq``).
    :param site: only changes of this source.
    :param emit: the kinds of changes; all by default.
    :param limit: only so many, the last ones.
    :raises UsageError: if an argument is wrong, or the file is no state.
    """
    check_int("after", after, 0)
    if limit is not None:
        check_int("limit", limit, 1)
    kinds = kinds_named("emit", emit)
    with ExitStack() as undo:
        opened = undo.enter_context(closing(State.open_to_read(state)))
        site_id = None if site is None else opened.known_site(site_key(site))
        found = opened.changes(after=after, site_id=site_id, kinds=kinds, last=limit)
        return _until_closed(found, undo.pop_all())


def _until_closed(found: Iterator[Change], resources: ExitStack) -> Iterator[Change]:
    with resources:
        yield from found
