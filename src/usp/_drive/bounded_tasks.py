"""Bounded concurrency in asyncio: many pieces of work, a limited number of tasks.

Items are drawn one by one, so however many there are, only those in progress are held.
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

Item = TypeVar("Item")
Result = TypeVar("Result")
Resource = TypeVar("Resource")


async def as_they_finish(
    items: Iterable[Item] | AsyncIterable[Item],
    resource: AbstractAsyncContextManager[Resource],
    work: Callable[[Resource, Item], Coroutine[None, None, Result]],
    concurrency: int,
) -> AsyncGenerator[tuple[Item, Result], None]:
    """Yield items with their results as they finish; new ones start as results are taken.

    At most ``concurrency`` items are in progress. What the work raises is raised here, and cancels
    the rest.

    :param resource: shared by all the work; opened before it and closed after it.
    """
    source = aiter(items) if isinstance(items, AsyncIterable) else iter(items)

    async def run(item: Item) -> tuple[Item, Result]:
        return item, await work(opened, item)

    async with resource as opened:
        drawing: asyncio.Task[list[Item]] | None = asyncio.create_task(_next_of(source))
        working: set[asyncio.Task[tuple[Item, Result]]] = set()
        has_more = True
        try:
            while tasks := _all_of(working, drawing):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if drawing and drawing.done():
                    drawn, drawing = drawing.result(), None
                    has_more = bool(drawn)
                    working |= {asyncio.create_task(run(item)) for item in drawn}
                for task in [task for task in working if task.done()]:
                    working.remove(task)
                    yield task.result()
                if has_more and drawing is None and len(working) < concurrency:
                    drawing = asyncio.create_task(_next_of(source))
        finally:
            pending = _all_of(working, drawing)
            for unfinished in pending:
                unfinished.cancel()
            await asyncio.gather(*pending, return_exceptions=True)


def _all_of(
    working: Iterable[asyncio.Task[Any]], drawing: asyncio.Task[Any] | None
) -> list[asyncio.Task[Any]]:
    return [*working, *([drawing] if drawing else [])]


async def _next_of(source: Iterator[Item] | AsyncIterator[Item]) -> list[Item]:
    """Return the next item in a list; an empty list at the end."""
    try:
        return [await anext(source) if isinstance(source, AsyncIterator) else next(source)]
    except (StopIteration, StopAsyncIteration):
        return []
