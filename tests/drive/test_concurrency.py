"""How many requests run concurrently, per host and in all; and that none is made twice."""

import threading
import time
from typing import Any

import pytest

from tests.server import Handler, LoopbackServer, urlset
from usp.tree import sitemap_tree_for_homepage


class SlowSitemaps:
    """Answers slowly with a sitemap of one page, and counts the requests in flight."""

    def __init__(self) -> None:
        self.peak = 0
        self._in_flight = 0
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> bytes:
        with self._lock:
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
        time.sleep(0.02)
        with self._lock:
            self._in_flight -= 1
        return urlset(handler.owner.at(handler.path))


def crawl(url: str, **fields: Any) -> list[str]:
    tree = sitemap_tree_for_homepage(url, use_known_paths=False, **fields)
    return [page.url for page in tree.all_pages()]


@pytest.mark.parametrize(
    ("fields", "limit"),
    [({"per_host": 2}, 2), ({"concurrency": 3}, 3), ({"concurrency": 1}, 1), ({}, 8)],
)
def test_requests_run_concurrently_within_the_limits(
    server: LoopbackServer, fields: dict[str, int], limit: int
) -> None:
    sitemaps = SlowSitemaps()
    server.robots(*(f"/c{number}.xml" for number in range(20)))
    server.otherwise = sitemaps
    assert len(crawl(server.url, **fields)) == 20
    assert min(limit, 2) <= sitemaps.peak <= limit


def test_the_limit_per_host_counts_urls_with_different_users_together(
    server: LoopbackServer,
) -> None:
    host = server.url.removeprefix("http://")
    urls = [f"http://user{number}@{host}c{number}.xml" for number in range(20)]
    server.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in urls)
    sitemaps = SlowSitemaps()
    server.otherwise = sitemaps
    assert len(crawl(server.url, per_host=2)) == 20
    assert sitemaps.peak <= 2


def test_a_document_is_requested_once_however_its_url_is_written(server: LoopbackServer) -> None:
    paths = ["/a.xml", "/./a.xml", "/a.xml#top", "/x/../a.xml"]
    urls = [server.at("/a.xml").replace("http:", "HTTP:"), *(server.url[:-1] + p for p in paths)]
    server.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in urls)
    server.site["/a.xml"] = urlset(server.at("/1"))
    assert set(crawl(server.url)) == {server.at("/1")}
    assert server.requested == ["/robots.txt", "/a.xml"]
