"""When a sitemap is due: the interval grows while nothing changes, and shrinks with changes."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
import usp.aio
from tests.server import LoopbackServer
from tests.sync.rounds import kept, urlset
from usp import Policy
from usp._sync.options import DiscoveryChoice, SyncChoices, SyncOptions
from usp._sync.schedule import FIRST, LONGEST, SHORTEST, is_due, next_interval
from usp._sync.session import Session

MINUTE = 60_000_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def after(*changed: bool) -> int:
    """The interval after so many looks, the first of which found the sitemap."""
    interval = next_interval(0, changed=True)
    for one in changed:
        interval = next_interval(interval, changed=one)
    return interval


def test_the_interval_grows_by_half_without_a_change_and_is_halved_by_one() -> None:
    assert after() == FIRST
    assert after(False) == FIRST * 3 // 2
    assert after(False, False) == FIRST * 9 // 4
    assert after(True) == FIRST // 2
    assert after(False, True) == FIRST * 3 // 4


@given(st.lists(st.booleans(), max_size=60))
def test_the_interval_stays_between_ten_minutes_and_a_week(changed: list[bool]) -> None:
    assert SHORTEST <= after(*changed) <= LONGEST


def test_the_interval_reaches_its_bounds() -> None:
    assert (SHORTEST, LONGEST) == (10 * MINUTE, 7 * DAY)
    assert after(*[True] * 4) == SHORTEST
    assert after(*[False] * 15) == LONGEST


def looks(period: int | None, days: int = 21) -> list[int]:
    """When a job that runs every ten minutes looks at a sitemap that changes with this period."""
    found, interval, fetched_at, version = list[int](), 0, None, -1
    for now in range(0, days * DAY, 10 * MINUTE):
        if is_due(now, fetched_at, interval):
            seen = 0 if period is None else now // period
            interval = next_interval(interval, changed=seen != version)
            fetched_at, version = now, seen
            found.append(now)
    return found


@pytest.mark.parametrize("period", [HOUR, 6 * HOUR, DAY])
def test_the_interval_settles_at_about_a_third_of_the_time_between_changes(period: int) -> None:
    settled = [now for now in looks(period) if now > 7 * DAY]
    mean = (settled[-1] - settled[0]) / (len(settled) - 1)
    assert 0.25 < mean / period < 0.5


def test_what_never_changes_is_looked_at_once_a_week_in_the_end() -> None:
    found = looks(None, days=60)
    assert len(found) < 25
    assert found[-1] - found[-2] >= LONGEST


def test_a_job_that_is_a_little_early_finds_it_due() -> None:
    assert is_due(10 * MINUTE - 29_000_000, 0, SHORTEST)
    assert not is_due(10 * MINUTE - 31_000_000, 0, SHORTEST)
    assert is_due(0, None, LONGEST)


def test_what_was_read_in_the_future_is_due() -> None:
    """The clock was wrong: else nothing would ask for the sitemap before that time."""
    assert is_due(0, 365 * DAY, SHORTEST)


def test_jitter_spreads_the_starts_of_sites() -> None:
    options = SyncOptions.of(Policy(), SyncChoices(jitter=60))
    delays = [options.delay() for _ in range(200)]
    assert 0 <= min(delays) < 6
    assert 54 < max(delays) <= 60
    assert SyncOptions.of(Policy(), SyncChoices()).delay() == 0


def test_jitter_delays_no_site_of_which_nothing_is_due(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("a.xml")
    server.site["/a.xml"] = kept(urlset("1"))
    searched = LoopbackServer()
    searched.site["/sitemap.xml"] = kept(urlset("1"))
    with searched:
        sites = [server.url, f"{server.url}a.xml", searched.url]
        state = tmp_path / "state.db"
        waits = {site: wait(site, state) for site in sites}
        assert all(waits.values()), "nothing is known of them yet"
        for site in sites:
            list(usp.sync(site, state=state, max_attempts=1))
        assert [wait(site, state) > 0 for site in sites] == [False, False, True]
        assert wait(server.url, state, due=False) > 0
        assert wait(server.url, state, use_known_paths=True) > 0
        with closing(sqlite3.connect(state)) as database, database:
            database.execute("UPDATE sitemaps SET fetched_at = 0 WHERE url LIKE '%/a.xml'")
        assert wait(server.url, state) > 0


def wait(site: str, state: Path, *, due: bool = True, use_known_paths: bool | None = None) -> float:
    """How long a sync waits before a site."""
    discovery = DiscoveryChoice(use_robots=True, use_known_paths=use_known_paths)
    chosen = SyncChoices(jitter=60, due=due)
    session = Session.of([site], state, 0, discovery, Policy(), chosen).opened()
    with closing(session):
        return session.delay(session.sources[0])


def test_nothing_due_is_not_waited_for(server: LoopbackServer, tmp_path: Path) -> None:
    server.site["/a.xml"] = kept(urlset("1"))
    found = f"{server.url}a.xml"
    list(usp.sync(found, state=tmp_path / "state.db"))
    with usp.sync(found, state=tmp_path / "state.db", due=True, jitter=10_000) as stream:
        list(stream)
    assert stream.reports[0].requests == 0

    async def run() -> int:
        async with usp.aio.sync(
            found, state=tmp_path / "state.db", due=True, jitter=10_000
        ) as changes:
            assert [one async for one in changes] == []
        return changes.reports[0].requests

    assert asyncio.run(run()) == 0


class DueSite:
    """A sitemap that is synced when it is due, in a state whose past can be moved."""

    def __init__(self, server: LoopbackServer, state: Path) -> None:
        self._server = server
        self._state = state

    def sync(self, *names: str, waited: int = 0) -> tuple[int, int]:
        """Sync some time after the last run; return the requests, and the interval then."""
        self._server.site["/a.xml"] = kept(urlset(*names))
        if waited:
            self._execute(f"UPDATE sitemaps SET fetched_at = fetched_at - {waited}")  # noqa: S608 -- a number
        with usp.sync(f"{self._server.url}a.xml", state=self._state, due=True) as found:
            list(found)
        return found.reports[0].requests, self._execute("SELECT interval FROM sitemaps")

    def _execute(self, query: str) -> int:
        with closing(sqlite3.connect(self._state)) as database, database:
            row = database.execute(query).fetchone()
        return int(row[0]) if row else 0


def test_a_state_keeps_the_interval_of_each_sitemap(server: LoopbackServer, tmp_path: Path) -> None:
    site = DueSite(server, tmp_path / "state.db")
    assert site.sync("1") == (1, FIRST)
    assert site.sync("1") == (0, FIRST)
    assert site.sync("1", waited=HOUR) == (1, 90 * MINUTE)  # 304: it grows
    assert site.sync("1", waited=80 * MINUTE) == (0, 90 * MINUTE)
    assert site.sync("1", "2", waited=10 * MINUTE) == (1, 45 * MINUTE)  # changed: it is halved
    assert site.sync("1", "2", "3", waited=45 * MINUTE) == (1, 45 * MINUTE // 2)
    assert site.sync("1", "2", "3", waited=45 * MINUTE) == (1, 45 * MINUTE * 3 // 4)
