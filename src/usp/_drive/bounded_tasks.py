"""Bounded concurrency in asyncio: many pieces of work, a limited number of tasks.

Items are taken from the iterator as tasks finish, so only those in progress are in memory.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
)
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Shared = TypeVar("_Shared")


async def as_they_finish(
    items: Iterable[_Item] | AsyncIterable[_Item],
    resource: AbstractAsyncContextManager[_Shared],
    work: Callable[[_Shared, _Item], Coroutine[None, None, _Result]],
    concurrency: int,
) -> AsyncGenerator[tuple[_Item, _Result], None]:
    """Yield items with their results as they finish; new ones start as results are taken.

    At most ``concurrency`` items are in progress. What the work raises is raised here, and cancels
    the rest.

    :param resource: shared by all the work; opened before it and closed after it.
    """
    source = aiter(items) if isinstance(items, AsyncIterable) else iter(items)

    async def run(item: _Item) -> tuple[_Item, _Result]:
        return item, await work(opened, item)

    async with resource as opened:
        next_item: asyncio.Task[list[_Item]] | None = asyncio.create_task(_next_of(source))
        working: set[asyncio.Task[tuple[_Item, _Result]]] = set()
        has_more = True
        try:
            while tasks := _all_of(working, next_item):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if next_item and next_item.done():
                    items_taken, next_item = next_item.result(), None
                    has_more = bool(items_taken)
                    working |= {asyncio.create_task(run(item)) for item in items_taken}
                for task in [task for task in working if task.done()]:
                    working.remove(task)
                    yield task.result()
                if has_more and next_item is None and len(working) < concurrency:
                    next_item = asyncio.create_task(_next_of(source))
        finally:
            pending = _all_of(working, next_item)
            for unfinished in pending:
                unfinished.cancel()
            await asyncio.gather(*pending, return_exceptions=True)


def _all_of(
    working: Iterable[asyncio.Task[Any]], next_item: asyncio.Task[Any] | None
) -> list[asyncio.Task[Any]]:
    return [*working, *([next_item] if next_item else [])]


async def _next_of(source: Iterator[_Item] | AsyncIterator[_Item]) -> list[_Item]:
    """Return the next item in a list; an empty list at the end."""
    try:
        return [await anext(source) if isinstance(source, AsyncIterator) else next(source)]
    except (StopIteration, StopAsyncIteration):
        return []
