"""Concurrent requests in asyncio: one task per request; the task that runs the crawl owns its core.

A task touches its own document and nothing else; the owner takes its result. What could block the
loop (inspecting a large document, writing it to disk, reading its pages) runs in a thread; small
work runs in the loop, which is faster.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from types import TracebackType
from typing import Final, Generic, Self

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchRequest, FetchResult
from usp._crawl.options import READ_AT_ONCE, CrawlOptions
from usp._crawl.unchanged import unconditional
from usp._crawl.work import Read_co, ReadBatch
from usp._drive import events
from usp._drive.fetch import (
    END,
    BodyReading,
    ResponseHead,
    failed_client,
    failed_fetch,
    fresh_document,
    inspect_stored,
    is_304_elsewhere,
    not_modified,
    truncation,
)
from usp._drive.off_loop import in_thread, off_loop
from usp._drive.replay import of_crawl
from usp._drive.response_facts import CLIENT_BUGS
from usp._drive.steps import handle_result, idle_seconds, next_requests, seconds_until_wakeup
from usp._drive.time_limit import TimeLimit
from usp._parse import Document, Pages, is_compressed
from usp._store import BodyWriter, Store
from usp._validate import check_optional_instance
from usp.objects.events import CrawlFinished, Observer
from usp.objects.page import SitemapPage
from usp.web_client import ClientSettings, own_aio_client
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
    AioCrawlScope,
)
from usp.web_client.abstract_client import WebClientNotModifiedResponse

_WRITTEN_AT_ONCE: Final = 256 * 1024
"""Bytes of a body that are collected before a thread writes them to disk."""
_SECONDS_AT_ONCE: Final = 0.01
"""How long the crawl core works before other tasks run."""


class AioCrawlClient(AbstractAsyncContextManager[AbstractAioWebClient]):
    """The client for the time of a crawl: the caller's, which stays open, or one of its own.

    One of its own is made when the crawl begins: until then, a stream that is dropped leaves no
    file of a recording behind.
    """

    def __init__(
        self,
        given: AbstractAioWebClient | None,
        settings: ClientSettings | None = None,
        source: str | None = None,
    ) -> None:
        """Fetch with a client, or with a new one that has some settings.

        :param source: what is recorded, if the settings say so, and it is one source.
        :raises UsageError: if what is given is no client.
        """
        check_optional_instance("web_client", given, AbstractAioWebClient)
        self._settings = settings or ClientSettings()
        self._source = source
        self._given = given
        self._own: AbstractAioWebClient | None = None

    @property
    def replays(self) -> bool:
        """Whether a recording answers, and no network."""
        return self._settings.replay is not None or bool(self._given and self._given.replays)

    async def __aenter__(self) -> AbstractAioWebClient:
        if self._given is not None:
            return self._given
        self._own = own_aio_client(self._settings, self._source)
        return await self._own.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._own is not None:
            await self._own.__aexit__(kind, error, traceback)


def options_for(client: AioCrawlClient, options: CrawlOptions) -> CrawlOptions:
    """Return the options of a crawl that fetches with a client, by what the client can do."""
    return replace(options, probe_early=True, skip_delays=client.replays)


class AioFetcher:
    """Fetches documents for one crawl into one store."""

    def __init__(
        self,
        scope: AioCrawlScope,
        store: Store,
        max_bytes: int,
        ended: TimeLimit,
        read_at_once: int = READ_AT_ONCE,
    ) -> None:
        self._scope = scope
        self._store = store
        self._max_bytes = max_bytes
        self._ended = ended
        self._read_at_once = read_at_once

    async def __call__(self, request: FetchRequest) -> FetchResult:
        """Fetch one document and inspect it."""
        started = time.monotonic()
        if fresh := fresh_document(request, self._ended):
            return fresh
        try:
            response = await self._scope.get(request.url, request.validators or None)
            if is_304_elsewhere(response, request):
                request = unconditional(request)
                response = await self._scope.get(request.url, None)
            if isinstance(response, WebClientNotModifiedResponse):
                unchanged = not_modified(response, request, started)
                return await off_loop(inspect_stored, request, unchanged, self._ended)
            if not isinstance(response, AbstractAioWebClientSuccessResponse):
                return failed_fetch(response, request, started)
            request._options.progress.began = True
            try:
                head = ResponseHead.read(response, request, started)
                body = AioResponseBody(response, head, self._max_bytes)
            except BaseException:
                await response.close()
                raise
        except CLIENT_BUGS:
            raise
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- any client, any error
            _reraise_if_cancelled(error)
            return failed_client(error)
        try:
            stored = await self._store_body(body)
        finally:
            await body.close()
        if _is_small(stored, self._read_at_once):
            return head.inspect_body(stored, body, self._ended)
        return await off_loop(head.inspect_body, stored, body, self._ended)

    async def _store_body(self, body: "AioResponseBody") -> Iterable[bytes]:
        """Keep a body in the store; a thread writes what is large, a batch at a time."""
        writer = BodyWriter(self._store)
        held: list[bytes] = []
        size = 0
        while (chunk := await body.next()) is not None:
            held.append(chunk)
            size += len(chunk)
            if size >= _WRITTEN_AT_ONCE:
                await in_thread(writer.add, b"".join(held))
                held, size = [], 0
        writer.add(b"".join(held))
        return writer.finish()


class AioResponseBody(BodyReading):
    """The body of a response."""

    def __init__(
        self, response: AbstractAioWebClientSuccessResponse, head: ResponseHead, limit: int
    ) -> None:
        super().__init__(head, limit)
        self._response = response
        self._chunks = aiter(response.chunks())

    async def next(self) -> bytes | None:
        """Return the next chunk, or None at the end."""
        try:
            chunk = await anext(self._chunks, END) if self.wants_more else END
            return None if chunk is END else self.count(chunk)
        except CLIENT_BUGS:
            raise
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- any client, any error
            _reraise_if_cancelled(error)
            self.error = truncation(error)
            return None

    async def close(self) -> None:
        """Release the connection, whether the body was read or not."""
        try:
            try:
                if isinstance(self._chunks, AsyncGenerator):  # other iterators can't be closed
                    await self._chunks.aclose()
            finally:
                await self._response.close()
        except CLIENT_BUGS:
            raise
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- the body is here
            _reraise_if_cancelled(error)
            events.log_close_error(self.url, error)


def _reraise_if_cancelled(error: BaseException) -> None:
    """Raise a cancellation of this task; a client may raise one that is about something else."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error


