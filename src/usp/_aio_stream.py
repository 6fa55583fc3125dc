"""Streams in asyncio: what a crawl gives as it runs, as an async iterator.

What the items are, pages or batches of tables, is decided by an ``ItemReader``.
"""

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
)
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from usp._crawl import Crawl
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._drive.aio import AioCrawlRun, OffLoopBatches
from usp._drive.off_loop import in_thread
from usp._source import CrawlStart
from usp._store import Store
from usp.exceptions import UsageError
from usp.stream import Filter, ItemReader, StreamState, StreamStatus
from usp.web_client.abstract_aio_client import AbstractAioWebClient

Item = TypeVar("Item")


class AioStream(AsyncIterator[Item]):
    """An async iterator that can be closed at any time, and is an async context manager for it."""

    _items: AsyncGenerator[Item, None]

    def __anext__(self) -> Awaitable[Item]:
        return self._items.__anext__()

    async def aclose(self) -> None:
        """End the stream: when this returns, no request is in flight.

        :raises UsageError: if another task is waiting for an item: that one is to be cancelled.
        """
        if getattr(self._items, "ag_running", False):
            message = "The stream is being read by another task: cancel that task to end it."
            raise UsageError(message)
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


class AioCrawlStream(StreamStatus, AioStream[Item]):
    """The items of one crawl, and its state."""

    _store: Store

    @classmethod
    def _start(
        cls,
        start: CrawlStart,
        state: StreamState[Filter],
        reader: ItemReader[Filter, Item],
        client: AbstractAsyncContextManager[AbstractAioWebClient],
        store: Store,
    ) -> Self:
        stream = cls.__new__(cls)
        stream._state = state
        stream._store = store
        stream._items = _read(state, reader, start, client, store)
        return stream

    async def aclose(self) -> None:
        """End the stream: when this returns, no request is in flight."""
        await super().aclose()
        self._state.close()  # the generator does so only if it was started
        self._store.close()  # a source that is a file was stored before the first page was read


def first_crawl(start: CrawlStart, policy: Policy, options: CrawlOptions) -> Crawl:
    """Return the crawl of a source.

    A file is read with the first item, in a thread; until then, nothing is known of it.
    """
    if start.file:
        return Crawl._started(start.site.name, (), policy, options)
    return start.crawl(policy, options)


async def _read(
    state: StreamState[Filter],
    reader: ItemReader[Filter, Item],
    start: CrawlStart,
    client_scope: AbstractAsyncContextManager[AbstractAioWebClient],
    store: Store,
) -> AsyncGenerator[Item, None]:
    """Yield the items of a stream.

    It knows nothing of the stream itself, so that one that is dropped is closed at once: requests
    that wait for the garbage collector would hold the slots of a shared client.
    """
    try:
        if start.file:
            before = state.crawl
            started = in_thread(start.crawl, before.policy, before._cursor.options)
            state.set_crawl(await started)
        crawl, chosen = state.crawl, state.filter
        async with (
            client_scope as client,
            AioCrawlRun(crawl, client, start.homepage, state.emit, store) as progress,
        ):
            running, options = True, crawl._cursor.options
            while True:
                for node in chosen.ready_nodes():
                    batches = OffLoopBatches(
                        reader.batches(node, state),
                        node.document,
                        chosen.ended,
                        options.read_at_once,
                    )
                    async with (not batches.is_small and options.large_reads) or nullcontext():
                        while not chosen.closed and (batch := await batches.next()):
                            for item in await _made(reader, reader.items, node, batch, state):
                                yield item
                    was_read = not (batches.ended or chosen.closed)
                    after = partial(reader.after, node, to_the_end=was_read)
                    for item in await _made(reader, after):
                        yield item
                    if node.pages_due:
                        chosen.finish(node, ended=batches.ended)
                if not running:  # what had arrived when a limit was reached was read, too
                    for item in await _made(reader, reader.end, state):
                        yield item
                    state.reach_end()
                    return
                running = await progress.step()
    finally:
        state.close()
        store.close()


async def _made(
    reader: ItemReader[Any, Item], make: Callable[..., Iterator[Item]], *args: object
) -> Iterable[Item]:
    """Return the items that a reader makes; a thread makes them where that may take long."""
    return await in_thread(lambda: list(make(*args))) if reader.takes_long else make(*args)
