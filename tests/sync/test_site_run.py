"""Runs of a site with a real state: failures remove nothing, and the changes add up."""

import zlib
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.strategies import examples
from tests.sync.runs import HOME, NOT_DUE, NOT_THERE, Read, Round, Site, entries, sitemap_url, told
from usp._parse import Kind
from usp._sync.changes import Change, ChangeKind
from usp._sync.listing import ListedPage
from usp._sync.readings import RunRules
from usp._sync.run_tables import RunTables
from usp._sync.state import State

GONE = {ChangeKind.MISSING, ChangeKind.REMOVED, ChangeKind.EXPIRED}

listings = st.sets(st.integers(0, 7)).map(lambda names: entries(*sorted(names)))
outcomes = st.one_of(
    st.none(),
    listings.map(Read),
    listings.map(lambda some: Read(some, is_whole=False)),
)
rounds = st.one_of(
    st.dictionaries(st.sampled_from("abc"), outcomes),
    st.none(),
)


class World:
    """What the complete readings say, kept apart from the code under test."""

    def __init__(self) -> None:
        self.listed: dict[str, set[str]] = {}
        self.absent_for: dict[str, int] = {}

    def take(self, sitemaps: Round | None) -> None:
        before = self.urls
        if sitemaps:  # a robots.txt that declares nothing says nothing
            failed = {name for name, read in sitemaps.items() if read is None}
            hidden = failed - set(self.listed)  # it may be an index
            for name in [] if hidden else [*self.listed]:
                if name not in sitemaps:
                    del self.listed[name]
            for name, read in sitemaps.items():
                if read is not None:
                    old = set() if read.is_whole else self.listed.get(name, set())
                    self.listed[name] = old | set(read.entries)
        for url in before | set(self.absent_for):
            if url in self.urls:
                self.absent_for.pop(url, None)
            else:
                self.absent_for[url] = self.absent_for.get(url, 0) + 1

    @property
    def urls(self) -> set[str]:
        return set().union(*self.listed.values())


def apply(changes: list[Change], listed: dict[str, str | None]) -> None:
    """Follow changes as a consumer does: which URL is listed, and by which sitemap."""
    for change in changes:
        if change.change in GONE:
            listed.pop(change.url, None)
        elif change.change is not ChangeKind.CHURN:
            listed[change.url] = change.sitemap_url


@given(st.lists(rounds, min_size=2, max_size=8), st.integers(1, 3), st.sampled_from([0.5, 1.0]))
def test_failures_remove_nothing_and_the_changes_add_up(
    sequence: list[Round | None], confirm: int, max_removed: float
) -> None:
    with TemporaryDirectory() as folder:
        rules = RunRules(confirm, max_removed, emit_initial=True)
        site, world = Site(Path(folder) / "state.db", rules), World()
        listed: dict[str, str | None] = {}
        for sitemaps in sequence:
            changes = site.run(sitemaps)
            world.take(sitemaps)
            apply(changes, listed)
            assert set(listed) == world.urls
            for url, where in listed.items():
                assert where is not None
                name = where.removeprefix(HOME).removesuffix(".xml")
                assert url in world.listed[name]
            for change in changes:
                if change.change is ChangeKind.REMOVED:
                    assert world.absent_for[change.url] >= confirm


@given(st.lists(st.sampled_from(["whole", "cut", "failed", "robots"]), max_size=10))
def test_no_failure_and_no_recovery_changes_a_site_that_stays_the_same(fates: list[str]) -> None:
    """Every complete reading has every URL, so nothing is ever reported."""
    whole = {"a": Read(entries(*range(6))), "b": Read(entries(*range(4, 9)))}
    made: dict[str, Round | None] = {
        "whole": whole,
        "cut": {"a": Read(entries(0), is_whole=False), "b": whole["b"]},
        "failed": {"a": None, "b": Read({}, is_whole=False)},
        "robots": None,
    }
    with TemporaryDirectory() as folder:
        site = Site(Path(folder) / "state.db", RunRules(confirm=1))
        assert [site.run(made[fate]) for fate in ["whole", *fates, "whole"]] == [[]] * (
            len(fates) + 2
        )


fates = st.sampled_from(["whole", "whole", "cut", "failed", "not due"])
moves = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abc"), min_size=4, max_size=4),  # which sitemap lists each page
        st.fixed_dictionaries(dict.fromkeys("abc", fates)),
        st.booleans(),
    ),
    min_size=2,
    max_size=8,
)


