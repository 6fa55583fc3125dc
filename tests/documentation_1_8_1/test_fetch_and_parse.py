"""What the documentation of 1.8.1 says about fetching and parsing, in whole crawls.

How sitemaps are discovered, which parser reads a document, and the order of the tree.
"""

from __future__ import annotations

import pytest

from tests.documentation_1_8_1.example_documents import serve_all
from tests.server import Answer, LoopbackServer, index, redirect, urlset
from usp import Policy
from usp.fetch_parse import SitemapFetcher, XMLSitemapParser
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexRobotsTxtSitemap,
    IndexWebsiteSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    PagesAtomSitemap,
    PagesRSSSitemap,
    PagesTextSitemap,
    PagesXMLSitemap,
)
from usp.tree import _UNPUBLISHED_SITEMAP_PATHS, sitemap_tree_for_homepage
from usp.web_client.abstract_client import LocalWebClient

UNKNOWN_ROOT = "<opml><body/></opml>"
RSS = "<rss version='2.0'><channel/></rss>"
ATOM = "<feed xmlns='http://www.w3.org/2005/Atom'/>"


def crawl(server: LoopbackServer) -> AbstractSitemap:
    return sitemap_tree_for_homepage(server.url)


def paths(server: LoopbackServer, sitemaps: list[AbstractSitemap]) -> list[str]:
    return ["/" + sitemap.url.removeprefix(server.url) for sitemap in sitemaps]


# Discovery


def test_robots_txt_is_requested_first(server: LoopbackServer) -> None:
    # With concurrency, known paths are requested together with it, and arrive in any order.
    sitemap_tree_for_homepage(server.url, policy=Policy(concurrency=1))
    assert server.requested[0] == "/robots.txt"


def test_robots_txt_becomes_an_index_of_what_it_declares(server: LoopbackServer) -> None:
    serve_all(server)
    robots = crawl(server).sub_sitemaps[0]
    assert isinstance(robots, IndexRobotsTxtSitemap)
    assert robots.url == server.at("/robots.txt")
    children = paths(server, robots.sub_sitemaps)
    assert children == ["/index.xml", "/beds.xml", "/list.txt", "/feed.rss"]


def test_each_declared_sitemap_is_fetched_and_parsed(server: LoopbackServer) -> None:
    serve_all(server)
    robots = crawl(server).sub_sitemaps[0]
    assert [type(child) for child in robots.sub_sitemaps] == [
        IndexXMLSitemap,
        PagesXMLSitemap,
        PagesTextSitemap,
        PagesRSSSitemap,
    ]


def test_indexes_are_followed_recursively(server: LoopbackServer) -> None:
    server.robots("/one.xml")
    server.site |= {
        "/one.xml": index(server.at("/two.xml")),
        "/two.xml": index(server.at("/three.xml")),
        "/three.xml": urlset(server.at("/page")),
    }
    tree = crawl(server)
    assert paths(server, list(tree.all_sitemaps())) == [
        "/robots.txt",
        "/one.xml",
        "/two.xml",
        "/three.xml",
    ]
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


@pytest.mark.parametrize("path", sorted(_UNPUBLISHED_SITEMAP_PATHS))
def test_each_known_path_is_tried(server: LoopbackServer, path: str) -> None:
    server.site[f"/{path}"] = urlset(server.at("/page"))
    tree = crawl(server)
    assert paths(server, tree.sub_sitemaps) == [f"/{path}"]
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


def test_a_known_path_that_robots_txt_declares_is_not_fetched_again(server: LoopbackServer) -> None:
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = urlset(server.at("/page"))
    tree = crawl(server)
    assert server.requested.count("/sitemap.xml") == 1
    assert paths(server, list(tree.all_sitemaps())) == ["/robots.txt", "/sitemap.xml"]
    assert len(list(tree.all_pages())) == 1


def test_a_known_path_that_an_index_lists_is_not_listed_again(server: LoopbackServer) -> None:
    server.robots("/sitemap_index.xml")
    server.site["/sitemap_index.xml"] = index(server.at("/sitemap.xml"))
    server.site["/sitemap.xml"] = urlset(server.at("/page"))
    tree = crawl(server)
    assert server.requested.count("/sitemap.xml") == 1
    assert len(list(tree.all_pages())) == 1


def test_a_missing_known_path_is_not_in_the_tree(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("/page"))
    assert paths(server, crawl(server).sub_sitemaps) == ["/sitemap.xml"]


