"""Indexes that several indexes list, without I/O: expanded again, within a limit."""

from tests.crawl.simulation import HOME, ROBOTS, Site, index, pages, robots, run, url
from usp._crawl.assembly import subtree
from usp._crawl.core import Crawl
from usp._crawl.messages import FetchResult
from usp._crawl.policy import Policy
from usp.objects.sitemap import IndexRobotsTxtSitemap, IndexXMLSitemap


def test_indexes_that_all_list_one_another_are_expanded_within_the_limit() -> None:
    names = [f"n{number}" for number in range(40)]
    site: dict[str, FetchResult] = {url(name): index(name, [*names, "leaf"]) for name in names}
    site[url("leaf")] = pages("leaf")
    site[ROBOTS] = robots(*names)
    crawl = Crawl(ROBOTS)
    requested = run(crawl, site)
    assert len(requested) == len(names) + 2
    declared = len(names) * (len(names) + 2)
    assert sum(1 for _ in crawl._cursor.nodes()) < Policy().max_repeated_nodes + 2 * declared
    found = subtree(crawl._cursor.roots[0], crawl._cursor.selection)
    assert isinstance(found, IndexRobotsTxtSitemap)
    assert f"{HOME}leaf/page" in {page.url for page in found.all_pages()}
    collapsed = [sub for sub in found.all_sitemaps() if "SM606" in {p.code for p in sub.problems}]
    assert collapsed, "an index past the limit has a problem that says so"


def test_an_index_found_too_deep_is_expanded_again_at_a_higher_level() -> None:
    # "deep" is reached at level 4 first, where its child is too deep, then at level 1.
    site: Site = {
        ROBOTS: robots("a", "deep"),
        url("a"): index("a", ["b"]),
        url("b"): index("b", ["c"]),
        url("c"): index("c", ["deep"]),
        url("deep"): index("deep", ["leaf"]),
        url("leaf"): pages("leaf"),
    }
    crawl = Crawl(ROBOTS, Policy(max_level=4, max_repeated_nodes=0))
    run(crawl, site)
    found = subtree(crawl._cursor.roots[0], crawl._cursor.selection)
    assert isinstance(found, IndexRobotsTxtSitemap)
    assert [page.url for page in found.all_pages()] == [f"{HOME}leaf/page"]
    deep = found.sub_sitemaps[1]
    assert isinstance(deep, IndexXMLSitemap)
    assert deep.problems == ()
