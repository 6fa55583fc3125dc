"""Event loops for tests: a test calls ``run()``, which fails if a task or an error is left.

No plugin runs coroutines.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.open_files import open_files
from tests.responses import error
from usp._store import Spool
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClient,
    AbstractAioWebClientSuccessResponse,
    AioCrawlScope,
)
from usp.web_client.abstract_client import AbstractWebClientResponse, WebClientErrorResponse

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new loop; no task may be left, and no error be reported."""
    reports: list[dict[str, Any]] = []

    async def checked() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: reports.append(context))
        result = await main
        assert other_tasks() == set()
        return result

    result = asyncio.run(checked())
    gc.collect()
    assert reports == [], reports
    return result


def other_tasks() -> set[asyncio.Task[Any]]:
    mine = asyncio.current_task()
    return {task for task in asyncio.all_tasks() if task is not mine}


def held_open(port: int) -> set[str]:
    """What this process has open of a crawl: sockets to a server's port, and temporary files.

    Those have no name by which the system could distinguish them from others.
    """
    tables = [Path("/proc/self/net") / name for name in ("tcp", "tcp6")]
    if not tables[0].is_file():
        pytest.skip("this system doesn't list open files")
    gc.collect()
    rows = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    ours = {f"socket:[{row[9]}]" for row in rows if int(row[2].rpartition(":")[2], 16) == port}
    spools = {
        repr(held) for held in gc.get_objects() if isinstance(held, Spool) and not held._file.closed
    }
    return (ours & set(open_files())) | spools


async def until_closed(port: int) -> None:
    """Wait until nothing of a crawl is open: sockets are closed in later iterations of the loop."""
    async with asyncio.timeout(10):
        while held_open(port):  # noqa: ASYNC110 -- there is no event for it
            await asyncio.sleep(0.01)


def success(response: AbstractWebClientResponse) -> AbstractAioWebClientSuccessResponse:
    if isinstance(response, WebClientErrorResponse):
        pytest.fail(response.message())
    assert isinstance(response, AbstractAioWebClientSuccessResponse)
    return response


async def body(client: AbstractAioWebClient | AioCrawlScope, url: str) -> bytes:
    """All of a document."""
    received, failure = await read(client, url)
    assert failure is None
    return received


async def read(
    client: AbstractAioWebClient | AioCrawlScope, url: str
) -> tuple[bytes, Exception | None]:
    """What was received of a document, and the error that ended it."""
    response = success(await client.get(url))
    received = b""
    try:
        async for chunk in response.chunks():
            received += chunk
    except Exception as failure:  # noqa: BLE001 -- handed to the test
        return received, failure
    finally:
        await response.close()
    return received, None


async def message(client: AbstractAioWebClient | AioCrawlScope, url: str) -> str:
    return error(await client.get(url)).message()


@asynccontextmanager
async def in_crawl(client: AbstractAioWebClient, homepage: str) -> AsyncIterator[AioCrawlScope]:
    """The scope of one crawl; the client is closed after it."""
    async with client, client.for_crawl(homepage) as own:
        yield own
