"""The state: one file for several sites, small, readable while written, one process at a time."""

import multiprocessing
import sqlite3
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

import usp
from tests.server import LoopbackServer
from tests.sync.rounds import PAGES, kept, urlset
from tests.sync.runs import SECOND, Read, Site, entries
from usp._parse import Pages, Source, inspect
from usp._sync import listing
from usp._sync.listing import COLUMNS, ListedPage, ListingBuilder
from usp._sync.readings import RunRules
from usp._sync.state import APPLICATION, MIGRATIONS, State
from usp.exceptions import StateError, UsageError

FORMAT_1 = Path(__file__).parent / "state-format-1.db"
MAX_BYTES_A_URL = 25


def size_of(path: Path) -> int:
    """The size of a state when everything is in its main file."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.stat().st_size


def test_a_listing_is_read_as_it_was_written() -> None:
    written = {
        "https://example.org/ä": ListedPage(None, 0),
        "https://example.org/b": ListedPage(-5, 7),
        "https://example.org/c\ud800": ListedPage(1_800_000_000_123_456, 2**32 - 1),
    }
    assert listing.decode(listing.encode(written)) == written
    assert list(listing.decode(listing.encode(written))) == list(written)
    assert list(listing.urls_of(listing.encode(written))) == list(written)
    assert listing.decode(listing.encode({})) == {}
    assert list(listing.read_hashes(listing.hashes_of(written))) == [
        *map(listing.url_hash, written)
    ]


def test_a_url_with_a_zero_byte_is_kept_without_it() -> None:
    made = ListingBuilder()
    made.add({"url": ["a\0b"], **{name: [None] for name in COLUMNS}})
    assert listing.decode(listing.encode(made.entries)) == {"ab": ListedPage(None, 0)}


def test_a_state_of_format_1_is_opened_and_goes_on(server: LoopbackServer, tmp_path: Path) -> None:
    """The file was written by the first version that had states; it must be readable for ever."""
    path = tmp_path / "state.db"
    path.write_bytes(FORMAT_1.read_bytes())
    known = [(one.seq, str(one.change), one.url) for one in usp.changes(path)]
    assert known == [
        (1, "added", "https://example.org/4"),
        (2, "missing", "https://example.org/1"),
    ]
    site = Site(path, RunRules(confirm=2), runs=10)
    whole = {"a": Read(entries(2, 3, 4, lastmod=1_700_000_000)), "b": Read(entries(5))}
    assert [str(change.change) for change in site.run(whole)] == ["removed"]
    opened = State.open_to_read(path)
    assert opened.connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    opened.close()


def test_a_realistic_site_takes_few_bytes_a_url(tmp_path: Path) -> None:
    words = ("red", "shoes", "running", "summer", "sale", "house", "garden", "tools", "blue")
    dates = [1_700_000_000 + zlib.crc32(str(n).encode()) % 30_000_000 for n in range(20_000)]
    names = (
        f"{words[n % 9]}/{words[n * 7 % 5]}-{words[n * 3 % 8]}-{n * 7919}" for n in range(20_000)
    )
    urls = {
        f"https://www.example.com/{name}": ListedPage(date * SECOND, date % 3)
        for name, date in zip(names, dates, strict=True)
    }
    path = tmp_path / "state.db"
    Site(path).run({"a": Read(urls)})
    assert size_of(path) / len(urls) <= MAX_BYTES_A_URL


def test_real_sitemaps_take_few_bytes_a_url(corpus: Path, tmp_path: Path) -> None:
    read: dict[str, Read] = {}
    for file in sorted(file for file in corpus.rglob("*") if file.is_file())[::4]:
        pages = inspect(Source([file.read_bytes()], "https://example.org/", file.name)).pages
        made = ListingBuilder()
        for columns in pages.columns(COLUMNS) if isinstance(pages, Pages) else ():
            made.add(columns)
        if len(made.entries) > 100:
            read[file.name] = Read(made.entries)
    path = tmp_path / "state.db"
    Site(path).run(read)
    count = sum(len(one.entries) for one in read.values())
    assert count > 10_000
    assert size_of(path) / count <= MAX_BYTES_A_URL


def test_several_sites_are_in_one_state(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    for name in "ab":
        server.site[f"/{name}.xml"] = urlset("1")
    sources = [f"{server.url}{name}.xml" for name in "ab"]
    with usp.sync(*sources, *sources, state=state) as first:
        assert list(first) == []
    assert sorted(report.site for report in first.reports) == sources
    server.site["/b.xml"] = urlset("1", "2")
    assert [one.url for one in usp.sync(*sources, state=state)] == [f"{PAGES}2"]
    assert [one.url for one in usp.changes(state, site=sources[1])] == [f"{PAGES}2"]
    assert list(usp.changes(state, site=sources[0])) == []
    with pytest.raises(UsageError, match="has no site"):
        usp.changes(state, site="https://example.net/")


def hold(path: str, held: "multiprocessing.synchronize.Event", done: object) -> None:
    state = State.open_to_run(path)
    held.set()
    done.wait()  # type: ignore[attr-defined]
    state.close()


def test_a_second_process_waits_and_then_says_so(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    other = context.Process(target=hold, args=(str(path), held, done))
    other.start()
    try:
        assert held.wait(60)
        with pytest.raises(StateError, match="used by another process"):
            usp.sync("https://example.org/", state=path, wait=0.05)
        assert list(usp.changes(path)) == []  # reading is never in the way
    finally:
        done.set()
        other.join()
    usp.sync("https://example.org/", state=path).close()


def test_a_state_is_readable_while_a_run_is_under_way(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    server.site["/a.xml"] = urlset("1")
    list(usp.sync(f"{server.url}a.xml", state=state))
    server.site["/a.xml"] = urlset("1", "2", "3")
    with usp.sync(f"{server.url}a.xml", state=state) as found:
        next(found)
        assert [one.url for one in usp.changes(state)] == [f"{PAGES}2", f"{PAGES}3"]


def test_a_change_is_taken_when_the_next_is_asked_for(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    url = f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1")
    list(usp.sync(url, state=state))
    server.site["/a.xml"] = urlset("1", "2", "3", "4")
    with suppress(ZeroDivisionError), usp.sync(url, state=state) as found:
        for change in found:
            if change.url.endswith("3"):
                raise ZeroDivisionError
    again = usp.sync(url, state=state)
    assert next(again).url == f"{PAGES}3"
    again.close()
    assert [one.url for one in usp.sync(url, state=state)] == [f"{PAGES}4"]
    assert list(usp.sync(url, state=state)) == []


def test_only_the_wanted_changes_are_handed_over_and_the_others_are_done(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    url = f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1", "2")
    list(usp.sync(url, state=state))
    server.site["/a.xml"] = urlset("1", "3", "4")
    wanted = usp.sync(url, state=state, emit=["added"], exclude="4$")
    assert [one.url for one in wanted] == [f"{PAGES}3"]
    assert list(usp.sync(url, state=state, emit=["added"])) == []
    assert [str(one.change) for one in usp.changes(state)] == [
        *("added", "added", "missing"),
        "removed",
    ]
    assert [one.seq for one in usp.changes(state, limit=2)] == [3, 4]
    assert [one.seq for one in usp.changes(state, emit=["added"], after=1)] == [2]


def test_old_changes_are_forgotten_once_they_were_taken(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    url = f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1")
    list(usp.sync(url, state=state, emit_initial=True))
    assert len(list(usp.changes(state))) == 1
    server.site["/a.xml"] = urlset("1", "2")
    with usp.sync(url, state=state, keep="0s") as found:
        assert [one.seq for one in found] == [2]
    assert list(usp.changes(state)) == []
    server.site["/a.xml"] = urlset("1", "2", "3")
    assert [one.seq for one in usp.sync(url, state=state)] == [3]  # numbers grow for ever


def test_a_sitemap_that_is_not_due_is_not_requested(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    url = f"{server.url}a.xml"
    server.site["/a.xml"] = kept(urlset("1"))
    list(usp.sync(url, state=state))
    server.site["/a.xml"] = kept(urlset("1", "2"))
    with usp.sync(url, state=state, due=True) as found:
        assert list(found) == []
    assert found.reports[0].requests == 0
    assert found.reports[0].unchanged == 1
    assert len(server.requests) == 1
    assert len(list(usp.sync(url, state=state))) == 1


@pytest.mark.parametrize("given", ["", 5, None])
def test_a_state_must_be_a_path(given: object) -> None:
    with pytest.raises(UsageError, match="state must be"):
        usp.sync("https://example.org/", state=given)  # type: ignore[arg-type]


def test_what_is_no_state_is_refused_in_one_line(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database at all, but long enough to be taken for one" * 30)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE things (name)")
    connection.close()
    later = tmp_path / "later.db"
    connection = sqlite3.connect(later)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(UsageError, match="it is empty"):
        usp.changes(empty)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(FORMAT_1.read_bytes()[:4096] + b"\xff" * 20_000)
    for path, why in (
        (text, "not a state of usp"),
        (damaged, "is damaged"),
        (other, "another program"),
        (later, "later version"),
    ):
        with pytest.raises(UsageError, match=why):
            usp.sync("https://example.org/", state=path)
        with pytest.raises(UsageError, match=why):
            usp.changes(path)
    with pytest.raises(UsageError, match="is not there"):
        usp.changes(tmp_path / "none.db")
    with pytest.raises(UsageError, match=r"can't be used: there is no folder .*lost\.$"):
        usp.sync("https://example.org/", state=tmp_path / "lost" / "state.db")


@pytest.mark.parametrize(
    "wrong",
    [
        {"confirm": 0},
        {"max_removed": 1.5},
        {"max_removed": "150%"},
        {"max_removed": "half"},
        {"emit": ["new"]},
        {"emit": "added"},
        {"keep": "2026-01-01"},
        {"jitter": -1},
        {"sites_at_once": 0},
        {"since": "48h"},
        {"limit": 5},
        {"kind": "news"},
    ],
)
def test_a_wrong_argument_is_refused_before_a_state_is_made(
    wrong: dict[str, object], tmp_path: Path
) -> None:
    (name,) = wrong
    with pytest.raises(UsageError, match=name):
        usp.sync("https://example.org/", state=tmp_path / "state.db", **wrong)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_changes_can_be_taken_all_at_once(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    url = f"{server.url}a.xml"
    server.site["/a.xml"] = urlset("1", "2")
    with (
        suppress(ZeroDivisionError),
        usp.sync(url, state=state, emit_initial=True, commit_each=False) as found,
    ):
        assert len(list(found)) == 2
        raise ZeroDivisionError
    with usp.sync(url, state=state, commit_each=False) as found:
        assert len(list(found)) == 2
    assert list(usp.sync(url, state=state)) == []