def test_the_website_is_the_parent_of_robots_txt_and_known_paths(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site |= {
        "/a.xml": urlset(server.at("/a")),
        "/sitemap_news.xml": urlset(server.at("/b")),
    }
    tree = sitemap_tree_for_homepage(server.at("/deep/page.html?x=1"))
    assert isinstance(tree, IndexWebsiteSitemap)
    assert tree.url == server.url
    assert paths(server, tree.sub_sitemaps) == ["/robots.txt", "/sitemap_news.xml"]


def test_a_site_without_sitemaps_is_an_empty_website(server: LoopbackServer) -> None:
    tree = crawl(server)
    assert isinstance(tree, IndexWebsiteSitemap)
    assert tree.sub_sitemaps == []
    assert list(tree.all_pages()) == []


# Which parser: the flowchart


@pytest.mark.parametrize(
    ("path", "answer", "kind"),
    [
        ("/x.xml", Answer(404), InvalidSitemap),
        ("/x.xml", Answer(403, urlset("http://a.example/")), InvalidSitemap),
        ("/x.xml", urlset("http://a.example/"), PagesXMLSitemap),
        ("/x.xml", index(), IndexXMLSitemap),
        ("/x.xml", RSS, PagesRSSSitemap),
        ("/x.xml", ATOM, PagesAtomSitemap),
        ("/x.xml", UNKNOWN_ROOT, InvalidSitemap),
        ("/robots.txt", "Disallow: /", IndexRobotsTxtSitemap),
        ("/below/robots.txt", "Disallow: /", IndexRobotsTxtSitemap),
        ("/robots.txt", urlset("http://a.example/"), PagesXMLSitemap),
        ("/x.xml", "http://a.example/", PagesTextSitemap),
        ("/robots.txt.old", "http://a.example/", PagesTextSitemap),
    ],
)
def test_the_parser_is_chosen_by_the_flowchart(
    server: LoopbackServer,
    path: str,
    answer: Answer | bytes | str,
    kind: type[AbstractSitemap],
) -> None:
    server.site[path] = answer
    assert type(SitemapFetcher(server.at(path), 0).sitemap()) is kind


def test_an_unknown_root_element_is_invalid_when_parsed_directly() -> None:
    url = "https://a.example/x.xml"
    sitemap = XMLSitemapParser(url, UNKNOWN_ROOT, 0, LocalWebClient(), set()).sitemap()
    assert isinstance(sitemap, InvalidSitemap)


@pytest.mark.parametrize("whitespace", ["", " ", "\n\n", "\t \r\n", " " * 5000])
def test_xml_is_detected_by_the_first_character_after_whitespace(
    server: LoopbackServer, whitespace: str
) -> None:
    body = whitespace.encode() + urlset(server.at("/page"))
    server.site["/s"] = Answer(body=body, headers={"Content-Type": "text/plain"})
    sitemap = SitemapFetcher(server.at("/s"), 0).sitemap()
    assert isinstance(sitemap, PagesXMLSitemap)
    assert [page.url for page in sitemap.pages] == [server.at("/page")]


def test_plain_text_is_detected_despite_its_content_type(server: LoopbackServer) -> None:
    headers = {"Content-Type": "application/xml"}
    server.site["/s.xml"] = Answer(body=server.at("/page"), headers=headers)
    assert isinstance(SitemapFetcher(server.at("/s.xml"), 0).sitemap(), PagesTextSitemap)


# Order and construction


def test_the_order_of_children_is_kept(server: LoopbackServer) -> None:
    names = [f"/{number}.xml" for number in (5, 3, 9, 1, 7, 2, 8)]
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*map(server.at, names))
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in names}
    tree = crawl(server)
    children = tree.sub_sitemaps[0].sub_sitemaps[0].sub_sitemaps
    assert paths(server, children) == names
    assert [page.url for page in tree.all_pages()] == [server.at(f"{name}/page") for name in names]


def test_the_order_of_pages_is_kept(server: LoopbackServer) -> None:
    pages = [server.at(f"/{name}") for name in "zebra"]
    server.site["/sitemap.xml"] = urlset(*pages)
    assert [page.url for page in crawl(server).all_pages()] == pages


def test_a_declared_child_that_fails_is_an_invalid_sitemap(server: LoopbackServer) -> None:
    server.robots("/gone.xml", "/here.xml")
    server.site["/here.xml"] = urlset(server.at("/page"))
    gone, here = crawl(server).sub_sitemaps[0].sub_sitemaps
    assert isinstance(gone, InvalidSitemap)
    assert f"Unable to fetch sitemap from {server.at('/gone.xml')}: " in gone.reason
    assert isinstance(here, PagesXMLSitemap)


def test_a_sitemap_has_the_url_after_redirects(server: LoopbackServer) -> None:
    server.robots("/old.xml")
    server.site |= {
        "/old.xml": redirect("/new.xml", 301),
        "/new.xml": urlset(server.at("/page")),
    }
    assert paths(server, list(crawl(server).all_sitemaps())) == ["/robots.txt", "/new.xml"]
