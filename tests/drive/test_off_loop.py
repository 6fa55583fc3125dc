"""What is opened in a thread is closed there, however the task that has opened it ends."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from usp._drive import off_loop
from usp.exceptions import ThreadStartError


class Resource:
    """Something that takes long to open, and notes what becomes of it."""

    def __init__(self, log: list[str], may_go_on: threading.Event) -> None:
        assert may_go_on.wait(60)
        self._log = log
        log.append("made")

    def close(self) -> None:
        self._log.append("closed")


@pytest.mark.parametrize("is_cancelled_first", [False, True])
def test_what_a_background_task_opens_while_the_program_ends_is_closed(
    is_cancelled_first: bool,
) -> None:
    """``asyncio.run`` cancels all tasks at its end, and waits for them."""
    log: list[str] = []
    may_go_on = threading.Event()

    async def use() -> None:
        async with off_loop.closing_in_thread(lambda: Resource(log, may_go_on), may_go_on.set):
            log.append("used")

    async def main() -> None:
        background = asyncio.create_task(use())
        await asyncio.sleep(0.01)
        if is_cancelled_first:
            background.cancel()

    asyncio.run(main())
    assert log == ["made", "closed"]


def test_a_thread_that_cannot_be_started_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def call(way: Callable[..., Awaitable[object]]) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            with pytest.raises(ThreadStartError):
                await way(int)

    asyncio.run(call(off_loop.in_thread))
    asyncio.run(call(off_loop.in_thread_to_end))
