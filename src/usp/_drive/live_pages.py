"""Fetching single pages in asyncio, for a caller who is not: status, headers, the first bytes.

The event loop runs in a thread of its own, one step at a time, so that a caller may have a loop
already, and may stop between any two responses. When a page is requested, and whether once more, is
decided in ``_crawl.page_queue``.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeVar

from usp._crawl.messages import FetchFailed, FetchRequest
from usp._crawl.page_queue import PageFailed, PageQueue, PageRequest
from usp._crawl.policy import Policy, without_delays
from usp._display import without_credentials
from usp._drive.fetch import failed_client, failed_fetch
from usp._drive.replay import InRecordedOrder
from usp._drive.response_facts import CLIENT_BUGS
from usp._parse import Ended
from usp.web_client import CHALLENGE_HEADERS
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
    AioCrawlScope,
)
from usp.web_client.abstract_client import WebClientErrorResponse

MAX_PAGE_BYTES: Final = 512 * 1024
"""How much of a page is read. What a page says of itself is in its head, and the text of nearly all
pages is shorter."""
_HEADERS: Final = ("Content-Type", "X-Robots-Tag", "Link", *CHALLENGE_HEADERS)
_WAITING: Final = 1000
"""How many requests are queued: some wait for their hosts while others may start."""
_TICK: Final = 0.5
"""Seconds after which a step ends, so that the caller can end the run."""
_Result = TypeVar("_Result")
UrlToRequest = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class PageResponse:
    """What came of a request for a page."""

    request: PageRequest
    status: int | None = None
    """The HTTP status; None if there was no response."""
    final_url: str = ""
    """The URL of the page after redirects; empty if there is none."""
    redirects: tuple[str, ...] = ()
    """The URLs that redirected, in order."""
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Some headers, each with all of its values."""
    body: bytes = b""
    """The first bytes of the body as received; they may be compressed."""
    is_whole: bool = True
    """Whether that is all of it."""
    failure: str = ""
    """Why there is no page, if there is none."""
    was_requested: bool = True
    """Whether a request was sent: a host may be given up before."""


def fetch_pages(
    requests: Iterator[PageRequest],
    policy: Policy,
    make_client: Callable[[], AbstractAioWebClient],
    homepage: str,
    ended: Ended,
    intervals: Mapping[tuple[str, str], float] = MappingProxyType({}),
    url_to_request: UrlToRequest = str,
) -> Generator[PageResponse]:
    """Yield the responses as they arrive, until ``ended`` says that there is no more time.

    :param make_client: makes the client, in the event loop that it is used in.
    :param homepage: the site that credentials of the client are for.
    :param intervals: the seconds between requests, by scheme and host.
    :param url_to_request: returns a URL as it is requested, with its user and password.
    """
    with ExitStack() as undo:
        thread = undo.enter_context(ThreadPoolExecutor(1, "usp-pages"))
        runner = asyncio.Runner()
        undo.callback(lambda: thread.submit(runner.close).result())
        run = _PageRun(requests, policy, intervals, url_to_request)

        def in_loop(step: Coroutine[Any, Any, _Result]) -> _Result:
            return thread.submit(runner.run, step).result()

        undo.callback(lambda: in_loop(run.close()))
        in_loop(run.open(make_client, homepage))
        while run.has_more and not ended():
            yield from in_loop(run.step())


