"""A crawl after another one: requests are conditional, and what is unchanged is copied."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.bulk.sites import QUICK, ManySites, Tables, expected_outcomes, expected_pages
from tests.server import Answer, Handler, LoopbackServer, Plain, redirect, urlset
from usp import bulk
from usp.exceptions import UsageError

SITES = 14
PAGES = "SELECT site, url, sitemap_url, position, lastmod_raw FROM {pages} ORDER BY ALL"


def crawl(sites: ManySites, out: Path, count: int = SITES, **fields: Any) -> bulk.ShardResult:
    return bulk.crawl_shard(sites.homepages(count), out, **QUICK, **fields)


def statuses(sites: ManySites) -> Counter[tuple[str, int]]:
    found = Counter((path, status) for _, path, status in sites.requests)
    sites.requests.clear()
    return found


def test_what_is_unchanged_is_requested_conditionally_and_copied(tmp_path: Path) -> None:
    with ManySites() as sites:
        crawl(sites, tmp_path / "one")
        first = statuses(sites)
        done = crawl(sites, tmp_path / "two", previous=str(tmp_path / "one"))
        second = statuses(sites)
        third = crawl(sites, tmp_path / "three", previous=str(tmp_path / "two"))
    one, two = Tables(tmp_path / "one"), Tables(tmp_path / "two")
    assert second[("/index.xml", 304)] == first[("/index.xml", 200)] == 2
    assert second[("/a.xml", 304)] == 2
    assert second[("/list.txt", 304)] == 4
    assert second[("/robots.txt", 200)] == first[("/robots.txt", 200)], "its rules are in no table"
    assert second[("/large.xml", 200)] == 2, "one that was cut is read again"
    assert two.outcomes() == expected_outcomes(range(SITES))
    assert two.query(PAGES) == one.query(PAGES)
    counts = "SELECT site, outcome, pages, sitemaps, problems FROM {sites} ORDER BY ALL"
    assert two.query(counts) == one.query(counts)
    assert done.unchanged == third.unchanged == 10
    states = dict(two.query("SELECT state, count(*) FROM {sitemaps} GROUP BY ALL"))
    assert states["unchanged"] == 10
    same = "SELECT site, url, parent_url, level, kind, pages, children, bytes, complete FROM "
    same += "{sitemaps} WHERE kind <> 'robots' ORDER BY ALL"
    assert two.query(same) == one.query(same)
    assert Tables(tmp_path / "three").query(PAGES) == one.query(PAGES)


def test_what_has_changed_is_read_and_new_sites_are_crawled(tmp_path: Path) -> None:
    with ManySites() as sites:
        crawl(sites, tmp_path / "one")
        statuses(sites)
        sites.changed = {"/a.xml"}
        crawl(sites, tmp_path / "two", count=SITES + 7, previous=str(tmp_path / "one"))
        second = statuses(sites)
    # The new site's first request of each document is not conditional.
    assert second[("/a.xml", 200)] == 3
    assert second[("/b.xml", 304)] == 2
    assert Tables(tmp_path / "two").pages() == expected_pages(sites, range(SITES + 7))


def test_what_is_gone_is_not_copied(tmp_path: Path) -> None:
    with ManySites() as sites:
        crawl(sites, tmp_path / "one")
        sites.gone = {"/a.xml", "/list.txt"}
        done = crawl(sites, tmp_path / "two", previous=str(tmp_path / "one"))
        sites.gone = set()
        crawl(sites, tmp_path / "three", previous=str(tmp_path / "two"))
    two, three = Tables(tmp_path / "two"), Tables(tmp_path / "three")
    kept = "SELECT count(*) FROM {pages} WHERE sitemap_url SIMILAR TO '.*/(a.xml|list.txt)'"
    assert two.query(kept) == [(0,)]
    assert done.unchanged == 4, "two indexes, and b.xml of two sites"
    lost = "SELECT DISTINCT state, code, http_status FROM {sitemaps} WHERE url LIKE '%/a.xml'"
    assert two.query(lost) == [("failed", "SM101", 404)]
    assert two.outcomes()[1] == "partial"
    assert three.pages() == expected_pages(sites, range(SITES))


def test_the_same_bytes_are_copied_where_a_server_has_no_validators(tmp_path: Path) -> None:
    with ManySites() as sites:
        crawl(sites, tmp_path / "one")
        sites.changed = {"/a.xml", "/b.xml", "/index.xml", "/list.txt"}  # another ETag, same bytes
        done = crawl(sites, tmp_path / "two", previous=str(tmp_path / "one"))
    assert done.unchanged == 10
    assert Tables(tmp_path / "two").pages() == expected_pages(sites, range(SITES))


def test_a_server_that_has_dates_but_no_etags_is_asked_by_date(tmp_path: Path) -> None:
    date = "Tue, 17 Nov 2026 08:00:00 GMT"
    with LoopbackServer() as server:
        server.robots("/a.xml")
        page = urlset(server.at("/1"))
        server.site["/a.xml"] = Answer(body=page, headers={"Last-Modified": date})
        bulk.crawl_shard([server.url], tmp_path / "one", **QUICK)
        server.site["/a.xml"] = Answer(status=304, headers={"Last-Modified": date})
        bulk.crawl_shard([server.url], tmp_path / "two", previous=str(tmp_path / "one"), **QUICK)
    asked = [request.headers for request in server.requests if request.path == "/a.xml"]
    assert [headers.get("if-modified-since") for headers in asked] == [None, date]
    two = Tables(tmp_path / "two")
    assert two.query("SELECT outcome FROM {sites}") == [("found",)]
    assert two.query(PAGES) == Tables(tmp_path / "one").query(PAGES) != []


def test_rows_are_copied_between_crawls_with_the_same_filters_only(tmp_path: Path) -> None:
    with ManySites() as sites:
        lines, previous = sites.homepages(2), str(tmp_path / "one")
        bulk.crawl(lines, previous, shards=2, workers=1, **QUICK)
        with pytest.raises(UsageError, match="previous was crawled with another include"):
            bulk.crawl(lines, tmp_path / "two", previous=previous, include="x", **QUICK)
        with pytest.raises(UsageError, match="shards must be 2"):
            bulk.crawl(lines, tmp_path / "two", previous=previous, shards=3, **QUICK)
        with pytest.raises(UsageError, match="previous must be the folder of a crawl"):
            bulk.crawl(lines, tmp_path / "two", previous=str(tmp_path / "absent"), **QUICK)


def test_an_unchanged_sitemap_that_is_redirected_now_is_read_at_its_new_url(
    tmp_path: Path,
) -> None:
    etag, date = '"1"', "Tue, 17 Nov 2026 08:00:00 GMT"

    def answer(handler: Handler) -> Plain:
        if handler.headers.get("If-None-Match") == etag:
            return Answer(304, headers={"ETag": etag})
        return Answer(200, urlset("rel", server.at("/1")), {"ETag": etag, "Last-Modified": date})

    with LoopbackServer() as server:
        server.robots("/a.xml")
        server.site["/a.xml"] = answer
        bulk.crawl_shard([server.url], tmp_path / "one", **QUICK)
        server.site |= {"/a.xml": redirect(server.at("/x/new.xml")), "/x/new.xml": answer}
        bulk.crawl_shard([server.url], tmp_path / "two", previous=str(tmp_path / "one"), **QUICK)
        bulk.crawl_shard([server.url], tmp_path / "new", **QUICK)
        server.requests.clear()
        third = tmp_path / "three"
        done = bulk.crawl_shard([server.url], third, previous=str(tmp_path / "two"), **QUICK)
    two, new = Tables(tmp_path / "two"), Tables(tmp_path / "new")
    assert two.query(PAGES) == new.query(PAGES) == Tables(third).query(PAGES)
    urls = [url for _, url, *_ in two.query(PAGES)]
    assert urls == [server.at("/1"), server.at("/x/rel")]
    assert done.unchanged == 1
    assert [one.path for one in server.requests if one.path.endswith("new.xml")] == ["/x/new.xml"]
