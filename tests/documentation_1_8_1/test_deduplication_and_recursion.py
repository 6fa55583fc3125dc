"""What the documentation of 1.8.1 says about deduplication and recursion, in whole crawls.

The loopback server records how often each URL is requested.
"""

from __future__ import annotations

from tests.server import LoopbackServer, index, redirect, urlset
from usp.objects.sitemap import AbstractSitemap, InvalidSitemap, PagesXMLSitemap
from usp.tree import sitemap_tree_for_homepage

DEEPEST = 11


def names(tree: AbstractSitemap) -> list[str]:
    return [sitemap.url.rsplit("/", 1)[1] for sitemap in tree.all_sitemaps()]


def pages(tree: AbstractSitemap) -> list[str]:
    return [page.url.rsplit("/", 1)[1] for page in tree.all_pages()]


def invalid(tree: AbstractSitemap) -> InvalidSitemap:
    """The one sitemap of the tree that is invalid."""
    (found,) = [sitemap for sitemap in tree.all_sitemaps() if isinstance(sitemap, InvalidSitemap)]
    return found


def test_duplicate_children_in_one_index_are_ignored(server: LoopbackServer) -> None:
    server.robots("/index.xml")
    server.site |= {
        "/index.xml": index(*map(server.at, ("/b.xml", "/a.xml", "/b.xml"))),
        "/a.xml": urlset(server.at("/a")),
        "/b.xml": urlset(server.at("/b")),
    }
    tree = sitemap_tree_for_homepage(server.url)
    assert names(tree) == ["robots.txt", "index.xml", "b.xml", "a.xml"]
    assert server.requested.count("/b.xml") == 1


