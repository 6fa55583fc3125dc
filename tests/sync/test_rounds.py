"""A site that is driven through forty rounds of failures and changes, in threads and asyncio."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

import usp
import usp.aio
from tests.server import LoopbackServer
from tests.sync.rounds import PAGES, Told, prepare, rounds


def in_threads(url: str, state: Path) -> tuple[list[usp.Change], usp.SiteReport]:
    with usp.sync(url, state=state, max_attempts=1, scheme_fallback=False) as found:
        changes = list(found)
    return changes, found.reports[0]


def in_asyncio(url: str, state: Path) -> tuple[list[usp.Change], usp.SiteReport]:
    async def run() -> tuple[list[usp.Change], usp.SiteReport]:
        async with usp.aio.sync(url, state=state, max_attempts=1, scheme_fallback=False) as found:
            changes = [change async for change in found]
        return changes, found.reports[0]

    return asyncio.run(run())


def told(changes: list[usp.Change]) -> Told:
    return [(str(one.change), one.url.removeprefix(PAGES)) for one in changes]


@pytest.mark.slow
@pytest.mark.parametrize("run", [in_threads, in_asyncio])
def test_forty_rounds_give_exactly_the_expected_changes(
    run: Callable[[str, Path], tuple[list[usp.Change], usp.SiteReport]],
    server: LoopbackServer,
    tmp_path: Path,
) -> None:
    state = tmp_path / "state.db"
    script = rounds(server.url)
    assert len(script) >= 40
    seqs: list[int] = []
    for number, one in enumerate(script):
        prepare(server, one)
        changes, report = run(server.url, state)
        assert told(changes) == one.expected, one.name
        assert report.held_back == one.held_back, one.name
        assert report.is_baseline is (number == 0)
        seqs += [change.seq for change in changes]
    assert seqs == sorted(set(seqs))
    assert [change.seq for change in usp.changes(state)] == seqs
    # The last round: robots.txt, the index, four sitemaps, and no body.
    assert (report.requests, report.not_modified, report.unchanged) == (6, 6, 5)
    assert report.bytes == 0
