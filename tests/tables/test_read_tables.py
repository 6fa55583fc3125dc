"""Tables of a crawl: the pages of ``iter_pages``, and what else there is to tell of a site."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.loops import run
from tests.parse.reading import ALL, u
from tests.parse.strategies import examples
from tests.server import LoopbackServer, index, stall, urlset
from tests.tables.collect import Rows, collected, without_times
from tests.tables.page_rows import page_row
from usp import Outcome
from usp._crawl.unique_urls import UniqueUrls
from usp._tables import aio as aio_tables
from usp._tables.batch import Batch
from usp._tables.read import read_tables
from usp._tables.schema import PAGE_PARTS, TABLES
from usp._tables.tree import tables_of
from usp.exceptions import UsageError
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage
from usp.objects.sitemap import IndexWebsiteSitemap, PagesXMLSitemap
from usp.web_client.aio_client import AioWebClient

IMAGE = "<image:image><image:loc>https://h.example/i.png</image:loc></image:image>"
STORY = (
    "<news:news><news:title>T</news:title><news:publication_date>2024-03-01"
    "</news:publication_date></news:news>"
)


def urls(batches: Iterable[Batch]) -> list[str]:
    return [row["url"] for row in collected(batches).get("pages", [])]


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/index.xml", "/gone.xml")
    server.site["/index.xml"] = index(server.at("/a.xml"), server.at("/b.xml"), server.at("/a.xml"))
    server.site["/a.xml"] = urlset(server.at("/1"), server.at("/2"))
    odd = u(server.at("/2"), IMAGE * 2 + STORY + "<priority>high</priority>")
    server.site["/b.xml"] = f"<urlset {ALL}>{odd}{u(server.at('/3'))}</urlset>"
    return server


def test_the_rows_of_pages_are_those_of_the_stream_of_pages(site: LoopbackServer) -> None:
    with read_tables(site.url) as stream:
        rows = collected(stream)["pages"]
    pages = usp.iter_pages(site.url)
    expected = [
        {**page_row(page), "site": site.url, "sitemap_url": page.sitemap_url} for page in pages
    ]
    for row, position in zip(expected, [1, 2, 1, 2], strict=True):
        row["position"] = position
    assert rows == [{name: row[name] for name in TABLES["pages"].names} for row in expected]
    assert (stream.outcome, stream.tried) == (pages.outcome, pages.tried)
    assert (stream.problems, stream.skipped) == (pages.problems, pages.skipped)


def test_unique_keeps_the_first_row_of_each_url(site: LoopbackServer) -> None:
    assert urls(read_tables(site.url)) == [site.at(f"/{at}") for at in (1, 2, 2, 3)]
    assert urls(read_tables(site.url, unique=UniqueUrls())) == [
        site.at(f"/{at}") for at in (1, 2, 3)
    ]
    rows = collected(read_tables(site.url, unique=UniqueUrls(), limit=3))
    assert [row["sitemap_url"] for row in rows["pages"]][-1] == site.at("/b.xml")


def test_a_url_after_the_limit_is_new_to_the_next_source(site: LoopbackServer) -> None:
    unique = UniqueUrls()
    assert urls(read_tables(site.url, unique=unique, limit=1)) == [site.at("/1")]
    assert urls(read_tables(site.url, unique=unique)) == [site.at("/2"), site.at("/3")]


def test_problems_that_are_not_listed_are_counted(site: LoopbackServer) -> None:
    broken = "".join(u(site.at(f"/{n}"), "<priority>high</priority>") for n in range(150))
    site.site["/b.xml"] = f"<urlset {ALL}>{broken}</urlset>"
    rows = collected(read_tables(site.url, ["problems"]))["problems"]
    of_b = [row for row in rows if row["sitemap_url"] == site.at("/b.xml")]
    assert [(row["code"], row["count"]) for row in of_b[-2:]] == [("SM402", None), ("SM702", 50)]
    assert of_b[7]["page_url"] == site.at("/7")


def test_every_table_of_a_site_tells_what_came_of_it(site: LoopbackServer) -> None:
    rows = collected(read_tables(site.url, list(TABLES)))
    states = [(row["url"], row["state"], row["pages"]) for row in rows["sitemaps"]]
    at = site.at
    assert states == [
        (at("/robots.txt"), "ok", 0),
        (at("/index.xml"), "ok", 0),
        (at("/a.xml"), "ok", 2),
        (at("/b.xml"), "ok", 2),
        (at("/gone.xml"), "failed", None),
    ]
    gone = rows["sitemaps"][-1]
    assert (gone["http_status"], gone["code"], gone["complete"]) == (404, "SM101", False)
    assert [row["position"] for row in rows["sitemaps"]] == [1, 2, 3, 4, 5]
    assert [row["level"] for row in rows["sitemaps"]] == [0, 1, 2, 2, 1]
    assert rows["sitemaps"][2]["parent_url"] == at("/index.xml")
    named = ("sitemap_url", "code", "page_url", "count")
    assert [tuple(row[name] for name in named) for row in rows["problems"]] == [
        (at("/index.xml"), "SM305", at("/a.xml"), None),
        (at("/b.xml"), "SM402", at("/2"), None),
        (at("/gone.xml"), "SM101", None, None),
    ]
    tried = [(row["url"], row["result"], row["http_status"]) for row in rows["attempts"]]
    assert tried[-1] == (at("/gone.xml"), "missing", 404)
    assert len(rows["images"]) == 2
    assert [row["position"] for row in rows["images"]] == [1, 2]
    assert rows["news"][0]["page_url"] == at("/2")
    (whole,) = rows["sites"]
    assert {name: whole[name] for name in ("outcome", "code", "complete", "limit", "pages")} == {
        "outcome": "partial",
        "code": "SM101",
        "complete": False,
        "limit": None,
        "pages": 4,
    }
    assert (whole["sitemaps"], whole["sitemaps_failed"], whole["problems"]) == (3, 1, 3)
    assert whole["requests"] == len(site.requests)
    assert whole["bytes"] > 0


def test_threads_asyncio_and_the_tree_give_the_same_tables(site: LoopbackServer) -> None:
    names = list(TABLES)
    threads = collected(read_tables(site.url, names))

    async def main() -> Rows:
        async with AioWebClient() as client:
            stream = aio_tables.read_tables(site.url, names, web_client=client)
            batches = [batch async for batch in stream]
            assert stream.outcome is Outcome.PARTIAL
        return collected(batches)

    assert without_times(run(main())) == without_times(threads)
    tree = usp.sitemap_tree(site.url, hash_bodies=True)
    for one in (tree, pickle.loads(pickle.dumps(tree))):
        of_tree = collected(tables_of(one, [*PAGE_PARTS, "pages", "problems"]))
        assert of_tree == {name: threads[name] for name in of_tree}
        others = ["sitemaps", "sites", "attempts"]
        found = without_times(collected(tables_of(one, others)))
        assert found == without_times({name: threads[name] for name in others})


def test_a_tree_that_was_built_by_hand_has_tables_too() -> None:
    class Own(PagesXMLSitemap):
        @property
        def pages(self) -> list[SitemapPage]:
            return [SitemapPage("https://h.example/own")]

    own = Own("https://h.example/own.xml", [])
    listed = PagesXMLSitemap("https://h.example/a.xml", [SitemapPage("https://h.example/1")])
    tree = IndexWebsiteSitemap("https://h.example/", [own, listed])
    rows = collected(tables_of(tree, ["pages", "sitemaps", "sites"]))
    assert [row["url"] for row in rows["pages"]] == ["https://h.example/own", "https://h.example/1"]
    assert [row["priority"] for row in rows["pages"]] == [None, None]
    assert [(row["kind"], row["pages"]) for row in rows["sitemaps"]] == [("urlset", 1)] * 2
    assert (rows["sites"][0]["outcome"], rows["sites"][0]["complete"]) == ("found", True)
    assert [row["url"] for row in collected(tables_of(listed))["pages"]] == ["https://h.example/1"]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_limit_ends_the_crawl_as_it_ends_a_stream_of_pages(
    site: LoopbackServer, limit: int
) -> None:
    stream, pages = read_tables(site.url, limit=limit), usp.iter_pages(site.url, limit=limit)
    assert urls(stream) == [page.url for page in pages]
    assert (stream.problems, stream.tried) == (pages.problems, pages.tried)
    rows = collected(read_tables(site.url, ["sites", "sitemaps"], limit=limit))
    assert rows["sites"][0]["limit"] == (None if limit == 100 else "SM704")
    assert rows["sites"][0]["pages"] == min(limit, 4)
    if limit == 1:
        assert rows["sitemaps"][-1]["complete"] is None, "the rest was not read"


def test_a_time_limit_ends_the_crawl_with_what_arrived(site: LoopbackServer) -> None:
    site.site["/b.xml"] = stall
    stream = read_tables(site.url, ["pages", "sites"], max_seconds=1.0)
    rows = collected(stream)
    assert [row["url"] for row in rows["pages"]] == [site.at("/1"), site.at("/2")]
    assert rows["sites"][0]["limit"] == "SM705"
    assert stream.outcome is Outcome.PARTIAL


def test_only_what_is_wanted_is_read(site: LoopbackServer) -> None:
    (batch,) = {
        batch.table.names for batch in read_tables(site.url, "pages", columns=["priority", "url"])
    }
    assert batch == ("priority", "url")
    columns = {"sitemaps": ["url", "state"], "attempts": ["url"]}
    rows = collected(read_tables(site.url, list(columns), columns=columns))
    assert rows.keys() == columns.keys()
    assert set(rows["sitemaps"][0]) == {"url", "state"}


def test_a_batch_has_at_most_the_wanted_rows(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(urlset(*(f"https://h.example/{at}" for at in range(1000))))
    sizes = [batch.length for batch in read_tables(file, batch_rows=300)]
    assert max(sizes) <= 300
    assert sum(sizes) == 1000
    rows = collected(read_tables(file, ["pages", "sitemaps"]))
    assert rows["pages"][-1] | {"position": 1000, "site": str(file)} == rows["pages"][-1]
    assert rows["sitemaps"][0]["url"] == rows["pages"][0]["sitemap_url"] == str(file)


def test_a_sitemap_that_is_declared_twice_is_read_once(server: LoopbackServer) -> None:
    server.robots("/index.xml", "/a.xml")
    server.site["/index.xml"] = index(server.at("/a.xml"))
    server.site["/a.xml"] = urlset(server.at("/1"))
    rows = collected(read_tables(server.url, ["pages", "sitemaps"]))
    assert len(rows["pages"]) == 1
    assert [(row["state"], row["pages"]) for row in rows["sitemaps"]] == [
        *(("ok", 0), ("ok", 0), ("ok", 1)),
        ("skipped", None),
    ]


def test_sitemaps_that_are_skipped_have_rows_with_the_reason(site: LoopbackServer) -> None:
    by_pattern = collected(read_tables(site.url, "sitemaps", include_sitemaps="b", max_sitemaps=3))
    rows = [(row["url"], row["state"], row["position"]) for row in by_pattern["sitemaps"]]
    assert rows == [
        (site.at("/robots.txt"), "ok", 1),
        (site.at("/index.xml"), "ok", 2),
        (site.at("/a.xml"), "skipped", 3),
        (site.at("/b.xml"), "ok", 4),
        (site.at("/gone.xml"), "failed", 5),
    ]
    skipped = by_pattern["sitemaps"][2]
    assert (skipped["parent_url"], skipped["level"]) == (site.at("/index.xml"), 2)
    assert "include_sitemaps" in skipped["reason"]
    stream = read_tables(site.url, "sitemaps", recurse_callback=lambda url, *_: "a.xml" not in url)
    by_callback = {row["url"]: row for row in collected(stream)["sitemaps"]}
    assert by_callback[site.at("/a.xml")]["reason"] == "A callback rejected it"
    assert stream.skipped == {SkipReason.SITEMAP_CALLBACK: 1}


def test_no_table_has_credentials(site: LoopbackServer) -> None:
    named = site.url.replace("http://", "http://me:secret@")
    rows = collected(read_tables(named, list(TABLES)))
    assert "secret" not in repr(rows)
    assert rows["sites"][0]["site"] == site.url


@pytest.mark.parametrize(
    "wrong",
    [
        {"tables": "page"},
        {"tables": []},
        {"tables": ["pages", "pages"]},
        {"columns": ["nope"]},
        {"tables": ["pages", "sites"], "columns": ["url"]},
        {"columns": {"sites": ["url"]}},
        {"batch_rows": 0},
        {"limit": -1},
    ],
)
def test_wrong_arguments_are_rejected_at_the_call(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read_tables("https://h.example/", **wrong)


DATES = st.sampled_from(["", "2024-01-01", "2024-03-01T10:00:00Z", "2024-06-01", "soon"])
ENTRIES = st.lists(
    st.tuples(st.sampled_from("abcde"), DATES, st.sampled_from(["", IMAGE, STORY])), max_size=12
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "since": st.sampled_from(["2024-02-01", "2024-03-01"]),
        "until": st.sampled_from(["2024-03-01", "2024-05"]),
        "undated": st.sampled_from(["keep", "drop"]),
        "include": st.sampled_from(["[abc]$", ["a", "e"]]),
        "exclude": st.just("b"),
        "kind": st.sampled_from(["news", ["image", "video"]]),
        "limit": st.integers(1, 6),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("selection")


@examples(100)
@given(ENTRIES, POLICIES)
def test_selection_on_columns_is_that_of_pages(
    folder: Path, entries: list[tuple[str, str, str]], policy: dict[str, Any]
) -> None:
    listed = (
        u(f"https://h.example/{name}", f"<lastmod>{date}</lastmod>{more}")
        for name, date, more in entries
    )
    file = folder / "sitemap.xml"
    file.write_text(f"<urlset {ALL}>{''.join(listed)}</urlset>")
    stream, pages = read_tables(file, columns=["url"], **policy), usp.iter_pages(file, **policy)
    expected = [page.url for page in pages]
    assert urls(stream) == expected
    assert (stream.skipped, stream.outcome) == (pages.skipped, pages.outcome)
    assert stream.problems == pages.problems
    assert urls(tables_of(usp.sitemap_tree(file, **policy))) == expected


def test_the_set_of_urls_knows_each_url_once_however_many_there_are() -> None:
    known: set[str] = set()
    unique = UniqueUrls()
    for at in range(20_000):
        url = f"https://h.example/{at * 7919 % 9000}"
        assert unique.add(url) == (url not in known)
        known.add(url)
    assert len(unique) == len(known)
    assert unique.new_rows(["x", "y", "x"], [0, 1, 2]) == [0, 1]


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        (
            "User-agent: *\nCrawl-delay: 2\nContent-Signal: ai-train=no",
            ("200", True, 2.0, "ai-train=no"),
        ),
        ("User-agent: *\nDisallow: /closed\nSitemap: /closed.xml", ("200", False, None, None)),
        (404, ("404", True, None, None)),
    ],
)
def test_the_row_of_a_site_says_what_robots_txt_says(
    server: LoopbackServer, robots: str | int, expected: tuple[object, ...]
) -> None:
    server.site["/robots.txt"] = robots
    tree = usp.sitemap_tree_for_homepage(server.url)
    for batches in (read_tables(server.url, ["sites"]), tables_of(tree, ["sites"])):
        (row,) = collected(batches)["sites"]
        names = ("robots_status", "robots_allows", "crawl_delay", "content_signal")
        assert tuple(row[name] for name in names) == expected
    (row,) = collected(read_tables(server.url, ["sites"], use_robots=False))["sites"]
    assert row["robots_status"] is None


def test_the_row_of_a_site_that_gives_nothing_has_the_code_of_the_first_failure(
    server: LoopbackServer,
) -> None:
    server.otherwise = 403
    for url, status in ((server.url, "403"), ("http://127.0.0.1:9/", "Connection refused")):
        tree = usp.sitemap_tree_for_homepage(url)
        reading = read_tables(url, ["sites", "attempts"], use_known_paths=True)
        for batches in (reading, tables_of(tree, ["sites", "attempts"])):
            rows = collected(batches)
            (site,), attempts = rows["sites"], rows["attempts"]
            assert site["code"] == attempts[0]["code"] == "SM101"
            assert site["robots_status"].endswith(status)
            assert "(" not in site["robots_status"], "no words of a library"
    server.otherwise = 404
    (row,) = collected(read_tables(server.url, ["sites"]))["sites"]
    assert (row["outcome"], row["code"]) == ("none", None)


def test_bodies_are_hashed_if_the_column_is_wanted(server: LoopbackServer) -> None:
    server.robots("/s.xml")
    server.site["/s.xml"] = body = urlset("/a")
    wanted = hashlib.sha256(body).hexdigest()

    async def in_asyncio() -> list[Batch]:
        async with aio_tables.read_tables(server.url, "sitemaps") as stream:
            return [batch async for batch in stream]

    with read_tables(server.url, "sitemaps") as stream:
        for batches in (list(stream), run(in_asyncio())):
            assert wanted in [hashed for batch in batches for hashed in batch.columns["sha256"]]
