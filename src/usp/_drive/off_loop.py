"""Work that takes long, off the event loop: in threads, a few at a time.

Parsing holds the interpreter's lock most of the time. More threads would not be faster, and the
event loop would wait for its turn among all of them. The threads are those of the loop's default
executor, which is also used to resolve names: parsing must not occupy all of it.
"""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar
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
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except RuntimeError as error:
        if is_thread_start(error):
            raise thread_start_error(error) from error
        raise


async def off_loop(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread, as soon as one is free for it."""
    loop = asyncio.get_running_loop()
    slots = _slots.get(loop)
    if slots is None:
        slots = _slots[loop] = asyncio.Semaphore(_CONCURRENCY)
    async with slots:
        return await in_thread(function, *args, **kwargs)
