"""Tree filtering, as tests: what the two callbacks are called with, when, and what they decide.

Rules of this room: whole crawls of a real server; callbacks are plain functions that take notes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.server import LoopbackServer, index, urlset
from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_tree_for_homepage


@dataclass
class Notes:
    """Callbacks that drop URLs with certain words in them, and write down each call."""

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
def tongues(server: LoopbackServer) -> LoopbackServer:
    """An index of two languages, each with a blog and products."""
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


def test_without_callbacks_all_are_fetched(tongues: LoopbackServer) -> None:
    assert found(sitemap_tree_for_homepage(tongues.url)) == ALL


def test_callback_false_skips_the_sitemap_and_all_below(tongues: LoopbackServer) -> None:
    notes = Notes(drop_one="/de/")
    tree = sitemap_tree_for_homepage(tongues.url, recurse_callback=notes.one)
    assert found(tree) == ALL[:5]
    assert not [path for path in tongues.asked if path.startswith("/de/")]


def test_callback_is_called_with_one_url_at_a_time(tongues: LoopbackServer) -> None:
    notes = Notes()
    sitemap_tree_for_homepage(tongues.url, recurse_callback=notes.one)
    at = tongues.at
    roots = {at("/robots.txt")}
    assert [call for call in notes.calls if call[2] == 0] == [("one", at("/index.xml"), 0, roots)]
    below = roots | {at("/index.xml")}
    assert [call for call in notes.calls if call[2] == 1] == [
        ("one", at("/en/"), 1, below),
        ("one", at("/de/"), 1, below),
    ]
    assert [call for call in notes.calls if call[2] == 2] == [
        ("one", at("/en/blog.xml"), 2, below | {at("/en/")}),
        ("one", at("/en/products.xml"), 2, below | {at("/en/")}),
        ("one", at("/de/blog.xml"), 2, below | {at("/de/")}),
        ("one", at("/de/products.xml"), 2, below | {at("/de/")}),
    ]


def test_list_callback_is_called_with_all_children_of_an_index(tongues: LoopbackServer) -> None:
    notes = Notes()
    tree = sitemap_tree_for_homepage(tongues.url, recurse_list_callback=notes.many)
    at = tongues.at
    assert notes.calls[1] == (
        "many",
        [at("/en/"), at("/de/")],
        1,
        {at("/robots.txt"), at("/index.xml")},
    )
    assert len(notes.calls) == 4
    assert found(tree) == ALL


def test_list_callback_filters(tongues: LoopbackServer) -> None:
    notes = Notes(drop_many="blog")
    tree = sitemap_tree_for_homepage(tongues.url, recurse_list_callback=notes.many)
    assert found(tree) == [path for path in ALL if "blog" not in path]
    assert not [path for path in tongues.asked if "blog" in path]


def test_list_callback_may_drop_all(tongues: LoopbackServer) -> None:
    tree = sitemap_tree_for_homepage(
        tongues.url, recurse_list_callback=lambda urls, level, parents: []
    )
    assert found(tree) == ["/robots.txt"]


def test_list_callback_before_callback(tongues: LoopbackServer) -> None:
    notes = Notes(drop_one="products", drop_many="/de/")
    tree = sitemap_tree_for_homepage(
        tongues.url, recurse_callback=notes.one, recurse_list_callback=notes.many
    )
    assert found(tree) == ["/robots.txt", "/index.xml", "/en/", "/en/blog.xml"]
    assert [call[0] for call in notes.calls] == [
        *("many", "one"),  # robots.txt: the index
        *("many", "one"),  # the index: both languages, then what the list callback left
        *("many", "one", "one"),  # English: blog and products
    ]


def test_what_the_list_callback_drops_never_reaches_the_callback(
    tongues: LoopbackServer,
) -> None:
    notes = Notes(drop_many="/de/")
    sitemap_tree_for_homepage(
        tongues.url, recurse_callback=notes.one, recurse_list_callback=notes.many
    )
    assert [call for call in notes.calls if call[0] == "one" and "/de/" in str(call[1])] == []


def test_callbacks_see_duplicates_once(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/a.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))
    notes = Notes()
    sitemap_tree_for_homepage(
        server.url, recurse_callback=notes.one, recurse_list_callback=notes.many
    )
    assert notes.calls == [
        ("many", [server.at("/a.xml")], 0, {server.at("/robots.txt")}),
        ("one", server.at("/a.xml"), 0, {server.at("/robots.txt")}),
    ]


def test_a_bug_in_a_callback_reaches_the_caller(tongues: LoopbackServer) -> None:
    def broken(url: str, recursion_level: int, parent_urls: set[str]) -> bool:
        raise LookupError(url)

    with pytest.raises(LookupError, match=r"index\.xml"):
        sitemap_tree_for_homepage(tongues.url, recurse_callback=broken)