@examples(200)
@given(moves, st.integers(1, 3))
def test_a_page_that_is_always_listed_is_never_removed_wherever_it_moves(
    sequence: list[tuple[list[str], dict[str, str], bool]], confirm: int
) -> None:
    """It may go from a sitemap that was read to one that was not, in any order."""
    with TemporaryDirectory() as folder:
        site = Site(Path(folder) / "state.db", RunRules(confirm, 1.0))
        site.run({name: Read(entries(name)) for name in "abc"})
        for places, fates_of, stopped in sequence:
            made: dict[str, Read | None] = {}
            for name, fate in fates_of.items():
                pages = [page for page, place in enumerate(places) if place == name]
                if fate == "cut":
                    made[name] = Read(entries(*pages[:1]), is_whole=False)
                elif fate == "not due":
                    made[name] = NOT_DUE
                else:
                    made[name] = Read(entries(*pages)) if fate == "whole" else None
            if stopped:
                made = dict(list(made.items())[:2])
            for change in site.run(made, stopped=stopped):
                name = change.url.removeprefix(HOME)
                assert change.change is not ChangeKind.REMOVED or not name.isdecimal()


def test_a_page_that_moved_to_a_sitemap_which_fails_is_missing_until_that_is_read(
    tmp_path: Path,
) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=2, max_removed=1))
    site.run({"a": Read(entries(1, 2)), "b": Read(entries(3))})
    moved: dict[str, Read | None] = {"a": Read(entries(2)), "b": None}
    assert told(site.run(moved)) == [("missing", "1")]
    assert [site.run(moved) for _ in range(3)] == [[]] * 3
    assert told(site.run({**moved, "b": Read(entries(1, 3))})) == [("returned", "1")]


def test_a_page_that_moved_to_a_new_sitemap_which_fails_is_not_removed(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1, 2))})
    moved: dict[str, Read | None] = {"a": Read(entries(2)), "new": None}
    assert told(site.run(moved)) == [("missing", "1")]
    assert site.run(moved) == []
    assert told(site.run({**moved, "new": Read(entries(1))})) == [("returned", "1")]


def test_a_sitemap_that_fails_for_a_week_keeps_nothing_from_being_removed(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=2, max_removed=1))
    site.run({"a": Read(entries(1, 2)), "b": Read(entries(3))})
    gone: dict[str, Read | None] = {"a": Read(entries(2)), "b": None}
    assert told(site.run(gone)) == [("missing", "1")]
    site.runs += 6 * 24
    assert site.run(gone) == []
    site.runs += 24
    assert told(site.run(gone)) == [("removed", "1")]


def test_a_sitemap_that_was_never_there_keeps_nothing_from_being_removed(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1, 2)), "b": NOT_THERE})
    assert told(site.run({"a": Read(entries(2)), "b": NOT_THERE})) == [("removed", "1")]


@pytest.mark.parametrize("confirm", [1, 2])
def test_a_page_that_moved_to_a_new_sitemap_which_is_not_there_is_missing_for_a_week(
    tmp_path: Path, confirm: int
) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm, max_removed=1))
    site.run({"a": Read(entries(1, 2, 3))})
    moved: dict[str, Read | None] = {"a": Read(entries(2, 3)), "new": NOT_THERE}
    assert told(site.run(moved)) == [("missing", "1")]
    assert [site.run(moved) for _ in range(3)] == [[]] * 3
    site.runs += 7 * 24
    assert told(site.run(moved)) == [("removed", "1")]
    site.rules = RunRules(confirm=1, max_removed=1)
    assert told(site.run({**moved, "a": Read(entries(3))})) == [("removed", "2")]


def test_a_sitemap_that_is_not_there_may_list_what_it_was_not_read_along_with(
    tmp_path: Path,
) -> None:
    """The page may have left its sitemap while that failed: the new one was declared then."""
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1, 2))})
    assert site.run({"a": None, "new": NOT_THERE}) == []
    moved = {"a": Read(entries(2)), "new": NOT_THERE}
    assert told(site.run(moved)) == [("missing", "1")]
    assert site.run(moved) == []
    assert told(site.run({**moved, "new": Read(entries(1))})) == [("returned", "1")]


