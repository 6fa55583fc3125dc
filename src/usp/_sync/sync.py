"""``usp.sync`` and ``usp.changes``: what changed since the last run, in threads."""

import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Self, Unpack

from usp._crawl.policy import Policy, explains_policy
from usp._drive.events import emitter
from usp._source import SourceName
from usp._sync.changes import Change, kinds_named
from usp._sync.options import (
    DiscoveryChoice,
    SiteReport,
    SyncFields,
    SyncOptions,
    SyncSource,
    explains_sync,
    now,
    site_key,
    sources_of,
)
from usp._sync.reader import SyncReader
from usp._sync.site_run import SiteRun
from usp._sync.state import WAIT_SECONDS, State
from usp._validate import check_int, check_number
from usp.objects.events import Event, Observer
from usp.stream import StreamStart, StreamState, SyncStream, read_items
from usp.web_client import as_web_client, default_client
from usp.web_client.abstract_client import AbstractWebClient


@dataclass(slots=True)
class Delivery:
    """Hands changes over, and records what was taken; the same for threads and asyncio."""

    state: State
    options: SyncOptions
    reports: list[SiteReport] = field(default_factory=list)
    _taken: dict[int, int] = field(default_factory=dict)
    """The last change of each site that was handed over, or is not wanted."""

    def pending(self, site_id: int) -> Iterator[Change]:
        """Yield the changes of a site that are wanted and were not taken."""
        for change in self.state.undelivered(site_id, self._taken.get(site_id, 0)):
            self._taken[site_id] = change.seq
            if self.options.wants(change):
                yield change

    def ask_for_next(self) -> None:
        """Record that what was handed over was taken, if each change is taken alone."""
        if self.options.commit_each:
            self.commit()

    def commit(self) -> None:
        """Record that what was handed over was taken."""
        while self._taken:
            self.state.deliver(*self._taken.popitem())

    def close(self) -> None:
        """Forget what is old, and close the state."""
        before = self.options.forget_before()
        try:
            if before is not None:
                self.state.forget(before)
        finally:
            self.state.close()

    def run(self, source: SyncSource) -> SiteRun:
        """Begin the run of a site."""
        return SiteRun(self.state.path, source.site_id, self.options.rules, now())


class Sync(Iterator[Change]):
    """Changes as the runs find them; ``usp.sync`` returns it.

    A change counts as taken when the next one is asked for, or ``close()`` is called. What was not
    taken comes again in the next run: each change comes at least once.
    """

    _delivery: Delivery
    _changes: Generator[Change]
    _resources: ExitStack

    @classmethod
    def _start(cls, delivery: Delivery, changes: Generator[Change], resources: ExitStack) -> Self:
        found = cls.__new__(cls)
        found._delivery, found._changes, found._resources = delivery, changes, resources
        return found

    @property
    def reports(self) -> tuple[SiteReport, ...]:
        """What came of each site that is done."""
        return tuple(self._delivery.reports)

    def __next__(self) -> Change:
        with ExitStack() as undo:
            undo.callback(self._end)
            self._delivery.ask_for_next()
            change = next(self._changes, None)
            if change is None:
                self._delivery.ask_for_next()
            if change is not None or not self._delivery.options.commit_each:
                undo.pop_all()
        if change is None:
            raise StopIteration
        return change

    def close(self) -> None:
        """End normally: what was handed over was taken, and nothing more is fetched."""
        try:
            self._delivery.commit()
        finally:
            self._end()

    def _end(self) -> None:
        with self._resources:
            self._changes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End; after an exception, the last change was not taken."""
        if kind is None:
            self.close()
        else:
            self._end()


@explains_policy
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
    :param sync_fields: what you can choose, and single fields of the policy.
    :return: an iterator of changes, with ``reports`` and ``close()``.
    :raises UsageError: if an argument is wrong, or the file is no state.
    :raises StateError: if another process uses the state.
    """
    check_int("sites_at_once", sites_at_once, 1)
    check_number("wait", wait, 0)
    options = SyncOptions.of(policy, sync_fields)
    discovery = DiscoveryChoice(use_robots, use_known_paths)
    named = sources_of(sources, options.policy, discovery)
    with ExitStack() as undo:
        client = default_client() if web_client is None else as_web_client(web_client)
        if web_client is None:
            undo.callback(client.close)
        delivery = undo.enter_context(closing(Delivery(State.open_to_run(state, wait), options)))
        runner = _Runner(delivery, client, observer, discovery)
        at_once = sites_at_once if client.thread_safe else 1
        found = _changes_of(runner, with_numbers(delivery, named), at_once)
        return Sync._start(delivery, found, undo.pop_all())


def with_numbers(delivery: Delivery, sources: Sequence[SyncSource]) -> list[SyncSource]:
    """Return sources with their numbers in the state."""
    with delivery.state.path.errors():
        add = delivery.state.add_site
        return [SyncSource(one.source, one.name, add(one.name)) for one in sources]


def _changes_of(
    runner: "_Runner", sources: Sequence[SyncSource], at_once: int
) -> Generator[Change]:
    """Yield what was not taken in earlier runs, then what the runs of the sites find."""
    for source in sources:
        yield from runner.delivery.pending(source.site_id)
    runs = map(runner.run, sources) if len(sources) == 1 else runner.all(sources, at_once)
    for source in runs:
        yield from runner.delivery.pending(source.site_id)


class _Runner:
    """Runs sites, each in one thread."""

    def __init__(
        self,
        delivery: Delivery,
        client: AbstractWebClient,
        observer: Observer | None,
        discovery: DiscoveryChoice,
    ) -> None:
        self.delivery = delivery
        self._client = client
        self._observer = observer
        self._discovery = discovery
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def all(self, sources: Sequence[SyncSource], at_once: int) -> Iterator[SyncSource]:
        """Run sites concurrently; yield each when it is done."""
        with ThreadPoolExecutor(min(at_once, len(sources)), "usp-sync") as threads:
            runs: list[Future[SyncSource]] = [threads.submit(self.run, one) for one in sources]
            try:
                for finished in as_completed(runs):
                    yield finished.result()
            finally:
                self._ended.set()
                threads.shutdown(wait=False, cancel_futures=True)

    def run(self, source: SyncSource) -> SyncSource:
        """Run one site to its end."""
        options = self.delivery.options
        if self._ended.wait(options.delay()):
            return source
        started = time.monotonic()
        with closing(self.delivery.run(source)) as run:
            reader = SyncReader(run)
            with self._stream(source, reader) as stream:
                for _ in stream:
                    if self._ended.is_set():
                        return source
            seconds = time.monotonic() - started
            report = SiteReport._of(source.name, reader, stream.outcome, seconds)
        if report:
            self.delivery.reports.append(report)
        return source

    def _stream(self, source: SyncSource, reader: SyncReader) -> "_NodeStream":
        options = reader.options(self._observe if self._observer else None)
        start = StreamStart.of(
            source.source,
            self.delivery.options.policy,
            options,
            self._client,
            use_robots=self._discovery.use_robots,
            use_known_paths=self._discovery.use_known_paths,
        )
        state = StreamState(start.crawl, emitter(options.observer), reader.filter)
        return _NodeStream._start(start, state, partial(read_items, reader))

    def _observe(self, event: Event) -> None:
        """Pass an event on, one at a time."""
        with self._lock:
            if self._observer:
                self._observer(event)


class _NodeStream(SyncStream[None]):
    """The nodes of a crawl, as they are read."""


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