def test_duplicate_declarations_in_robots_txt_are_ignored(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/b.xml", "/a.xml")
    server.site |= {"/a.xml": urlset(server.at("/a")), "/b.xml": urlset(server.at("/b"))}
    assert names(sitemap_tree_for_homepage(server.url)) == ["robots.txt", "a.xml", "b.xml"]


def test_duplicate_pages_in_one_sitemap_are_ignored(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(*map(server.at, ("/b", "/a", "/b", "/c", "/a")))
    assert pages(sitemap_tree_for_homepage(server.url)) == ["b", "a", "c"]


def test_the_first_declaration_of_a_page_is_kept(server: LoopbackServer) -> None:
    first, second = urlset(server.at("/a")).split(b"</url>")[0], b"<priority>0.9</priority></url>"
    server.site["/sitemap.xml"] = (
        first + b"</url><url><loc>" + server.at("/a").encode() + b"</loc>" + second + b"</urlset>"
    )
    (page,) = sitemap_tree_for_homepage(server.url).all_pages()
    assert str(page.priority) == "0.5"


def test_a_page_in_two_sitemaps_is_listed_in_both(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site |= {
        "/a.xml": urlset(server.at("/same"), server.at("/a")),
        "/b.xml": urlset(server.at("/b"), server.at("/same")),
    }
    assert pages(sitemap_tree_for_homepage(server.url)) == ["same", "a", "b", "same"]


def test_a_sitemap_in_two_indexes_is_listed_in_both_and_fetched_once(
    server: LoopbackServer,
) -> None:
    server.robots("/one.xml", "/two.xml")
    server.site |= {
        "/one.xml": index(server.at("/shared.xml")),
        "/two.xml": index(server.at("/shared.xml")),
        "/shared.xml": urlset(server.at("/page")),
    }
    tree = sitemap_tree_for_homepage(server.url)
    assert names(tree) == ["robots.txt", "one.xml", "shared.xml", "two.xml", "shared.xml"]
    assert pages(tree) == ["page", "page"]
    assert server.requested.count("/shared.xml") == 1


def test_an_index_in_two_indexes_is_expanded_in_both(server: LoopbackServer) -> None:
    server.robots("/one.xml", "/two.xml")
    server.site |= {
        "/one.xml": index(server.at("/shared.xml")),
        "/two.xml": index(server.at("/shared.xml")),
        "/shared.xml": index(server.at("/leaf.xml")),
        "/leaf.xml": urlset(server.at("/page")),
    }
    tree = sitemap_tree_for_homepage(server.url)
    assert names(tree).count("leaf.xml") == 2
    assert pages(tree) == ["page", "page"]
    assert server.requested.count("/leaf.xml") == 1


# The three kinds of recursion


def test_a_sitemap_whose_url_is_that_of_an_ancestor_is_invalid(server: LoopbackServer) -> None:
    server.robots("/one.xml")
    server.site |= {
        "/one.xml": index(server.at("/two.xml")),
        "/two.xml": index(server.at("/one.xml"), server.at("/fine.xml")),
        "/fine.xml": urlset(server.at("/page")),
    }
    tree = sitemap_tree_for_homepage(server.url)
    loop = invalid(tree)
    assert loop.url == server.at("/one.xml")
    assert f"Recursion detected in URL {loop.url}" in loop.reason
    assert names(tree) == ["robots.txt", "one.xml", "two.xml", "one.xml", "fine.xml"]
    assert pages(tree) == ["page"]
    assert server.requested.count("/one.xml") == 1


def test_an_index_that_lists_itself_is_invalid_there(server: LoopbackServer) -> None:
    server.robots("/one.xml")
    server.site["/one.xml"] = index(server.at("/one.xml"))
    tree = sitemap_tree_for_homepage(server.url)
    assert names(tree) == ["robots.txt", "one.xml", "one.xml"]
    assert "Recursion detected in URL" in invalid(tree).reason


def test_a_sitemap_that_redirects_to_an_ancestor_is_invalid(server: LoopbackServer) -> None:
    server.robots("/one.xml")
    server.site |= {
        "/one.xml": index(server.at("/moved.xml"), server.at("/fine.xml")),
        "/moved.xml": redirect("/one.xml"),
        "/fine.xml": urlset(server.at("/page")),
    }
    tree = sitemap_tree_for_homepage(server.url)
    reason = invalid(tree).reason
    moved, one = server.at("/moved.xml"), server.at("/one.xml")
    assert f"Recursion detected when {moved} redirected to {one}" in reason
    assert pages(tree) == ["page"]


def test_a_known_path_that_redirects_to_a_sitemap_of_robots_txt_is_not_listed_again(
    server: LoopbackServer,
) -> None:
    server.robots("/real.xml")
    server.site |= {
        "/real.xml": urlset(server.at("/page")),
        "/sitemap.xml": redirect("/real.xml"),
    }
    tree = sitemap_tree_for_homepage(server.url)
    assert names(tree) == ["robots.txt", "real.xml"]
    assert pages(tree) == ["page"]


def test_two_known_paths_of_one_sitemap_list_it_once(server: LoopbackServer) -> None:
    server.site |= {
        "/sitemap.xml": urlset(server.at("/page")),
        "/sitemap_index.xml": redirect("/sitemap.xml"),
    }
    assert pages(sitemap_tree_for_homepage(server.url)) == ["page"]


# Eleven levels


def test_a_sitemap_below_level_11_is_invalid_and_not_requested(server: LoopbackServer) -> None:
    server.robots("/1.xml")
    for level in range(1, 20):
        server.site[f"/{level}.xml"] = index(server.at(f"/{level + 1}.xml"))
    tree = sitemap_tree_for_homepage(server.url)
    deepest = invalid(tree)
    assert deepest.url == server.at(f"/{DEEPEST + 1}.xml")
    assert names(tree) == ["robots.txt", *(f"{n}.xml" for n in range(1, DEEPEST + 2))]
    assert f"/{DEEPEST + 1}.xml" not in server.requested


def test_a_sitemap_at_level_11_is_read(server: LoopbackServer) -> None:
    server.robots("/1.xml")
    for level in range(1, DEEPEST):
        server.site[f"/{level}.xml"] = index(server.at(f"/{level + 1}.xml"))
    server.site[f"/{DEEPEST}.xml"] = urlset(server.at("/deep"))
    tree = sitemap_tree_for_homepage(server.url)
    assert isinstance(list(tree.all_sitemaps())[-1], PagesXMLSitemap)
    assert pages(tree) == ["deep"]


def test_an_endless_chain_of_indexes_ends_at_level_11(server: LoopbackServer) -> None:
    def next_index(handler: object) -> bytes:
        path = getattr(handler, "path", "")
        return index(server.at(path + "x"))

    server.robots("/x")
    server.site |= {"/" + "x" * n: next_index for n in range(1, 50)}
    tree = sitemap_tree_for_homepage(server.url)
    assert len(list(tree.all_sitemaps())) == DEEPEST + 2
    assert isinstance(invalid(tree), InvalidSitemap)
