"""kill -9 at any moment: no change is lost, none is invented, and the state opens."""

import json
import shutil
import signal
import sqlite3
from pathlib import Path
from typing import TypeAlias

import pytest

import usp
from tests.server import LoopbackServer
from tests.sync.rounds import PAGES, urlset
from tests.warm import WarmPython

POINTS = 30
Taken: TypeAlias = list[tuple[int, str, str]]
WARM = WarmPython(("usp._sync.sync", "usp.web_client.requests_client"))


def run(server: LoopbackServer, state: Path, die_at: int = 0) -> tuple[int, Taken]:
    """Sync in a process that kills itself at a step; return the steps it made and what it took."""
    done = WARM.run("-m", "tests.sync.killed", server.url, str(state), str(die_at))
    assert done.returncode == (-signal.SIGKILL if die_at else 0), done.stderr.decode()
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    taken = [(one["seq"], one["change"], one["url"].removeprefix(PAGES)) for one in lines]
    return die_at or int(done.stderr), taken


def copied(before: Path, state: Path) -> Path:
    """Copy a state that no process uses."""
    for suffix in ("-wal", "-shm", "-lock"):
        state.with_name(f"{state.name}{suffix}").unlink(missing_ok=True)
    shutil.copy(before, state)
    return state


@pytest.mark.slow
def test_a_sync_that_is_killed_at_thirty_points_loses_and_invents_nothing(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.site.update(
        {
            "/robots.txt": f"Sitemap: {server.url}a.xml\nSitemap: {server.url}b.xml\n",
            "/a.xml": urlset("1", "2", "3"),
            "/b.xml": urlset("4", "5"),
        }
    )
    before = tmp_path / "before.db"
    list(usp.sync(server.url, state=before))
    server.site["/a.xml"] = urlset("1", "2", "6", "7")
    server.site["/b.xml"] = urlset("3", "4")
    expected = {("added", "6"), ("added", "7"), ("moved", "3"), ("removed", "5")}
    steps, _ = run(server, copied(before, tmp_path / "state.db"))
    points = {1 + steps * number // POINTS for number in range(POINTS)}
    assert len(points) == POINTS
    for die_at in sorted(points):
        state = copied(before, tmp_path / "state.db")
        _, first = run(server, state, die_at)
        _, second = run(server, state)
        taken = [*first, *second]
        assert {(kind, url) for _, kind, url in taken} == expected, die_at
        # What comes again has the number that it had, and it is one at most: the last one.
        numbers = {(kind, url): seq for seq, kind, url in taken}
        assert len({seq for seq, _, _ in taken}) == len(numbers) == len(expected), die_at
        assert len(taken) <= len(expected) + 1, die_at
        with sqlite3.connect(state) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        opened.close()
        assert list(usp.sync(server.url, state=state)) == []
