"""Work that takes long, off the event loop: in threads, a few at a time.

Parsing holds the interpreter's lock most of the time. More threads would not be faster, and the
event loop would wait for its turn among all of them. The threads are those of the loop's default
executor, which is also used to resolve names: parsing must not occupy all of it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from usp._drive.thread_start import is_thread_start, thread_start_error

_CONCURRENCY: Final = 2

P = ParamSpec("P")
T = TypeVar("T")

_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread.

    :raises ThreadStartError: if none can be started.
    """
    with _thread_errors():
        return await asyncio.to_thread(function, *args, **kwargs)


@contextmanager
def _thread_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if is_thread_start(error):
            raise thread_start_error(error) from error
        raise


async def in_thread_to_end(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread, and wait for it even if the task is cancelled meanwhile.

    So what it uses can be closed afterwards: nothing uses it any more.

    :raises ThreadStartError: if none can be started.
    """
    return await _to_end(partial(function, *args, **kwargs), lambda: None)


async def _to_end(function: Callable[[], T], on_cancel: Callable[[], object]) -> T:
    loop = asyncio.get_running_loop()
    cancelled: asyncio.CancelledError | None = None
    with _thread_errors():
        # No task: asyncio.run() cancels all tasks at its end, and the thread would go on alone.
        call = loop.run_in_executor(None, copy_context().run, function)
        while not call.done():
            try:
                await asyncio.wait([call])
            except asyncio.CancelledError as error:
                cancelled = error
                on_cancel()
        if cancelled:
            call.exception()  # else asyncio says that nobody has asked for it
            raise cancelled
        return call.result()


class Closable(Protocol):
    """What is closed when it is used no more."""

    def close(self) -> None: ...


AnyClosable = TypeVar("AnyClosable", bound=Closable)


@asynccontextmanager
async def closing_in_thread(
    make: Callable[[], AnyClosable], on_cancel: Callable[[], object] = lambda: None
) -> AsyncGenerator[AnyClosable, None]:
    """Open something in a thread, and close it there at the end; also if the task is cancelled.

    :param on_cancel: called if the task is cancelled before it is open: the opening should end.
    """
    made: list[AnyClosable] = []
    try:
        await _to_end(lambda: made.append(make()), on_cancel)
        yield made[0]
    finally:
        for one in made:
            await in_thread_to_end(one.close)


async def off_loop(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread, as soon as one is free for it."""
    loop = asyncio.get_running_loop()
    slots = _slots.get(loop)
    if slots is None:
        slots = _slots[loop] = asyncio.Semaphore(_CONCURRENCY)
    async with slots:
        return await in_thread(function, *args, **kwargs)
