"""``usp.diff``: exact, in order, and true about what was not read."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
import usp.bulk
from tests.export.writing import write
from usp import DifferenceKind
from usp._sorting import LineSorter
from usp._tables.batch import Batch
from usp._tables.schema import TABLES
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome

if TYPE_CHECKING:
    from tests.server import LoopbackServer
    from usp.cli._demo_site import DemoSite

HOME = "https://example.org/"
DAY = 86_400_000_000
Told = list[tuple[str, str]]


def page(name: object) -> str:
    return f"{HOME}{name}"


def sitemap(name: str) -> str:
    return f"{HOME}{name}.xml"


def export(path: Path, rows: list[dict[str, Any]], *columns: str) -> Path:
    """Write pages: each with a name, the name of its sitemap, and other columns."""
    names = columns or ("url", "sitemap_url", "lastmod", "priority")
    table = TABLES["pages"].only(names)
    made = [
        {**row, "url": page(row["url"]), "sitemap_url": sitemap(row.get("sitemap_url", "a"))}
        for row in rows
    ]
    write(path, [Batch.of_rows(table, made)], replaces=True)
    return path


def told(found: usp.Diff) -> Told:
    return [(str(one.change), one.url.removeprefix(HOME)) for one in found]


def test_each_kind_of_difference_comes_in_the_order_of_urls(tmp_path: Path) -> None:
    a = export(
        tmp_path / "a.jsonl",
        [
            {"url": "same"},
            {"url": "redated", "lastmod": DAY},
            {"url": "other", "priority": 0.1, "lastmod": DAY},
            {"url": "moves", "sitemap_url": "b"},
            {"url": "gone", "lastmod": DAY},
        ],
    )
    b = export(
        tmp_path / "b.parquet",
        [
            {"url": "new", "lastmod": 3 * DAY},
            {"url": "moves"},
            {"url": "other", "priority": 0.2, "lastmod": DAY},
            {"url": "redated", "lastmod": 2 * DAY},
            {"url": "same"},
        ],
    )
    with usp.diff(a, b) as found:
        differences = list(found)
    assert differences == [
        usp.Difference(
            DifferenceKind.REMOVED, page("gone"), page("gone"), None, sitemap("a"),
            None, datetime(1970, 1, 2, tzinfo=UTC),
        ),
        usp.Difference(
            DifferenceKind.MOVED, page("moves"), page("moves"), sitemap("a"), sitemap("b")
        ),
        usp.Difference(
            DifferenceKind.ADDED, page("new"), None, sitemap("a"), None,
            datetime(1970, 1, 4, tzinfo=UTC),
        ),
        usp.Difference(
            DifferenceKind.CHANGED, page("other"), page("other"), sitemap("a"), sitemap("a"),
            datetime(1970, 1, 2, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC), ("priority",),
        ),
        usp.Difference(
            DifferenceKind.CHANGED, page("redated"), page("redated"), sitemap("a"), sitemap("a"),
            datetime(1970, 1, 3, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC), ("lastmod",),
        ),
    ]  # fmt: skip
    assert found.counts == {"removed": 1, "moved": 1, "added": 1, "changed": 2}
    assert found.same == 1
    assert [(side.kind, side.pages, side.urls) for side in found.sides] == [
        ("jsonl", 5, 5), ("parquet", 5, 5),
    ]  # fmt: skip
    assert found.is_whole


names = st.integers(0, 30)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "url": names,
            "sitemap_url": st.sampled_from("ab"),
            "lastmod": st.sampled_from([None, DAY, 2 * DAY]),
            "priority": st.sampled_from([None, 0.5]),
        }
    ),
    unique_by=lambda row: row["url"],
    max_size=20,
)


@given(rows, rows, st.randoms(use_true_random=False))
def test_the_result_is_that_of_two_dicts_whatever_the_order(
    a: list[dict[str, Any]], b: list[dict[str, Any]], order: random.Random
) -> None:
    known_a, known_b = ({str(row["url"]): row for row in side} for side in (a, b))
    expected: Told = []
    shares_sitemaps = {row["sitemap_url"] for row in a} & {row["sitemap_url"] for row in b}
    for name in sorted(known_a.keys() | known_b.keys()):
        one, other = known_a.get(name), known_b.get(name)
        if one is None:
            expected.append(("added", name))
        elif other is None:
            expected.append(("removed", name))
        else:
            if shares_sitemaps and one["sitemap_url"] != other["sitemap_url"]:
                expected.append(("moved", name))
            if any(one[field] != other[field] for field in ("lastmod", "priority")):
                expected.append(("changed", name))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(LineSorter.__init__, "__defaults__", (600, 200))  # a run, and a block
        order.shuffle(a)
        order.shuffle(b)
        sides = [export(Path(folder) / name, side) for name, side in (("a.csv", a), ("b.jsonl", b))]
        with usp.diff(*sides) as found:
            assert told(found) == expected
        differing = {name for _, name in expected}
        assert found.same == len((known_a.keys() & known_b.keys()) - differing)


def test_only_what_both_sides_have_is_compared(tmp_path: Path) -> None:
    a = export(tmp_path / "a.csv", [{"url": "x", "lastmod": DAY, "priority": 0.1}])
    b = export(tmp_path / "b.csv", [{"url": "x", "lastmod": DAY}], "url", "lastmod")
    (tmp_path / "c.txt").write_text(page("x"), encoding="utf-8")
    assert told(usp.diff(a, b)) == []
    assert told(usp.diff(a, tmp_path / "c.txt")) == []


def test_a_url_in_several_sitemaps_is_compared_where_both_list_it(tmp_path: Path) -> None:
    a = [
        {"url": "x", "sitemap_url": "a", "lastmod": DAY},
        {"url": "x", "sitemap_url": "b", "lastmod": 2 * DAY},
    ]
    b = [
        {"url": "x", "sitemap_url": "c", "lastmod": 9 * DAY},
        {"url": "x", "sitemap_url": "b", "lastmod": 2 * DAY},
    ]
    paths = [export(tmp_path / "a.csv", a), export(tmp_path / "b.csv", b)]
    with usp.diff(*paths) as found:
        assert told(found) == []
        assert found.same == 1
    b[1]["lastmod"] = 3 * DAY
    export(paths[1], b)
    (changed,) = usp.diff(*paths)
    assert (changed.sitemap_url, changed.fields) == (sitemap("b"), ("lastmod",))


def test_sitemaps_of_two_sites_are_not_compared(tmp_path: Path) -> None:
    a = export(tmp_path / "a.csv", [{"url": "x", "sitemap_url": "a"}])
    b = export(tmp_path / "b.csv", [{"url": "x", "sitemap_url": "b"}])
    assert told(usp.diff(a, b)) == []


def test_prefixes_stand_for_others_in_urls_and_sitemaps(tmp_path: Path) -> None:
    a = tmp_path / "a.csv"
    a.write_text(
        "url,sitemap_url\n"
        "https://old.example/1,https://old.example/s.xml\n"
        "https://old.example/2,https://old.example/s.xml\n"
        "https://old.example/3,https://old.example/s.xml\n",
        encoding="utf-8",
    )
    b = tmp_path / "b.csv"
    b.write_text(
        "url,sitemap_url\nhttps://new.example/1/,https://new.example/s.xml\n"
        "https://new.example/2,https://new.example/t.xml\n",
        encoding="utf-8",
    )
    prefixes = {"https://old.example/": "https://new.example/"}
    with usp.diff(a, b, map=prefixes, ignore=["slash"]) as found:
        moved, removed = found
    assert (moved.change, moved.url, moved.old_url) == (
        "moved", "https://new.example/2", "https://old.example/2",
    )  # fmt: skip
    assert (removed.change, removed.url) == ("removed", "https://old.example/3")
    assert found.same == 1


def test_only_wanted_differences_are_handed_over_and_all_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("/1\n/2\n/keep/3\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("/2\n/4\n/keep/5\n", encoding="utf-8")
    paths = tmp_path / "a.txt", tmp_path / "b.txt"
    with usp.diff(*paths, emit=["added"]) as found:
        assert [one.url for one in found] == ["/4", "/keep/5"]
    assert found.counts == {"added": 2, "removed": 2}
    with usp.diff(*paths, include="/keep/", exclude="5") as found:
        assert [one.url for one in found] == ["/keep/3"]
    assert found.counts == {"removed": 1}


def urlset(*names: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{page(name)}</loc></url>' for name in names)}</urlset>"


def serve(server: LoopbackServer, **sitemaps: str | int) -> None:
    listed = "\n".join(f"Sitemap: {server.url}{name}.xml" for name in sitemaps)
    server.site["/robots.txt"] = listed
    for name, answer in sitemaps.items():
        server.site[f"/{name}.xml"] = answer


def test_what_a_failed_sitemap_listed_is_not_called_removed(
    server: LoopbackServer, tmp_path: Path
) -> None:
    before = tmp_path / "before.db"
    serve(server, one=urlset("1", "2"), two=urlset("3", "4"))
    usp.export(server.url, before)
    serve(server, one=urlset("1"), two=503)
    with usp.diff(before, server.url, max_attempts=1) as found:
        assert told(found) == [("removed", "2"), ("maybe-removed", "3"), ("maybe-removed", "4")]
    assert found.is_answered
    assert not found.is_whole
    assert [side.outcome for side in found.sides] == [Outcome.FOUND, Outcome.PARTIAL]


def test_what_a_partial_export_lacks_is_not_called_added(
    server: LoopbackServer, tmp_path: Path
) -> None:
    before = tmp_path / "before.db"
    serve(server, one=urlset("1"), two=urlset("3", "9")[:-20])
    usp.export(server.url, before, max_attempts=1)
    serve(server, one=urlset("1", "2"), two=urlset("3", "4"))
    with usp.diff(before, server.url) as found:
        assert told(found) == [("added", "2"), ("maybe-added", "4")]


def test_without_its_sitemap_nothing_is_known_of_what_a_partial_side_lacks(
    server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(f"{page('1')}\n{page('2')}\n", encoding="utf-8")
    serve(server, one=urlset("1"), two=503)
    found = usp.diff(tmp_path / "a.txt", server.url, max_attempts=1)
    assert told(found) == [("maybe-removed", "2")]


def test_nothing_is_said_to_have_moved_that_may_be_where_it_was(
    server: LoopbackServer, tmp_path: Path
) -> None:
    before = tmp_path / "before.db"
    serve(server, one=urlset("1"), two=urlset("2"), three=urlset())
    usp.export(server.url, before)
    serve(server, one=urlset("1"), two=503, three=urlset("2"))
    assert told(usp.diff(before, server.url, max_attempts=1)) == []
    serve(server, one=urlset("1"), two=urlset(), three=urlset("2"))
    assert told(usp.diff(before, server.url)) == [("moved", "2")]


@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_site_that_gives_nothing_is_compared_with_nothing(
    status: int, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(f"{page('1')}\n", encoding="utf-8")
    server.otherwise = status
    with usp.diff(tmp_path / "a.txt", server.url, max_attempts=1) as found:
        assert list(found) == []
    assert not found.is_answered
    assert not found.is_whole


def test_runs_of_a_state_are_compared(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    for names in (("1", "2"), ("2", "3"), ("2", "3", "4")):
        serve(server, one=urlset(*names))
        list(usp.sync(server.url, state=state))
    assert told(usp.diff(f"{state}@-1", state)) == [("added", "4")]
    assert told(usp.diff(f"{state}@1", f"{state}@2")) == [("removed", "1"), ("added", "3")]
    assert told(usp.diff(f"{state}@1", state, emit=["added"])) == [("added", "3"), ("added", "4")]
    assert told(usp.diff(state, server.url)) == []


def serve_two(server: LoopbackServer, one: str | int, two: str | int) -> list[str]:
    """Serve two sites, each of which is one sitemap; return their names."""
    server.site.update({"/one.xml": one, "/two.xml": two})
    return [f"{server.url}one.xml", f"{server.url}two.xml"]


def test_one_site_of_a_state_that_could_not_be_read_leaves_the_others_certain(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    sites = serve_two(server, urlset("1", "2"), urlset("8"))
    list(usp.sync(*sites, state=state))
    serve_two(server, urlset("2", "3"), 503)
    list(usp.sync(*sites, state=state, max_attempts=1))
    with usp.diff(f"{state}@-1", state) as found:
        assert told(found) == [("removed", "1"), ("added", "3")]
    assert not found.is_whole
    before = tmp_path / "before.db"
    sites = serve_two(server, urlset("1"), urlset("7", "8"))
    list(usp.sync(*sites, state=before))
    assert told(usp.diff(before, state)) == [
        ("removed", "1"),
        *(("added", "2"), ("added", "3")),
        ("maybe-removed", "7"),
    ]


def test_a_failed_site_of_an_export_of_many_leaves_the_others_certain(
    server: LoopbackServer, tmp_path: Path
) -> None:
    exports = [tmp_path / "a.db", tmp_path / "b.db"]
    answers: list[tuple[str, str | int]] = [
        (urlset("1", "2"), urlset("8")),
        (urlset("2", "3"), 503),
    ]
    for path, (one, two) in zip(exports, answers, strict=True):
        sites = serve_two(server, one, two)
        usp.export(sites, path, table=["pages", "sites"], max_attempts=1)
    with usp.diff(*exports) as found:
        assert told(found) == [("removed", "1"), ("added", "3"), ("maybe-removed", "8")]
    assert not found.is_whole


def test_fields_of_a_page_that_changed_between_two_runs_are_known(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    for priority in ("0.1", "0.1", "0.2"):
        entry = f"<url><loc>{page('1')}</loc><priority>{priority}</priority></url>"
        serve(server, one=f"<urlset>{entry}</urlset>")
        list(usp.sync(server.url, state=state))
    assert list(usp.diff(f"{state}@1", f"{state}@2")) == []
    (changed,) = usp.diff(f"{state}@-1", state)
    assert (changed.change, changed.fields) == ("changed", ("fingerprint",))


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl.gz", "out.parquet", "out.arrow", "out.db"])
def test_a_site_and_its_export_are_the_same(name: str, demo_site: DemoSite, tmp_path: Path) -> None:
    usp.export(demo_site.url, tmp_path / name)
    with usp.diff(demo_site.url, tmp_path / name) as found:
        assert list(found) == []
        assert found.same > 10


def test_a_diff_that_is_closed_reads_nothing_more(server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("/1\n/2\n/3\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("/4\n", encoding="utf-8")
    with usp.diff(tmp_path / "a.txt", tmp_path / "b.txt") as found:
        assert next(found).url == "/1"
    assert next(found, None) is None
    with usp.diff(server.url, server.url):
        pass
    assert server.requests == []


@pytest.mark.parametrize(
    ("keywords", "reason"),
    [
        ({"since": "48h"}, "since can't be used here"),
        ({"exclude_sitemaps": "x"}, "exclude_sitemaps can't be used here"),
        ({"emit": ["new"]}, "emit must be some of added, removed"),
        ({"ignore": ["host"]}, "ignore must be some of"),
        ({"column": ["a", "b", "c"]}, "column must be the name of a column, or two"),
    ],
)
def test_a_wrong_argument_is_refused_at_the_call(
    keywords: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("/1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=reason):
        usp.diff(tmp_path / "a.txt", tmp_path / "a.txt", **keywords)


def test_both_sides_can_not_be_standard_input() -> None:
    with pytest.raises(UsageError, match="can't both be standard input"):
        usp.diff("-", "-")


def test_a_site_and_the_folder_of_a_crawl_are_the_same(demo_site: DemoSite, tmp_path: Path) -> None:
    usp.bulk.crawl_shard(
        [demo_site.url],
        tmp_path / "crawl",
        user_agent="test/1.0 (+https://example.org/bot)",
        client_settings={"private_addresses": "allow"},
    )
    with usp.diff(tmp_path / "crawl", demo_site.url) as found:
        assert list(found) == []
        assert found.same > 10
    assert found.sides[0].kind == "folder"
