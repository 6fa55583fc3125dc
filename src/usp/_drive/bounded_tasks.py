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
    Iterator,
)
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Tool = TypeVar("Tool")


async def as_they_finish(
    items: Iterable[Item] | AsyncIterable[Item],
    tool: AbstractAsyncContextManager[Tool],
    work: Callable[[Tool, Item], Coroutine[None, None, Result]],
    concurrency: int,
) -> AsyncGenerator[tuple[Item, Result], None]:
    """Yield items with what came of them; new ones start as results are taken.

    They are drawn one by one, so however large the bound, there is one task more than items at
    most. What the work raises is raised here, and ends the rest.

    :param tool: what all the work is done with; it is opened before and closed after.
    """
    source = aiter(items) if isinstance(items, AsyncIterable) else iter(items)

    async def begun(item: Item) -> tuple[Item, Result]:
        return item, await work(opened, item)

    async with tool as opened:
        drawing: asyncio.Task[list[Item]] | None = asyncio.create_task(_next_of(source))
        working: set[asyncio.Task[tuple[Item, Result]]] = set()
        has_more = True
        try:
            while tasks := _all_of(working, drawing):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if drawing and drawing.done():
                    drawn, drawing = drawing.result(), None
                    has_more = bool(drawn)
                    working |= {asyncio.create_task(begun(item)) for item in drawn}
                for task in [task for task in working if task.done()]:
                    working.remove(task)
                    yield task.result()
                if has_more and drawing is None and len(working) < concurrency:
                    drawing = asyncio.create_task(_next_of(source))
        finally:
            left = _all_of(working, drawing)
            for each in left:
                each.cancel()
            await asyncio.gather(*left, return_exceptions=True)


def _all_of(
    working: Iterable[asyncio.Task[Any]], drawing: asyncio.Task[Any] | None
) -> list[asyncio.Task[Any]]:
    return [*working, *([drawing] if drawing else [])]


async def _next_of(source: Iterator[Item] | AsyncIterator[Item]) -> list[Item]:
    """Draw an item; nothing at the end."""
    try:
        return [await anext(source) if isinstance(source, AsyncIterator) else next(source)]
    except (StopIteration, StopAsyncIteration):
        return []