def test_a_sitemap_that_had_no_answer_is_not_one_that_was_never_there(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    whole = Read(entries(1, 2))
    site.run({"a": whole, "b": NOT_THERE})
    assert told(site.run({"a": Read(entries(2)), "b": None})) == [("missing", "1")]
    assert site.run({"a": Read(entries(2)), "b": NOT_THERE}) == []


def test_a_page_that_moved_to_a_new_sitemap_which_breaks_off_is_not_removed(
    tmp_path: Path,
) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1, 2)), "b": NOT_THERE})
    moved: Round = {"a": Read(entries(2)), "b": Read(entries(3), is_whole=False)}
    assert told(site.run(moved)) == [("missing", "1")]  # 3 is of the baseline, as b is
    assert site.run(moved) == []
    assert told(site.run({**moved, "b": Read(entries(1, 3))})) == [("returned", "1")]


def test_a_new_index_that_breaks_off_may_list_what_is_not_met(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1)), "b": Read(entries(2))})
    cut = Read({}, is_whole=False, kind=Kind.INDEX)
    assert [site.run({"a": Read(entries(1)), "new": cut}) for _ in range(2)] == [[], []]


def test_a_clock_that_was_wrong_keeps_no_sitemap_from_never_having_been_there(
    tmp_path: Path,
) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1), runs=100_000)
    site.run({"a": Read(entries(1, 2, 3)), "b": NOT_THERE})
    site.runs = 0
    assert told(site.run({"a": Read(entries(2, 3)), "b": NOT_THERE})) == [("missing", "1")]
    assert told(site.run({"a": Read(entries(3)), "b": NOT_THERE}))[0] == ("removed", "2")


def test_a_run_that_a_limit_ended_removes_nothing(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1, 2))})
    assert told(site.run({"a": Read(entries(2))}, stopped=True)) == [("missing", "1")]
    assert told(site.run({"a": Read(entries(2))})) == [("removed", "1")]


def test_a_clock_that_was_wrong_keeps_nothing_forever(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=2, max_removed=1), runs=100_000)
    site.run({"a": Read(entries(1, 2))})
    assert told(site.run({"a": Read(entries(2, 3))})) == [("added", "3"), ("missing", "1")]
    site.runs = 0
    assert told(site.run({"a": Read(entries(2, 3))})) == [("removed", "1")]


def test_the_first_run_is_a_baseline(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    assert site.run({"a": Read(entries(1, 2))}) == []
    assert site.result is not None
    assert site.result.is_baseline
    assert told(site.run({"a": Read(entries(1, 2, 3))})) == [("added", "3")]
    assert not site.result.is_baseline


def test_a_sitemap_that_failed_in_the_first_run_joins_the_baseline_later(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(1)), "b": None, "c": Read(entries(5), is_whole=False)})
    assert site.run({"a": Read(entries(1)), "b": None, "c": Read(entries(5, 6))}) == []
    assert site.run({"a": Read(entries(1)), "b": Read(entries(3, 4)), "c": None}) == []
    changes = site.run({"a": Read(entries(1)), "b": Read(entries(3, 4, 7)), "d": Read(entries(8))})
    assert told(changes)[:2] == [("added", "7"), ("added", "8")]


def test_a_first_run_that_a_limit_ended_is_continued_by_the_next(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(1))}, stopped=True)
    assert site.run({"a": Read(entries(1)), "b": Read(entries(2))}) == []
    assert told(site.run({"a": Read(entries(1)), "b": Read(entries(2, 3))})) == [("added", "3")]


def test_a_run_that_a_limit_ended_takes_no_sitemap_for_gone(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    both = {"a": Read(entries(1)), "b": Read(entries(2))}
    site.run(both)
    assert site.run({"a": Read(entries(1))}, stopped=True) == []
    assert told(site.run({"a": Read(entries(1))})) == [("removed", "2")]


def test_an_index_that_is_new_and_failed_may_list_what_is_not_met(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm=1, max_removed=1))
    site.run({"a": Read(entries(1))})
    assert site.run({"new": None}) == []


@pytest.mark.parametrize("confirm", [1, 2])
def test_a_sitemap_that_was_never_there_keeps_no_other_from_being_gone(
    tmp_path: Path, confirm: int
) -> None:
    site = Site(tmp_path / "state.db", RunRules(confirm, max_removed=1))
    site.run({"a": Read(entries(1)), "b": Read(entries(2)), "dead": NOT_THERE})
    dropped = {"a": Read(entries(1)), "dead": NOT_THERE}
    told_in_runs = [told(site.run(dropped)) for _ in range(3)]
    missing = [[("missing", "2")]] * (confirm - 1)
    assert told_in_runs[:confirm] == [*missing, [("removed", "2")]]
    assert not any(told_in_runs[confirm:])


