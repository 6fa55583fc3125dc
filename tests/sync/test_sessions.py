"""The state of a sync is opened off the event loop, and closed however the sync ends."""

import asyncio
import gc
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import usp
import usp.aio
from tests.server import Handler, LoopbackServer, stall
from tests.sync.rounds import PAGES, urlset
from tests.sync.runs import HOME, NOW, Read, Site, entries, sitemap_url
from tests.waiting import fetchers, wait_until
from usp._parse import Kind
from usp._sync.readings import RunRules, SitemapReading, Structure
from usp._sync.site_run import SiteRun
from usp._sync.state import MIGRATIONS, State, _check_content
from usp._sync.state_path import StatePath
from usp.exceptions import StateError, UsageError
from usp.objects.fetch_info import FetchInfo


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """A state that something else uses: its lock is that of SQLite, whoever holds it."""
    with closing(State.open_to_run(path)):
        yield


@contextmanager
def without_garbage_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def assert_free(path: Path) -> None:
    State.open_to_run(path, wait=0).close()


def test_the_event_loop_goes_on_while_the_state_is_in_use(tmp_path: Path) -> None:
    state = tmp_path / "state.db"

    async def ticks_while_waiting() -> int:
        found = usp.aio.sync("https://example.org/", state=state, wait=0.4)
        waiting = asyncio.ensure_future(anext(found))
        ticks = 0
        while not waiting.done():
            await asyncio.sleep(0.02)
            ticks += 1
        with pytest.raises(StateError, match="used by another process"):
            await waiting
        return ticks

    with in_use(state):
        assert asyncio.run(ticks_while_waiting()) >= 5
    assert_free(state)


