"""The outcome of a crawl, the result of each URL it tried, and how often it requests one.

Whole crawls of a loopback server.
"""

from __future__ import annotations

import socket

import pytest

from tests.server import LoopbackServer, index, redirect, urlset
from usp._crawl.discovery import NEWER_PATHS
from usp.exceptions import SitemapException
from usp.objects.outcome import Outcome
from usp.objects.sitemap import IndexWebsiteSitemap, InvalidSitemap, PagesXMLSitemap
from usp.tree import _UNPUBLISHED_SITEMAP_PATHS, sitemap_tree_for_homepage


def crawl(url: str, *, use_known_paths: bool = True) -> IndexWebsiteSitemap:
    tree = sitemap_tree_for_homepage(url, use_known_paths=use_known_paths)
    assert isinstance(tree, IndexWebsiteSitemap)
    return tree


def result_of(tree: IndexWebsiteSitemap, url: str) -> tuple[str, str]:
    """Return how a URL was found, and the result of trying it."""
    (attempt,) = [attempt for attempt in tree.tried if attempt.url == url]
    return attempt.found_by, attempt.result


def test_the_outcome_is_found_if_all_declared_sitemaps_are_read(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))
    tree = crawl(server.url)
    assert tree.outcome is Outcome.FOUND
    assert result_of(tree, server.at("/robots.txt")) == ("well-known", "sitemap")
    assert result_of(tree, server.at("/a.xml")) == ("robots", "sitemap")
    assert result_of(tree, server.at("/sitemap.xml")) == ("known-path", "missing")


def test_the_outcome_is_found_if_a_known_path_is_a_sitemap(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("/page"))
    tree = crawl(server.url)
    assert tree.outcome is Outcome.FOUND
    assert result_of(tree, server.at("/sitemap.xml")) == ("known-path", "sitemap")
    assert result_of(tree, server.at("/robots.txt")) == ("well-known", "missing")


def test_the_outcome_is_none_if_every_url_is_missing(server: LoopbackServer) -> None:
    tree = crawl(server.url)
    assert tree.outcome is Outcome.NONE
    assert len(tree.tried) == 1 + 14 + 1 + len(NEWER_PATHS), "robots.txt and the homepage"
    assert {attempt.result for attempt in tree.tried} == {"missing"}


def test_the_outcome_is_none_if_robots_txt_declares_nothing(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = "User-agent: *\nDisallow: /\n"
    assert crawl(server.url).outcome is Outcome.NONE


@pytest.mark.parametrize("status", [401, 403])
def test_the_outcome_is_blocked_if_every_url_answers_401_or_403(
    server: LoopbackServer, status: int
) -> None:
    server.site |= {f"/{path}": status for path in ("robots.txt", *_UNPUBLISHED_SITEMAP_PATHS)}
    tree = crawl(server.url)
    assert tree.outcome is Outcome.BLOCKED
    *tried, homepage = tree.tried
    assert {attempt.result for attempt in tried} == {"blocked"}
    assert homepage.url == server.url, "no newer paths are tried"


def test_the_outcome_is_unreachable_if_connections_are_refused() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        tree = crawl(url, use_known_paths=False)  # each failed URL costs four delays
    assert tree.outcome is Outcome.UNREACHABLE
    assert [attempt.result for attempt in tree.tried] == ["unreachable"]
    assert all(attempt.detail for attempt in tree.tried)


def test_the_outcome_is_partial_if_one_declared_sitemap_fails(server: LoopbackServer) -> None:
    server.robots("/gone.xml", "/here.xml")
    server.site["/here.xml"] = urlset(server.at("/page"))
    tree = crawl(server.url)
    assert tree.outcome is Outcome.PARTIAL
    gone, here = tree.sub_sitemaps[0].sub_sitemaps
    assert isinstance(gone, InvalidSitemap)
    assert isinstance(here, PagesXMLSitemap)
    assert result_of(tree, gone.url) == ("robots", "missing")


def test_an_index_that_lists_itself_is_refused_there(server: LoopbackServer) -> None:
    server.robots("/one.xml")
    server.site["/one.xml"] = index(server.at("/one.xml"))
    tree = crawl(server.url)
    results = [a.result for a in tree.tried if a.url == server.at("/one.xml")]
    assert results == ["sitemap", "refused"]


def test_a_known_path_that_redirects_to_a_found_sitemap_is_already_found(
    server: LoopbackServer,
) -> None:
    server.robots("/real.xml")
    server.site["/real.xml"] = urlset(server.at("/page"))
    server.site["/sitemap.xml"] = redirect("/real.xml")
    tree = crawl(server.url)
    assert result_of(tree, server.at("/sitemap.xml")) == ("known-path", "already-found")


def test_an_html_page_at_a_known_path_is_not_a_sitemap(server: LoopbackServer) -> None:
    server.site["/sitemap"] = "<!DOCTYPE html><html><body>All our pages</body></html>"
    tree = crawl(server.url)
    assert tree.outcome is Outcome.NONE
    assert tree.sub_sitemaps == []
    assert result_of(tree, server.at("/sitemap")) == ("known-path", "not-a-sitemap")


@pytest.mark.parametrize("homepage", ["foo", "", "ftp://h.example/", "/path", "http://"])
def test_a_homepage_that_is_not_a_url_raises_at_once(homepage: str) -> None:
    with pytest.raises(SitemapException, match="homepage_url"):
        sitemap_tree_for_homepage(homepage)


# Indexes that list one another


def test_indexes_that_list_one_another_are_each_fetched_once(server: LoopbackServer) -> None:
    names = [f"/{letter}.xml" for letter in "abcd"]
    server.robots(*names)
    for name in names:
        others = [server.at(other) for other in names if other != name]
        server.site[name] = index(*others, server.at("/pages.xml"))
    server.site["/pages.xml"] = urlset(server.at("/page"))
    tree = crawl(server.url)
    for path in (*names, "/pages.xml"):
        assert server.requested.count(path) == 1, path
    assert [child.url for child in tree.sub_sitemaps[0].sub_sitemaps] == [*map(server.at, names)]


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_layers_of_indexes_are_fetched_once_and_repeated_within_a_limit(
    server: LoopbackServer,
) -> None:
    # Ten layers of ten indexes, each listing the whole next layer: 10^10 paths through them.
    server.robots(*(f"/0-{number}.xml" for number in range(10)))
    for layer in range(10):
        below = [server.at(f"/{layer + 1}-{number}.xml") for number in range(10)]
        server.site |= {f"/{layer}-{number}.xml": index(*below) for number in range(10)}
    for number in range(10):
        server.site[f"/10-{number}.xml"] = urlset(server.at(f"/page/{number}"))
    tree = crawl(server.url)
    assert len([path for path in server.requested if "-" in path and path in server.site]) == 110
    assert sum(1 for _ in tree.all_sitemaps()) < 250_000
    assert {page.url for page in tree.all_pages()} == {
        server.at(f"/page/{number}") for number in range(10)
    }
