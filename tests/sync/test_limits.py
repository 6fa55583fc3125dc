"""A run that a limit ends says so, is no baseline, and takes nothing away."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import usp
import usp.aio
from tests.server import Callback, Handler, LoopbackServer, stall
from tests.sync.rounds import PAGES, kept, urlset
from usp.objects.outcome import Outcome

Run = Callable[..., tuple[list[str], usp.SiteReport]]
NO_TIME: dict[str, Any] = {"max_seconds": 0.4}


def in_threads(url: str, state: Path, **options: Any) -> tuple[list[str], usp.SiteReport]:
    with usp.sync(url, state=state, **options) as found:
        changes = [change.url for change in found]
    return changes, found.reports[0]


def in_asyncio(url: str, state: Path, **options: Any) -> tuple[list[str], usp.SiteReport]:
    async def run() -> tuple[list[str], usp.SiteReport]:
        async with usp.aio.sync(url, state=state, **options) as found:
            changes = [change.url async for change in found]
        return changes, found.reports[0]

    return asyncio.run(run())


def hang_up(handler: Handler) -> None:
    """Close the connection without a response."""
    handler.connection.close()


@pytest.mark.parametrize("run", [in_threads, in_asyncio])
@pytest.mark.parametrize("answer", [stall, hang_up])
def test_a_declared_sitemap_without_an_answer_in_time_is_told_and_makes_no_baseline(
    run: Run, answer: Callback, server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    server.robots("a.xml")
    server.site["/a.xml"] = answer
    changes, first = run(server.url, state, **NO_TIME)
    assert (changes, first.outcome, first.failed) == ([], Outcome.PARTIAL, 1)
    assert first.stopped is not None
    assert first.stopped.code == "SM705"
    assert first.reason
    assert not first.is_baseline

    server.site["/a.xml"] = kept(urlset("1", "2"))
    changes, second = run(server.url, state)
    assert (changes, second.is_baseline, second.stopped) == ([], True, None)

    server.site["/a.xml"] = answer
    changes, third = run(server.url, state, **NO_TIME)
    assert (changes, third.outcome, third.failed, third.pages) == ([], Outcome.PARTIAL, 1, 2)
    assert third.stopped == first.stopped

    server.site["/a.xml"] = kept(urlset("1", "2", "3"))
    assert run(server.url, state)[0] == [f"{PAGES}3"]


def test_the_limit_of_sitemaps_is_told(server: LoopbackServer, tmp_path: Path) -> None:
    server.robots("a.xml", "b.xml")
    server.site |= {"/a.xml": urlset("1"), "/b.xml": urlset("2")}
    _, report = in_threads(server.url, tmp_path / "state.db", max_sitemaps=1)
    assert report.stopped is not None
    assert report.stopped.code == "SM703"
    assert not report.is_baseline
