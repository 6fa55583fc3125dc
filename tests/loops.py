"""Event loops for tests: nothing may be left in them when a test is through, and nothing complain.

Rules of this room: no plugin runs coroutines; a test calls ``run``.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.responses import error
from usp._store import _Spool
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
    AioCrawlScope,
)
from usp.web_client.abstract_client import AbstractWebClientResponse, WebClientErrorResponse

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own; no task may be left, and no complaint be made."""
    complaints: list[dict[str, Any]] = []

    async def checked() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context))
        result = await main
        assert other_tasks() == set()
        return result

    result = asyncio.run(checked())
    gc.collect()
    assert complaints == [], complaints
    return result


def other_tasks() -> set[asyncio.Task[Any]]:
    mine = asyncio.current_task()
    return {task for task in asyncio.all_tasks() if task is not mine}


def held_open(port: int) -> set[str]:
    """What of a crawl this process has open: sockets to a server's port, and spools.

    A spool has no name by which the system could tell it from other temporary files.
    """
    tables = [Path("/proc/self/net") / name for name in ("tcp", "tcp6")]
    if not tables[0].is_file():
        pytest.skip("this system doesn't say what is open")
    gc.collect()
    rows = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    ours = {f"socket:[{row[9]}]" for row in rows if int(row[2].rpartition(":")[2], 16) == port}
    links = {str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()}
    spools = {
        repr(held)
        for held in gc.get_objects()
        if isinstance(held, _Spool) and not held._file.closed
    }
    return {link for link in links if link in ours} | spools


async def until_closed(port: int) -> None:
    """Wait until nothing of a crawl is open: sockets are closed in the loop's next turns."""
    async with asyncio.timeout(10):
        while held_open(port):  # noqa: ASYNC110 -- the system tells nobody
            await asyncio.sleep(0.01)


def success(response: AbstractWebClientResponse) -> AbstractAioWebClientSuccessResponse:
    if isinstance(response, WebClientErrorResponse):
        pytest.fail(response.message())
    assert isinstance(response, AbstractAioWebClientSuccessResponse)
    return response


async def body(client: AbstractAioWebClient | AioCrawlScope, url: str) -> bytes:
    """All of a document."""
    came, fault = await read(client, url)
    assert fault is None
    return came


async def read(
    client: AbstractAioWebClient | AioCrawlScope, url: str
) -> tuple[bytes, Exception | None]:
    """What came of a document, and the fault that ended it."""
    response = success(await client.get(url))
    came = b""
    try:
        async for chunk in response.chunks():
            came += chunk
    except Exception as fault:  # noqa: BLE001 -- handed to the test
        return came, fault
    finally:
        await response.close()
    return came, None


async def message(client: AbstractAioWebClient | AioCrawlScope, url: str) -> str:
    return error(await client.get(url)).message()


@asynccontextmanager
async def in_crawl(client: AbstractAioWebClient, homepage: str) -> AsyncIterator[AioCrawlScope]:
    """A client, with its view for one crawl."""
    async with client, client.for_crawl(homepage) as own:
        yield own