@pytest.mark.parametrize("new", [NOT_THERE, None])
def test_what_no_run_has_read_hides_a_sitemap_for_a_week_and_its_pages_for_another(
    tmp_path: Path, new: Read | None
) -> None:
    """It was declared when the sitemap was dropped: it may be an index that lists that."""
    site = Site(tmp_path / "state.db", RunRules(max_removed=1))
    site.run({"a": Read(entries(1)), "b": Read(entries(2))})
    dropped = {"a": Read(entries(1)), "new": new}
    assert site.run(dropped) == []
    site.runs += 6 * 24
    assert site.run(dropped) == []
    site.runs += 24
    assert told(site.run(dropped)) == [("missing", "2")]
    site.runs += 6 * 24
    assert site.run(dropped) == []
    site.runs += 24
    assert told(site.run(dropped)) == [("removed", "2")]


def test_a_sitemap_under_another_name_moves_its_urls(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(1, 2))})
    changes = site.run({"b": Read(entries(1, 2))})
    assert told(changes) == [("moved", "1"), ("moved", "2")]
    assert {change.sitemap_url for change in changes} == {sitemap_url("b")}


def test_news_expire_and_what_returns_is_not_new(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"news": Read(entries(1, 2), news=2)})
    expired = site.run({"news": Read(entries(2, 3), news=2)})
    assert told(expired) == [("added", "3"), ("expired", "1")]
    assert told(site.run({"news": Read({}), "a": Read(entries(1, 3))})) == [
        ("expired", "2"),
        ("moved", "3"),
        ("returned", "1"),
    ]


def test_feeds_are_rolling(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"feed": Read(entries(1), kind=Kind.ATOM)})
    assert told(site.run({"feed": Read(entries(2), kind=Kind.ATOM)})) == [
        ("added", "2"),
        ("expired", "1"),
    ]


def test_too_many_removals_are_held_back_until_they_are_allowed(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(*range(10)))})
    few = {"a": Read(entries(*range(4)))}
    assert [kind for kind, _ in told(site.run(few))] == ["missing"] * 6
    assert site.run(few) == []
    assert site.result is not None
    assert site.result.held_back == 6
    site.rules = RunRules(max_removed=1.0)
    assert [kind for kind, _ in told(site.run(few))] == ["removed"] * 6
    assert site.result.held_back == 0


def test_a_url_in_several_sitemaps_counts_once_for_the_share_that_may_be_removed(
    tmp_path: Path,
) -> None:
    site = Site(tmp_path / "state.db")
    copies = {name: Read(entries(*range(4))) for name in "bcd"}
    site.run({"a": Read(entries(*range(10))), **copies})
    few: Round = {"a": Read(entries(*range(4))), **copies}
    site.run(few)
    assert site.run(few) == []
    assert site.result is not None
    assert site.result.held_back == 6


def test_the_urls_of_a_large_site_are_estimated(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    many = entries(*range(150_000))
    site.run({"a": Read(many), "b": Read(many)})
    with closing(State.open_to_run(site.path)) as state:
        tables = RunTables(state.path, state.add_site(HOME))
        assert 0.97 < tables.known_urls / 150_000 < 1.03
        tables.close()


def test_churn_is_one_change_of_the_sitemap(tmp_path: Path) -> None:
    site = Site(tmp_path / "state.db")
    site.run({"a": Read(entries(*range(50), lastmod=1))})
    (churn,) = site.run({"a": Read(entries(*range(50), lastmod=2))})
    assert (churn.change, churn.url) == (ChangeKind.CHURN, sitemap_url("a"))
    assert churn.lastmod is not None
    assert churn.old_lastmod is not None
    assert churn.lastmod > churn.old_lastmod


def test_two_urls_with_the_same_hash_are_told_apart(tmp_path: Path) -> None:
    """crc32("plumless") == crc32("buckeroo"): the first look says yes, the second no."""
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    site = Site(tmp_path / "state.db")
    one, other = {"plumless": ListedPage(None, 0)}, {"buckeroo": ListedPage(None, 0)}
    site.run({"a": Read(one), "b": Read(entries(1))})
    changes = site.run({"a": Read(one), "b": Read({**entries(1), **other})})
    assert [(change.change, change.url) for change in changes] == [("added", "buckeroo")]
