"""Many pieces of work at once in asyncio: however many are to come, no more are held than are
under way.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
)
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Tool = TypeVar("Tool")


async def as_they_finish(
    items: Iterable[Item] | AsyncIterable[Item],
    tool: AbstractAsyncContextManager[Tool],
    work: Callable[[Tool, Item], Coroutine[None, None, Result]],
    at_once: int,
) -> AsyncGenerator[tuple[Item, Result], None]:
    """Yield items with what came of them; new ones begin as results are taken.

    What the work raises is raised here, and ends the rest.

    :param tool: what all the work is done with; it is opened before and closed after.
    """
    source = aiter(items) if isinstance(items, AsyncIterable) else iter(items)
    turn = asyncio.Lock()

    async def one() -> tuple[Item, Result] | None:
        async with turn:
            try:
                item = await anext(source) if isinstance(source, AsyncIterator) else next(source)
            except (StopIteration, StopAsyncIteration):
                return None
        return item, await work(opened, item)

    async with tool as opened:
        tasks = {asyncio.create_task(one()) for _ in range(at_once)}
        done: set[asyncio.Task[tuple[Item, Result] | None]] = set()
        try:
            while tasks:
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    result = task.result()
                    if result is not None:
                        tasks.add(asyncio.create_task(one()))
                        yield result
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, *done, return_exceptions=True)