def _is_small(chunks: Iterable[bytes], limit: int) -> bool:
    """Tell whether a document is quickly read: in memory, small, and not compressed."""
    if not isinstance(chunks, list) or sum(map(len, chunks)) > limit:
        return False
    return not any(map(is_compressed, chunks))


async def advance(crawl: Crawl, ended: TimeLimit) -> None:
    """Have the crawl core process the results that have arrived; other tasks run in between."""
    work = crawl._advance()
    pages: list[SitemapPage] | None = None
    now = since = time.monotonic()
    while True:
        crawl._check_time(now)
        try:
            batch = work.send(pages)
        except StopIteration:
            return
        pages = await off_loop(batch, ended.for_pages) if batch else None
        now = time.monotonic()
        if now - since > _SECONDS_AT_ONCE:
            await asyncio.sleep(0)
            now = since = time.monotonic()


class AioCrawlRun:
    """A running crawl: the task that steps it owns the core.

    An async context manager: however its block is left, nothing of the crawl continues. It is a
    class because a stream that is dropped is closed by the garbage collector, which closes nested
    generators in any order.
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
        self._scope = client.for_crawl(homepage)
        self._emit = emit
        self._ended = TimeLimit(crawl)
        self._fetch = AioFetcher(
            self._scope,
            store or Store(),
            crawl.policy.max_document_bytes,
            self._ended,
            crawl._cursor.options.read_at_once,
        )
        self._has_begun = False
        self._tasks: dict[asyncio.Task[FetchResult], FetchRequest] = {}
        self._replayed = of_crawl(self._scope) if client.replays else None

    async def __aenter__(self) -> Self:
        await self._scope.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.cancel()
        for task in self._tasks:
            task.cancel()
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            await self._scope.__aexit__(kind, error, traceback)

    async def step(self) -> bool:
        """Start requests that may start now, and take finished results; False at the end."""
        crawl, tasks = self._crawl, self._tasks
        if not self._has_begun:
            self._has_begun = True
            await advance(crawl, self._ended)
            return True
        if crawl.done:
            return False
        for request in self._next_requests():
            tasks[asyncio.create_task(self._fetch(request))] = request
        if crawl.stopped:
            return False
        for task in await self._finished():
            request = tasks.pop(task)
            handle_result(crawl, request, task.result(), self._emit)
        await advance(crawl, self._ended)
        return True

    def _next_requests(self) -> Iterable[FetchRequest]:
        """Return the requests to start now: of a recording, the one that was answered first."""
        requests = next_requests(self._crawl, self._emit)
        if self._replayed is None:
            return requests
        self._replayed.add(requests)
        return self._replayed.next_one()

    async def _finished(self) -> set[asyncio.Task[FetchResult]]:
        """Wait for results, but no longer than until something else is due."""
        if not self._tasks:
            await asyncio.sleep(idle_seconds(self._crawl))
            return set()
        seconds, how = seconds_until_wakeup(self._crawl), asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait(self._tasks, timeout=seconds, return_when=how)
        return done


async def run(
    crawl: Crawl, client: AbstractAioWebClient, homepage: str, observer: Observer | None = None
) -> None:
    """Run a crawl of a site to its end."""
    emit = events.emitter(observer)
    async with AioCrawlRun(crawl, client, homepage, emit) as running:
        while await running.step():
            pass
        emit(CrawlFinished(crawl.outcome))


class OffLoopBatches(Generic[Read_co]):
    """The pages of a document in batches, so that other tasks run in between."""

    def __init__(
        self,
        read: ReadBatch[Read_co],
        document: Document | None,
        ended: TimeLimit,
        read_at_once: int,
    ) -> None:
        pages = document.pages if document else ()
        self._read = read
        self._ended = ended
        chunks = pages.source.chunks if isinstance(pages, Pages) else []
        self.is_small = _is_small(chunks, read_at_once)
        """Whether the document is read in the event loop."""

    @property
    def ended(self) -> bool:
        """Whether the time was up before the document was read to its end."""
        return self._read.ended

    async def next(self) -> Read_co:
        """Return the next pages; none at the end, or if there is no more time."""
        if not self.is_small:
            return await off_loop(self._read, self._ended)
        await asyncio.sleep(0)
        return self._read(self._ended)
