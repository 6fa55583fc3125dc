"""What the documentation of 1.8.1 says about ``recurse_callback`` and ``recurse_list_callback``.

Whole crawls of a loopback server, with callbacks that record their calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.server import LoopbackServer, index, urlset
from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_tree_for_homepage


@dataclass
class RecordedCalls:
    """Both callbacks: they drop URLs that contain certain words, and record each call."""

    drop_one: str = "(nothing)"
    drop_many: str = "(nothing)"
    calls: list[tuple[str, object, int, set[str]]] = field(default_factory=list)

    def one(self, url: str, recursion_level: int, parent_urls: set[str]) -> bool:
        self.calls.append(("one", url, recursion_level, set(parent_urls)))
        return self.drop_one not in url

    def many(self, urls: list[str], recursion_level: int, parent_urls: set[str]) -> list[str]:
        self.calls.append(("many", list(urls), recursion_level, set(parent_urls)))
        return [url for url in urls if self.drop_many not in url]


@pytest.fixture
def two_languages(server: LoopbackServer) -> LoopbackServer:
    """Serve an index of two languages, each with a blog and products."""
    server.robots("/index.xml")
    server.site["/index.xml"] = index(server.at("/en/"), server.at("/de/"))
    for language in ("en", "de"):
        children = [f"/{language}/blog.xml", f"/{language}/products.xml"]
        server.site[f"/{language}/"] = index(*map(server.at, children))
        server.site |= {child: urlset(server.at(f"{child}/page")) for child in children}
    return server


def found(tree: AbstractSitemap) -> list[str]:
    return ["/" + sitemap.url.split("/", 3)[3] for sitemap in tree.all_sitemaps()]


ALL = [
    "/robots.txt",
    "/index.xml",
    "/en/",
    "/en/blog.xml",
    "/en/products.xml",
    "/de/",
    "/de/blog.xml",
    "/de/products.xml",
]


def test_without_callbacks_every_sitemap_is_fetched(two_languages: LoopbackServer) -> None:
    assert found(sitemap_tree_for_homepage(two_languages.url)) == ALL


def test_a_callback_that_returns_false_skips_the_sitemap_and_all_below_it(
    two_languages: LoopbackServer,
) -> None:
    recorded = RecordedCalls(drop_one="/de/")
    tree = sitemap_tree_for_homepage(two_languages.url, recurse_callback=recorded.one)
    assert found(tree) == ALL[:5]
    assert not [path for path in two_languages.requested if path.startswith("/de/")]


def test_the_callback_is_called_with_one_url_at_a_time(two_languages: LoopbackServer) -> None:
    recorded = RecordedCalls()
    sitemap_tree_for_homepage(two_languages.url, recurse_callback=recorded.one)
    at = two_languages.at
    roots = {at("/robots.txt")}
    assert [call for call in recorded.calls if call[2] == 0] == [
        ("one", at("/index.xml"), 0, roots)
    ]
    below = roots | {at("/index.xml")}
    assert [call for call in recorded.calls if call[2] == 1] == [
        ("one", at("/en/"), 1, below),
        ("one", at("/de/"), 1, below),
    ]
    assert [call for call in recorded.calls if call[2] == 2] == [
        ("one", at("/en/blog.xml"), 2, below | {at("/en/")}),
        ("one", at("/en/products.xml"), 2, below | {at("/en/")}),
        ("one", at("/de/blog.xml"), 2, below | {at("/de/")}),
        ("one", at("/de/products.xml"), 2, below | {at("/de/")}),
    ]


def test_the_list_callback_is_called_with_all_children_of_an_index(
    two_languages: LoopbackServer,
) -> None:
    recorded = RecordedCalls()
    tree = sitemap_tree_for_homepage(two_languages.url, recurse_list_callback=recorded.many)
    at = two_languages.at
    assert recorded.calls[1] == (
        "many",
        [at("/en/"), at("/de/")],
        1,
        {at("/robots.txt"), at("/index.xml")},
    )
    assert len(recorded.calls) == 4
    assert found(tree) == ALL


def test_the_list_callback_chooses_children(two_languages: LoopbackServer) -> None:
    recorded = RecordedCalls(drop_many="blog")
    tree = sitemap_tree_for_homepage(two_languages.url, recurse_list_callback=recorded.many)
    assert found(tree) == [path for path in ALL if "blog" not in path]
    assert not [path for path in two_languages.requested if "blog" in path]


def test_the_list_callback_may_drop_all_children(two_languages: LoopbackServer) -> None:
    tree = sitemap_tree_for_homepage(
        two_languages.url, recurse_list_callback=lambda urls, level, parents: []
    )
    assert found(tree) == ["/robots.txt"]


def test_the_list_callback_is_called_before_the_callback(two_languages: LoopbackServer) -> None:
    recorded = RecordedCalls(drop_one="products", drop_many="/de/")
    tree = sitemap_tree_for_homepage(
        two_languages.url, recurse_callback=recorded.one, recurse_list_callback=recorded.many
    )
    assert found(tree) == ["/robots.txt", "/index.xml", "/en/", "/en/blog.xml"]
    assert [call[0] for call in recorded.calls] == [
        *("many", "one"),  # robots.txt: the index
        *("many", "one"),  # the index: both languages, then the one that the list callback kept
        *("many", "one", "one"),  # English: blog and products
    ]


def test_a_url_that_the_list_callback_drops_does_not_reach_the_callback(
    two_languages: LoopbackServer,
) -> None:
    recorded = RecordedCalls(drop_many="/de/")
    sitemap_tree_for_homepage(
        two_languages.url, recurse_callback=recorded.one, recurse_list_callback=recorded.many
    )
    assert [call for call in recorded.calls if call[0] == "one" and "/de/" in str(call[1])] == []


def test_callbacks_get_a_duplicate_url_once(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/a.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))
    recorded = RecordedCalls()
    sitemap_tree_for_homepage(
        server.url, recurse_callback=recorded.one, recurse_list_callback=recorded.many
    )
    assert recorded.calls == [
        ("many", [server.at("/a.xml")], 0, {server.at("/robots.txt")}),
        ("one", server.at("/a.xml"), 0, {server.at("/robots.txt")}),
    ]


def test_an_exception_in_a_callback_reaches_the_caller(two_languages: LoopbackServer) -> None:
    def faulty(url: str, recursion_level: int, parent_urls: set[str]) -> bool:
        raise LookupError(url)

    with pytest.raises(LookupError, match=r"index\.xml"):
        sitemap_tree_for_homepage(two_languages.url, recurse_callback=faulty)
