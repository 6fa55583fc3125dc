"""Requests side by side in asyncio: requests are tasks, the task that owns the crawl owns the
machine.

A task touches its own document and nothing else; its answer is taken up by the owner. What could
stall the loop (looking at a large document, writing it to disk, reading its pages) is done in a
thread; what is small is done where it is, which is quicker.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import AsyncExitStack
from itertools import islice
from types import TracebackType
from typing import Final, Self

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._drive import events
from usp._drive.fetch import BodyReading, ResponseHead, broken, refused, truncated
from usp._drive.steps import handle_result, idle_seconds, next_requests, seconds_until_wakeup
from usp._parse import Document, Pages, is_compressed
from usp._store import BodyWriter, Store
from usp.objects.events import CrawlFinished, Observer
from usp.objects.page import SitemapPage
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
)

_WRITTEN_AT_ONCE: Final = 256 * 1024
"""So many bytes of a body are held until they are written to disk, in a thread."""
_LIGHT: Final = 4 * 1024
"""Up to this size a document is read where it is: at worst, that takes some 20 milliseconds."""
_PAGES_AT_ONCE: Final = 256


class Fetcher:
    """Fetches documents with one client into one store."""

    def __init__(self, client: AbstractAioWebClient, store: Store, max_bytes: int) -> None:
        self._client = client
        self._store = store
        self._max_bytes = max_bytes

    async def __call__(self, request: FetchRequest) -> FetchResult:
        """Fetch one document and look at it."""
        started = time.monotonic()
        try:
            response = await self._client.get(request.url)
            if not isinstance(response, AbstractAioWebClientSuccessResponse):
                return refused(response)
            async with AsyncExitStack() as undo:
                undo.push_async_callback(response.close)
                head = ResponseHead.read(response, request, started)
                body = _Body(response, head, self._max_bytes)
                undo.pop_all()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- the worker's edge
            _reraise_if_cancelled(error)
            return broken(error)
        try:
            kept = await self._keep(body)
        finally:
            await body.close()
        if _is_light(kept):
            return head.inspect_body(kept, body)
        return await asyncio.to_thread(head.inspect_body, kept, body)

    async def _keep(self, body: "_Body") -> Iterable[bytes]:
        """Put a body to rest; what is large is written in a thread, a batch at a time."""
        writer = BodyWriter(self._store)
        held: list[bytes] = []
        size = 0
        while (chunk := await body.next()) is not None:
            held.append(chunk)
            size += len(chunk)
            if size >= _WRITTEN_AT_ONCE:
                await asyncio.to_thread(writer.add, b"".join(held))
                held, size = [], 0
        writer.add(b"".join(held))
        return writer.finish()


class _Body(BodyReading):
    """The body of a response."""

    def __init__(
        self, response: AbstractAioWebClientSuccessResponse, head: ResponseHead, limit: int
    ) -> None:
        super().__init__(head, limit)
        self._response = response
        self._chunks = aiter(response.chunks())

    async def next(self) -> bytes | None:
        """Return the next piece, or None at the end."""
        try:
            return self.count(await anext(self._chunks, None)) if self.wants_more else None
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- the worker's edge
            _reraise_if_cancelled(error)
            self.error = truncated(error)
            return None

    async def close(self) -> None:
        """Let go of the connection, read or not."""
        try:
            async with AsyncExitStack() as both:
                both.push_async_callback(self._response.close)
                if isinstance(self._chunks, AsyncGenerator):  # other iterators have nothing to end
                    both.push_async_callback(self._chunks.aclose)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- the body is here
            _reraise_if_cancelled(error)
            events.log_close_error(self.url, error)


def _reraise_if_cancelled(error: BaseException) -> None:
    """Let a cancellation pass that is this task's own; a client may raise one of something else."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error


def _is_light(chunks: Iterable[bytes]) -> bool:
    """Emit whether a document is quickly read: in memory, small, and not packed."""
    if not isinstance(chunks, list) or sum(map(len, chunks)) > _LIGHT:
        return False
    return not any(map(is_compressed, chunks))


class AioCrawlRun:
    """A crawl under way: the task that steps it owns the machine.

    An async context manager: whatever way its block is left, nothing of the crawl goes on. It is a
    class since a stream that is simply dropped is closed by the collector, which closes generators
    that lie in one another in any order.
    """

    def __init__(
        self,
        crawl: Crawl,
        client: AbstractAioWebClient,
        homepage: str,
        emit: events.Emit,
        store: Store | None = None,
    ) -> None:
        """Prepare a crawl of a site."""
        self._crawl = crawl
        self._client = client.for_crawl(homepage)
        self._emit = emit
        self._store = store or Store()
        self._tasks: dict[asyncio.Task[FetchResult], FetchRequest] = {}

    async def __aenter__(self) -> Self:
        client = await self._client.__aenter__()
        self._fetch = Fetcher(client, self._store, self._crawl.policy.max_document_bytes)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            await self._client.__aexit__(kind, error, traceback)

    async def step(self) -> bool:
        """Ask for what may be asked for, and take up what has come; False at the end."""
        going = await self._step()
        if not going:
            self._emit(CrawlFinished(self._crawl.outcome))
        return going

    async def _step(self) -> bool:
        crawl, tasks = self._crawl, self._tasks
        if crawl.done:
            return False
        for request in next_requests(crawl, self._emit):
            tasks[asyncio.create_task(self._fetch(request))] = request
        if crawl.stopped:
            return False
        for task in await self._landed():
            request = tasks.pop(task)
            handle_result(crawl, request, task.result(), self._emit)
        return True

    async def _landed(self) -> set[asyncio.Task[FetchResult]]:
        """Wait for answers, but no longer than until something else is due."""
        if not self._tasks:
            await asyncio.sleep(idle_seconds(self._crawl))
            return set()
        seconds, how = seconds_until_wakeup(self._crawl), asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait(self._tasks, timeout=seconds, return_when=how)
        return done


async def run(
    crawl: Crawl, client: AbstractAioWebClient, homepage: str, observer: Observer | None = None
) -> None:
    """Carry a crawl of a site to its end."""
    async with AioCrawlRun(crawl, client, homepage, events.emitter(observer)) as under_way:
        while await under_way.step():
            pass


class PageBatches:
    """The pages of a document, some at a time, so that others have their turn in between."""

    def __init__(self, document: Document | None) -> None:
        self._listed = document.pages if document else ()
        self._reading: Iterator[SitemapPage] | None = None
        self._light = not isinstance(self._listed, Pages) or _is_light(self._listed.source.chunks)

    async def next(self) -> list[SitemapPage]:
        """Return the next pages; none at the end."""
        if not self._light:
            return await asyncio.to_thread(self._read)
        await asyncio.sleep(0)
        return self._read()

    def _read(self) -> list[SitemapPage]:
        if self._reading is None:
            self._reading = iter(self._listed)
        return list(islice(self._reading, _PAGES_AT_ONCE))