def test_the_event_loop_goes_on_while_another_connection_writes(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state, url = tmp_path / "state.db", f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1", "2", "3")

    async def ticks_while_taking() -> int:
        async with usp.aio.sync(url, state=state, emit_initial=True) as found:
            await anext(found)
            await anext(found)  # the first one was taken
            writer = sqlite3.connect(state, isolation_level=None)
            writer.execute("BEGIN IMMEDIATE")
            taking = asyncio.ensure_future(anext(found))
            for _ in range(10):
                await asyncio.sleep(0.02)
            assert not taking.done()
            writer.execute("ROLLBACK")
            writer.close()
            return (await taking).seq

    assert asyncio.run(ticks_while_taking()) == 3
    with usp.sync(url, state=state) as again:
        assert list(again) == []


def test_a_task_that_is_cancelled_while_it_waits_for_the_state_leaves_nothing_held(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state.db"

    async def cancelled() -> None:
        async with usp.aio.sync("https://example.org/", state=state, wait=60) as found:
            await asyncio.wait_for(anext(found), 0.1)

    started = time.monotonic()
    with in_use(state), pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert time.monotonic() - started < 10  # no thread waits for the state any more
    assert_free(state)


def test_a_task_that_is_cancelled_while_the_state_opens_leaves_nothing_held(tmp_path: Path) -> None:
    state = tmp_path / "state.db"

    async def cancelled(after: int) -> None:
        found = usp.aio.sync("http://127.0.0.1:9/", state=state, max_attempts=1)
        task = asyncio.ensure_future(anext(found, None))
        for _ in range(after):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert_free(state)

    for after in range(1, 12):
        asyncio.run(cancelled(after))


def test_in_asyncio_what_is_no_state_is_said_when_the_first_change_is_requested(
    tmp_path: Path,
) -> None:
    path = tmp_path / "text"
    path.write_text("no database at all, but long enough to be taken for one" * 30)
    found = usp.aio.sync("https://example.org/", state=path)
    with pytest.raises(UsageError, match="not a state of usp"):
        asyncio.run(anext(found))
    with pytest.raises(UsageError, match="state must be"):
        usp.aio.sync("https://example.org/", state="")


def test_a_sync_that_is_dropped_frees_the_state_at_once(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state, url = tmp_path / "state.db", f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1", "2")
    with without_garbage_collector():
        never_asked = usp.sync(url, state=state)
        del never_asked
        assert_free(state)
        dropped = usp.sync(url, state=state, emit_initial=True)
        next(dropped)
        del dropped
        assert_free(state)
    with usp.sync(url, state=state) as again:  # what was not taken comes again
        assert [one.url for one in again] == [f"{PAGES}1", f"{PAGES}2"]


def test_a_sync_that_is_dropped_in_asyncio_frees_the_state(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state, url = tmp_path / "state.db", f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1", "2")

    async def drop() -> None:
        dropped = usp.aio.sync(url, state=state, emit_initial=True)
        await anext(dropped)
        del dropped
        for _ in range(200):  # the loop closes it as soon as it can
            await asyncio.sleep(0.01)
            try:
                assert_free(state)
            except StateError:
                continue
            return
        raise AssertionError("the state is still locked")

    with without_garbage_collector():
        asyncio.run(drop())


def test_a_cancelled_run_is_over_before_its_state_is_closed(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    urls = [f"{server.url}{name}.xml" for name in "ab"]
    asked, release = threading.Event(), threading.Event()

    def slow(_handler: Handler) -> bytes:
        asked.set()
        release.wait(10)
        return urlset("1")

    server.site.update({"/a.xml": urlset("1"), "/b.xml": slow})

    async def ended_early() -> None:
        async with usp.aio.sync(*urls, state=state, emit_initial=True) as found:
            await anext(found)
            await asyncio.to_thread(asked.wait, 10)
        assert_free(state)
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

    try:
        asyncio.run(ended_early())
    finally:
        release.set()


@pytest.mark.parametrize("concurrency", [1, 32])
@pytest.mark.parametrize("in_asyncio", [False, True])
def test_closing_a_sync_ends_the_runs_of_silent_sites_at_once(
    server: LoopbackServer, tmp_path: Path, *, in_asyncio: bool, concurrency: int
) -> None:
    state = tmp_path / "state.db"
    urls = [f"{server.url}{name}.xml" for name in "ab"]
    server.site |= {"/a.xml": urlset("1"), "/b.xml": stall}

    async def close_early() -> float:
        found = usp.aio.sync(*urls, state=state, emit_initial=True, concurrency=concurrency)
        await anext(found)
        await asyncio.to_thread(wait_until, lambda: "/b.xml" in server.requested)
        started = time.monotonic()
        await found.aclose()
        return time.monotonic() - started

    if in_asyncio:
        assert asyncio.run(close_early()) < 10
    else:
        found = usp.sync(*urls, state=state, emit_initial=True, concurrency=concurrency)
        next(found)
        wait_until(lambda: "/b.xml" in server.requested)
        started = time.monotonic()
        found.close()
        assert time.monotonic() - started < 10
        assert fetchers() == []
    assert_free(state)
    server.site["/b.xml"] = urlset("2")
    with usp.sync(*urls, state=state, emit_initial=True) as again:
        assert [one.url for one in again] == [f"{PAGES}2"]


def test_a_state_is_locked_under_all_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link.db").symlink_to("state.db")
    with in_use(Path("state.db")), pytest.raises(StateError, match="used by another process"):
        usp.sync("https://example.org/", state="link.db", wait=0)
    assert_free(Path("link.db"))


def test_a_path_that_cannot_be_followed_is_refused_in_one_line(tmp_path: Path) -> None:
    circle, other = tmp_path / "circle.db", tmp_path / "other.db"
    circle.symlink_to(other)
    other.symlink_to(circle)
    for path in (circle, circle / "state.db", "a\0b", "\ud800", "x" * 10_000):
        with pytest.raises(UsageError, match=r"can't be the path of a state: .*\.$"):
            usp.sync("https://example.org/", state=path)
        with pytest.raises(UsageError, match="can't be the path of a state"):
            usp.changes(path)


def test_a_state_that_another_process_makes_meanwhile_is_no_file_of_another_program(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.db"
    with closing(StatePath.of(path).connect()) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # as the other process does first

        def make_it(statement: str) -> None:
            if "user_version" in statement:  # in the midst of the check
                connection.set_trace_callback(None)
                State.open_to_run(path).close()

        connection.set_trace_callback(make_it)
        assert _check_content(connection, str(path), create=True) == 0
        assert _check_content(connection, str(path), create=False) == len(MIGRATIONS)


def test_the_wait_for_a_file_that_is_being_made_can_be_ended(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    given_up = threading.Event()
    with closing(sqlite3.connect(path, isolation_level=None)) as maker:
        maker.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        with pytest.raises(StateError, match="used by another process"):
            State.open_to_run(path, wait=0)
        threading.Timer(0.1, given_up.set).start()
        with pytest.raises(StateError, match="used by another process"):
            State.open_to_run(path, 60, given_up)
        assert time.monotonic() - started < 4  # SQLite itself would wait for five seconds
        maker.execute("ROLLBACK")
    assert_free(path)


def test_only_what_is_in_use_is_said_to_be(tmp_path: Path) -> None:
    path = StatePath.of(tmp_path / "state.db")
    with closing(path.connect()) as connection:
        with pytest.raises(StateError, match="no such table: locked"), path.errors():
            connection.execute("SELECT * FROM locked")
        with closing(path.connect(wait=0)) as other:
            connection.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StateError, match="used by another process"), path.errors():
                other.execute("BEGIN EXCLUSIVE")


def test_a_name_that_sqlite_takes_for_something_else_is_a_file(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server.site["/a.xml"] = urlset("1")
    for _ in range(2):
        with usp.sync(f"{server.url}a.xml", state=":memory:") as found:
            list(found)
    assert not found.reports[0].is_baseline


def test_a_full_disk_is_said_in_one_line_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    Site(path).run({"a": Read(entries(1))})
    with closing(State.open_to_run(path)) as state:
        run = SiteRun(state.path, state.add_site(HOME), RunRules(), NOW)
        (pages,) = run._tables._db.execute("PRAGMA page_count").fetchone()
        run._tables._db.execute(f"PRAGMA max_page_count = {pages}")  # what SQLite says is the same
        info = FetchInfo(status=200, fetched_at=datetime.now(UTC))
        many = entries(*range(5000), lastmod=1)
        run.add(SitemapReading(sitemap_url("a"), sitemap_url("a"), Kind.URLSET, info, many))
        with pytest.raises(StateError, match="database or disk is full"):
            run.finish(Structure("found", has_sitemaps=True))
        run.close()
    assert list(usp.changes(path)) == []
    assert len(Site(path, runs=5).run({"a": Read(many)})) == 5000


@pytest.mark.parametrize("content", ["text", "database", "later", "folder", "device"])
def test_nothing_is_made_beside_a_file_that_is_no_state(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if content == "folder":
        path.mkdir()
    elif content == "device":
        os.mkfifo(path)
    elif content == "text":
        path.write_text("no database at all, but long enough to be taken for one" * 30)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE things (name)")
            connection.execute(f"PRAGMA user_version = {99 if content == 'later' else 0}")
    with pytest.raises(UsageError):
        usp.sync("https://example.org/", state=path)
    assert list(tmp_path.iterdir()) == [path]


def test_closing_a_sync_after_an_error_says_nothing_more(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state, url = tmp_path / "state.db", f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1", "2")
    found = usp.sync(url, state=state, emit_initial=True)
    next(found)
    found._session.state.connection.execute("DROP TABLE changes")  # as a damaged file would
    with pytest.raises(StateError):
        list(found)
    found.close()
    assert_free(state)


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Permissions hold: root is another user for the test."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)  # nobody
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only(server: LoopbackServer) -> Iterator[Path]:
    """A state with a page, in a folder where nothing can be written."""
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = urlset("1")
    with TemporaryDirectory() as folder:  # others may enter it, unlike those of pytest
        state = Path(folder, "site.db")
        list(usp.sync(server.url, state=state, emit_initial=True))
        state.chmod(0o444)
        Path(folder).chmod(0o555)
        yield state
        Path(folder).chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="folders have no permissions there")
def test_a_state_that_nobody_can_write_can_be_read(
    read_only: Path, server: LoopbackServer, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("unprivileged")
    assert [change.url for change in usp.changes(read_only)] == [f"{PAGES}1"]
    with usp.diff(read_only, read_only) as found:
        assert (list(found), found.same) == ([], 1)
    with pytest.raises(StateError, match=r"site\.db can't be written: it or its folder is read-on"):
        list(usp.sync(server.url, state=read_only))


@pytest.mark.skipif(os.name == "nt", reason="folders have no permissions there")
def test_a_state_whose_wal_cannot_be_read_is_not_read_without_it(
    read_only: Path, request: pytest.FixtureRequest
) -> None:
    wal = Path(f"{read_only}-wal")
    read_only.parent.chmod(0o755)
    wal.write_bytes(b"more")
    read_only.parent.chmod(0o555)
    request.getfixturevalue("unprivileged")
    with pytest.raises(StateError, match=r"site\.db-wal has more of it"):
        list(usp.changes(read_only))
