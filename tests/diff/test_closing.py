"""A comparison can be closed while another thread, or a callback, is in it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

import usp
from tests.server import Handler, LoopbackServer, stall
from tests.sync.rounds import urlset
from tests.waiting import Reading, fetchers, wait_until
from usp.objects.events import ResponseReceived

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("stalled", ["a", "b"])
def test_another_thread_can_close_a_comparison_that_waits(
    server: LoopbackServer, stalled: str
) -> None:
    waits = threading.Event()

    def respond(handler: Handler) -> None:
        waits.set()
        stall(handler)

    server.site.update({"/a.xml": urlset("1"), "/b.xml": urlset("2"), f"/{stalled}.xml": respond})
    found = usp.diff(server.at("/a.xml"), server.at("/b.xml"))
    reading = Reading(found)
    reading.start()
    waits.wait(10)
    closed_at = time.monotonic()
    found.close()
    assert time.monotonic() - closed_at < 5  # it doesn't wait for the thread
    reading.finish()
    assert reading.ended_at - closed_at < 10
    assert (reading.urls, next(found, None)) == ([], None)
    assert (found.is_answered, found.is_whole) == (False, False)
    wait_until(lambda: not fetchers())


def test_a_callback_can_close_its_comparison(server: LoopbackServer) -> None:
    server.site.update({"/a.xml": urlset("1"), "/b.xml": urlset("2")})

    def observe(event: object) -> None:
        if isinstance(event, ResponseReceived):
            found.close()

    found = usp.diff(server.at("/a.xml"), server.at("/b.xml"), observer=observe)
    assert list(found) == []
    assert not found.is_answered
    assert server.requested == ["/a.xml"]


@pytest.mark.slow
def test_files_are_closed_whenever_another_thread_closes(tmp_path: Path) -> None:
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text("".join(f"https://example.org/{number}\n" for number in range(40_000)))
    b.write_text("".join(f"https://example.org/{number}\n" for number in range(0, 80_000, 2)))
    wholes = set[bool]()
    for number, wanted in enumerate([0, 1, 0, 10, 0, 3000, 0] * 4):
        found = usp.diff(a, b)
        reading = Reading(found)
        reading.start()
        if wanted:
            wait_until(lambda: len(reading.urls) >= wanted)  # noqa: B023
        else:
            time.sleep(number / 300)  # in a side, or before it
        found.close()
        reading.finish()
        assert found.is_answered or not reading.urls
        assert next(found, None) is None
        wholes.add(found.is_whole)
    assert wholes == {True, False}