class _PageRun:
    """Requests in flight; all of it happens in one event loop."""

    def __init__(
        self,
        requests: Iterator[PageRequest],
        policy: Policy,
        intervals: Mapping[tuple[str, str], float],
        url_to_request: UrlToRequest,
    ) -> None:
        self._requests: Iterator[PageRequest] | None = requests
        self._policy = policy
        self._intervals = intervals
        self._url_to_request = url_to_request
        self._queue: PageQueue
        self._replayed: InRecordedOrder[PageRequest] | None = None
        """The requests in flight, if a recording answers."""
        self._tasks: dict[asyncio.Task[_Fetched], PageRequest] = {}
        self._client: AbstractAioWebClient | None = None
        self._scope: AioCrawlScope | None = None

    @property
    def has_more(self) -> bool:
        """Whether something is queued, in flight, or not asked for yet."""
        return bool(self._requests or len(self._queue))

    async def open(self, make_client: Callable[[], AbstractAioWebClient], homepage: str) -> None:
        """Make the client."""
        self._client = make_client()
        self._scope = scope = self._client.for_crawl(homepage)
        if self._client.replays:
            self._queue = PageQueue(without_delays(self._policy))
            self._replayed = InRecordedOrder(
                lambda one: scope.order_in_recording(one.url, method=one.method)
            )
        else:
            self._queue = PageQueue(self._policy)
            for origin, seconds in self._intervals.items():
                self._queue.keep_interval(origin, seconds)

    async def close(self) -> None:
        """Cancel what is in flight, and close the client."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._scope:
            await self._scope.close()
        if self._client:
            await self._client.close()

    async def step(self) -> list[PageResponse]:
        """Send what may be sent, wait for a moment; return what has arrived."""
        arrived = self._fill()
        for request in self._next_requests():
            self._tasks[asyncio.create_task(self._fetch(request))] = request
        if not arrived:
            for task in await self._finished():
                arrived += self._settle(self._tasks.pop(task), *task.result())
        return arrived

    def _next_requests(self) -> Iterable[PageRequest]:
        """Return the requests to start now: of a recording, the one that was answered first."""
        requests = self._queue.start_requests(time.monotonic())
        if self._replayed is None:
            return requests
        self._replayed.add(requests)
        return self._replayed.next_one()

    def _fill(self) -> list[PageResponse]:
        """Queue the next requests; return those that fail at once."""
        failed: list[PageResponse] = []
        while self._requests and len(self._queue) < _WAITING and len(failed) < _WAITING:
            request = next(self._requests, None)
            if request is None:
                self._requests = None
            elif failure := self._queue.add(request):
                failed.append(_unanswered(failure))
        return failed

    async def _finished(self) -> set["asyncio.Task[_Fetched]"]:
        due = self._queue.next_due()
        seconds = _TICK if due is None else min(max(due - time.monotonic(), 0.0), _TICK)
        if not self._tasks:
            await asyncio.sleep(seconds if len(self._queue) else 0.0)
            return set()
        how = asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait(self._tasks, timeout=seconds, return_when=how)
        return done

    def _settle(
        self, request: PageRequest, response: PageResponse, failure: FetchFailed | None
    ) -> list[PageResponse]:
        jitter = random.random()  # noqa: S311 -- not a secret: it keeps retries from coinciding
        is_final, abandoned = self._queue.finished(request, failure, time.monotonic(), jitter)
        return [*([response] if is_final else []), *map(_unanswered, abandoned)]

    async def _fetch(self, request: PageRequest) -> "_Fetched":
        assert self._scope is not None  # noqa: S101 -- open() came first
        try:
            get = self._scope.get if request.needs_body else self._scope.head
            response = await get(self._url_to_request(request.url))
            if isinstance(response, AbstractAioWebClientSuccessResponse):
                return await _read(request, response), None
        except CLIENT_BUGS:
            raise
        except Exception as error:  # noqa: BLE001 -- any client, any error
            failure = failed_client(error)
            return PageResponse(request, failure=failure.message), failure
        failure = failed_fetch(response, FetchRequest(request.url), time.monotonic())
        return _failed(request, response, failure), failure


_Fetched = tuple[PageResponse, FetchFailed | None]


async def _read(
    request: PageRequest, response: AbstractAioWebClientSuccessResponse
) -> PageResponse:
    """Return a response with the first bytes of its body."""
    body, is_whole = bytearray(), True
    try:
        if request.needs_body:
            async for chunk in response.chunks():
                body += chunk
                if len(body) >= MAX_PAGE_BYTES:
                    is_whole = False
                    break
    finally:
        await response.close()
    return PageResponse(
        request,
        response.status_code(),
        without_credentials(response.url()),
        tuple(map(without_credentials, response.redirects())),
        {name: response.header_values(name) for name in _HEADERS},
        bytes(body[:MAX_PAGE_BYTES]),
        is_whole,
    )


def _failed(request: PageRequest, response: object, failure: FetchFailed) -> PageResponse:
    """Return the response that brought no page."""
    headers: dict[str, tuple[str, ...]] = {}
    if isinstance(response, WebClientErrorResponse):
        values = {name: response.header(name) for name in _HEADERS}
        headers = {name: (value,) for name, value in values.items() if value is not None}
    redirects = failure.fetch_info.redirects
    return PageResponse(request, failure.status, "", redirects, headers, failure=failure.message)


def _unanswered(failed: PageFailed) -> PageResponse:
    """Return the response for a page whose host was given up."""
    return PageResponse(
        failed.request,
        failed.failure.status if failed.was_requested else None,
        failure=failed.failure.message,
        was_requested=failed.was_requested,
    )
