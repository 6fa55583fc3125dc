"""What a site listed after an earlier run follows from the state and the changes since."""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sync.runs import HOME, NOW, SECOND, Read, Round, Site, entries, page
from tests.sync.test_site_run import World, rounds
from usp._inputs.listing import open_listing
from usp._sync.readings import RunRules
from usp._sync.state import State
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome

DAY = 24 * 3600


def rows(source: str, *columns: str) -> list[tuple[object, ...]]:
    with open_listing(source, columns=columns or ("url", "lastmod")) as listing:
        return sorted(row for batch in listing for row in batch)


def urls(source: str) -> set[object]:
    return {url for (url,) in rows(source, "url")}


@given(st.lists(rounds, min_size=2, max_size=8), st.integers(1, 3), st.sampled_from([0.5, 1.0]))
def test_every_run_can_be_read_again(
    sequence: list[Round | None], confirm: int, max_removed: float
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        site = Site(path, RunRules(confirm, max_removed, emit_initial=True))
        world, known = World(), list[set[str]]()
        for sitemaps in sequence:
            site.run(sitemaps)
            world.take(sitemaps)
            known.append(set(world.urls))
        for number, listed in enumerate(known, 1):
            assert urls(f"{path}@{number}") == listed
            assert urls(f"{path}@{number - len(known)}") == listed


def test_a_path_with_an_at_sign_names_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "me@host"
    folder.mkdir()
    site = Site(folder / "s.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries("old"))})
    site.run({"a": Read(entries("new"))})
    assert urls(f"{site.path}@-1") == {page("old")}
    assert urls(str(site.path)) == {page("new")}
    with pytest.raises(UsageError, match="has no run 'x'"):
        urls(f"{site.path}@x")


def test_dates_are_those_of_the_run(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    path = str(site.path)
    site.run({"a": Read(entries("stays", "gone", lastmod=DAY))})
    site.run({"a": Read({**entries("stays", lastmod=2 * DAY), **entries("new", lastmod=DAY)})})
    site.run({"a": Read({**entries("stays", lastmod=3 * DAY), **entries("gone", lastmod=4 * DAY)})})
    day = DAY * SECOND
    assert rows(f"{path}@1") == [(page("gone"), day), (page("stays"), day)]
    assert rows(f"{path}@-1") == [(page("new"), day), (page("stays"), 2 * day)]
    assert rows(path) == [(page("gone"), 4 * day), (page("stays"), 3 * day)]


def test_the_sitemaps_of_a_state_say_which_were_read_whole(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(1)), "b": Read(entries(2), is_whole=False)})
    with open_listing(site.path, ("sitemaps", "sites")) as listing:
        sitemaps, sites = listing
        assert listing.outcome is Outcome.FOUND
    complete = dict(zip(sitemaps.columns["url"], sitemaps.columns["complete"], strict=True))
    assert [complete[f"{HOME}{name}.xml"] for name in "ab"] == [True, False]
    assert sites.columns["outcome"] == ["found"]


def test_a_run_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    for number in range(3):
        site.run({"a": Read(entries(number))})
    with pytest.raises(UsageError, match="has no run 9; its last runs are 1, 2, 3"):
        open_listing(f"{site.path}@9")
    with pytest.raises(UsageError, match="has no run -3"):
        open_listing(f"{site.path}@-3")


def test_a_run_whose_changes_are_forgotten_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(emit_initial=True))
    for last in range(1, 4):
        site.run({"a": Read(entries(*range(last)))})
    state = State.open_to_run(site.path)
    state.forget(NOW + 2 * 3600 * SECOND + 1)  # the changes of the first two runs
    state.close()
    assert urls(f"{site.path}@-1") == {page(0), page(1)}
    with pytest.raises(UsageError, match="changes since run 1 are not kept any more"):
        urls(f"{site.path}@1")


@pytest.mark.parametrize("start", [4096, 4100, 8192, 12288])
def test_a_damaged_state_is_one_clear_error(tmp_path: Path, start: int) -> None:
    whole, damaged = tmp_path / "state.db", tmp_path / "damaged.db"
    Site(whole).run({"a": Read(entries(*range(2000)))})
    data = bytearray(whole.read_bytes())
    data[start::97] = bytes(byte ^ 0xFF for byte in data[start::97])
    damaged.write_bytes(data)
    with pytest.raises(UsageError, match=r"damaged\.db is ") as caught:
        rows(str(damaged))
    assert "\n" not in str(caught.value)


def test_a_listing_that_is_cut_is_one_clear_error(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(1))})
    with closing(sqlite3.connect(site.path)) as database, database:
        database.execute("UPDATE listings SET entries = substr(entries, 1, 20)")
    with pytest.raises(UsageError, match=r"state\.db is damaged: "):
        rows(str(site.path))
