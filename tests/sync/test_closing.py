"""A sync can be closed while another thread, a callback or another task is in it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import usp
import usp.aio
from tests.server import Handler, LoopbackServer, stall
from tests.sync.rounds import urlset
from tests.waiting import Reading, wait_until
from usp._sync.state import State
from usp.exceptions import UsageError
from usp.objects.events import ResponseReceived

if TYPE_CHECKING:
    from pathlib import Path


def assert_intact(state: Path) -> None:
    """The state is free, and nothing in it is damaged."""
    State.open_to_run(state, wait=0).close()
    with closing(sqlite3.connect(state)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def stalling(server: LoopbackServer, *names: str) -> threading.Event:
    """Let these sitemaps never answer; return what is set when one of them is asked for."""
    waits = threading.Event()

    def respond(handler: Handler) -> None:
        waits.set()
        stall(handler)

    for name in names:
        server.site[f"/{name}.xml"] = respond
    return waits


@pytest.mark.parametrize("sites_at_once", [1, 8])
def test_another_thread_can_close_a_sync_that_waits(
    server: LoopbackServer, tmp_path: Path, sites_at_once: int
) -> None:
    state, urls = tmp_path / "state.db", [server.at(f"/{name}.xml") for name in "abc"]
    waits = stalling(server, "b", "c")
    server.site["/a.xml"] = urlset("1", "2")
    found = usp.sync(*urls, state=state, emit_initial=True, sites_at_once=sites_at_once)
    reading = Reading(found)
    reading.start()
    waits.wait(10)
    wait_until(lambda: len(reading.urls) == 2)
    closed_at = time.monotonic()
    found.close()
    assert time.monotonic() - closed_at < 5  # it doesn't wait for the thread
    reading.finish()
    assert reading.ended_at - closed_at < 10
    assert next(found, None) is None
    assert [report.site for report in found.reports] == urls[:1]
    assert_intact(state)
    for name in "bc":
        server.site[f"/{name}.xml"] = urlset(name)
    with usp.sync(*urls, state=state, emit_initial=True) as again:
        assert sorted(change.url[-1] for change in again) == ["b", "c"]  # the others were taken


def test_a_callback_can_close_its_sync(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    server.site["/a.xml"] = urlset("1", "2")

    def observe(event: object) -> None:
        if isinstance(event, ResponseReceived):
            found.close()

    found = usp.sync(server.at("/a.xml"), state=state, emit_initial=True, observer=observe)
    assert list(found) == []
    assert_intact(state)


@pytest.mark.parametrize("commit_each", [True, False])
def test_each_change_comes_at_least_once_whenever_another_thread_closes(
    server: LoopbackServer, tmp_path: Path, commit_each: bool
) -> None:
    state, names = tmp_path / "state.db", [f"{number:03}" for number in range(400)]
    server.site["/a.xml"] = urlset(*names)
    seen = list[str]()
    for wanted in [0, 1, 20, 0, 200, 1] * 6:
        found = usp.sync(
            server.at("/a.xml"), state=state, emit_initial=True, commit_each=commit_each
        )
        reading = Reading(found)
        reading.start()
        wait_until(lambda: len(reading.urls) >= wanted or not reading.is_alive())  # noqa: B023
        found.close()
        reading.finish()
        seen += reading.urls
        assert_intact(state)
        if len(set(seen)) == len(names):
            break
    with usp.sync(server.at("/a.xml"), state=state, emit_initial=True) as rest:
        seen += [change.url for change in rest]
    assert [url[-3:] for url in dict.fromkeys(seen)] == names


def test_after_an_exception_in_another_thread_nothing_more_was_taken(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state, url = tmp_path / "state.db", server.at("/a.xml")
    server.site["/a.xml"] = urlset("1", "2")
    waits = stalling(server, "b")
    fields: dict[str, Any] = {"state": state, "emit_initial": True, "sites_at_once": 1}
    found = usp.sync(url, server.at("/b.xml"), commit_each=False, **fields)
    reading = Reading(found)
    reading.start()
    waits.wait(10)
    wait_until(lambda: len(reading.urls) == 2)
    found.__exit__(RuntimeError, RuntimeError(), None)  # of a with block in this thread
    reading.finish()
    assert_intact(state)
    with usp.sync(url, **fields) as again:
        assert [change.url[-1] for change in again] == ["1", "2"]


def test_two_threads_can_not_read_one_sync(server: LoopbackServer, tmp_path: Path) -> None:
    waits = stalling(server, "a")
    found = usp.sync(server.at("/a.xml"), state=tmp_path / "state.db")
    reading = Reading(found)
    reading.start()
    waits.wait(10)
    with pytest.raises(UsageError, match="Another thread reads this sync"):
        next(found)
    found.close()
    reading.finish()
    assert_intact(tmp_path / "state.db")


def test_a_sync_that_another_task_reads_is_ended_by_cancelling_that_task(
    server: LoopbackServer, tmp_path: Path
) -> None:
    waits, state = stalling(server, "a"), tmp_path / "state.db"

    async def main() -> None:
        found = usp.aio.sync(server.at("/a.xml"), state=state)
        reading = asyncio.ensure_future(anext(found))
        await asyncio.to_thread(waits.wait, 10)
        for use in (found.aclose, lambda: anext(found), lambda: found.__aexit__(None, None, None)):
            with pytest.raises(UsageError, match="cancel that task"):
                await use()
        assert not reading.done()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await found.aclose()

    asyncio.run(main())
    assert_intact(state)
