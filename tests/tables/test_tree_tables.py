"""Rows of sitemaps, attempts and sites: those of a tree are those of a stream of the same site."""

import pickle
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import pytest

import usp
from tests.compat.record import DATA
from tests.server import LoopbackServer, index, urlset
from tests.tables.collect import collected, without_times
from usp._tables.batch import Batch
from usp._tables.read import read_tables
from usp._tables.tree import tables_of


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/index.xml", "/gone.xml")
    server.site["/index.xml"] = index(server.at("/a.xml"), server.at("/b.xml"))
    server.site["/a.xml"] = urlset(server.at("/1"), server.at("/2"))
    server.site["/b.xml"] = urlset(server.at("/3"))
    return server


def test_a_tree_knows_what_its_crawl_requested(site: LoopbackServer) -> None:
    site.robots("/index.xml", "/gone.xml", "/a.xml")  # a.xml is declared twice, and fetched once
    threads = without_times(
        collected(read_tables(site.url, ["sites", "attempts"], use_known_paths=True))
    )
    site.requests.clear()
    tree = usp.sitemap_tree(site.url, use_known_paths=True)
    rows = without_times(collected(tables_of(tree, ["sites", "attempts"])))
    assert rows["attempts"] == threads["attempts"]
    guess = next(row for row in rows["attempts"] if row["stage"] == "known paths")
    assert (guess["http_status"], guess["code"]) == (404, "SM101")
    (of_tree,), (of_stream,) = rows["sites"], threads["sites"]
    assert of_tree["requests"] == of_stream["requests"] == len(site.requests)
    for name in ("homepage", "final_url", "bytes"):
        assert of_tree[name] == of_stream[name] is not None


def test_the_robots_txt_of_a_tree_is_read_for_the_agent_of_its_crawl(
    server: LoopbackServer,
) -> None:
    server.site["/robots.txt"] = (
        "User-agent: mybot\nDisallow: /\nCrawl-delay: 7\n\n"
        f"User-agent: *\nAllow: /\nSitemap: {server.at('/s.xml')}"
    )
    names = ["outcome", "robots_allows", "crawl_delay"]
    obeying: dict[str, Any] = {"robots": "obey", "robots_agent": "mybot"}
    tree = usp.sitemap_tree(server.url, **obeying)
    for batches in (
        read_tables(server.url, "sites", columns=names, **obeying),
        tables_of(tree, "sites", columns=names),
        tables_of(pickle.loads(pickle.dumps(tree)), "sites", columns=names),
    ):
        assert [tuple(row.values()) for row in collected(batches)["sites"]] == [
            ("blocked", False, 7.0)
        ]


def test_what_is_not_known_of_a_tree_is_null() -> None:
    tree = pickle.loads((DATA / "IndexWebsiteSitemap.pickle").read_bytes())
    (row,) = collected(tables_of(tree, "sites"))["sites"]
    unknown = {name for name, value in row.items() if value is None}
    assert unknown >= {"requests", "bytes", "final_url", "robots_status", "robots_allows"}
    assert row["pages"] == 4


def listed(stream: Iterable[Batch]) -> list[tuple[int, str, str]]:
    """The position, path and state of each sitemap."""
    rows = collected(stream)["sitemaps"]
    return [(row["position"], urlsplit(row["url"]).path, row["state"]) for row in rows]


def test_skipped_sitemaps_have_their_position_in_document_order(server: LoopbackServer) -> None:
    server.robots("/skip1.xml", "/index.xml", "/skip2.xml", "/last.xml", "/skip3.xml")
    server.site["/index.xml"] = index(
        *map(server.at, ("/a.xml", "/skip4.xml", "/inner.xml", "/skip5.xml"))
    )
    server.site["/inner.xml"] = index(*map(server.at, ("/skip6.xml", "/b.xml", "/skip7.xml")))
    for name in ("a", "b", "last"):
        server.site[f"/{name}.xml"] = urlset(server.at(f"/{name}"))
    expected = [
        "/robots.txt",
        "/skip1.xml",
        "/index.xml",
        "/a.xml",
        "/skip4.xml",
        "/inner.xml",
        "/skip6.xml",
        "/b.xml",
        "/skip7.xml",
        "/skip5.xml",
        "/skip2.xml",
        "/last.xml",
        "/skip3.xml",
    ]
    rows = [
        (position, path, "skipped" if "skip" in path else "ok")
        for position, path in enumerate(expected, 1)
    ]
    by_pattern = read_tables(server.url, "sitemaps", exclude_sitemaps="skip")
    by_callback = read_tables(
        server.url, "sitemaps", recurse_callback=lambda url, *_: "skip" not in url
    )
    assert listed(by_pattern) == listed(by_callback) == rows


@pytest.mark.parametrize("limits", [{"limit": 1}, {"max_sitemaps": 2}, {}])
def test_the_number_of_children_is_what_an_index_lists(
    site: LoopbackServer, limits: dict[str, Any]
) -> None:
    tree = usp.sitemap_tree(site.url, **limits)
    columns = ["url", "children"]
    for batches in (
        read_tables(site.url, "sitemaps", columns=columns, **limits),
        tables_of(tree, "sitemaps", columns=columns),
        tables_of(pickle.loads(pickle.dumps(tree)), "sitemaps", columns=columns),
    ):
        found = {row["url"]: row["children"] for row in collected(batches)["sitemaps"]}
        assert (found[site.at("/robots.txt")], found[site.at("/index.xml")]) == (2, 2)


def test_a_document_without_a_url_has_nulls() -> None:
    tree = usp.parse(urlset("http://h.example/1"))
    rows = collected(tables_of(tree, ["pages", "sitemaps", "sites"]))
    (page,), (sitemap,), (site,) = rows["pages"], rows["sitemaps"], rows["sites"]
    assert (page["site"], page["sitemap_url"], page["url"]) == (None, None, "http://h.example/1")
    assert (sitemap["site"], sitemap["url"], sitemap["declared_url"]) == (None, None, None)
    assert (site["site"], site["pages"]) == (None, 1)
    tree = usp.parse(index("http://h.example/a.xml"))
    child = collected(tables_of(tree, ["sitemaps"]))["sitemaps"][-1]
    assert (child["url"], child["parent_url"]) == ("http://h.example/a.xml", None)
