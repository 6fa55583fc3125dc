"""Pages as a stream, against a real server."""

import itertools
import pickle
import resource
import subprocess
import sys
import threading
import time

import pytest

import usp
from tests.server import Handler, LoopbackServer, index, stall, urlset
from usp import Outcome, Policy
from usp.exceptions import SitemapException
from usp.web_client.requests_client import RequestsWebClient


def pages_of(server: LoopbackServer, name: str, count: int = 2) -> list[str]:
    return [server.at(f"/{name}/{number}") for number in range(count)]


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/index.xml", "/d.xml")
    server.site["/index.xml"] = index(*(server.at(f"/{name}.xml") for name in "abc"))
    for name in "abcd":
        server.site[f"/{name}.xml"] = urlset(*pages_of(server, name))
    return server


def test_pages_in_the_trees_order(site: LoopbackServer) -> None:
    stream = usp.iter_pages(site.url)
    expected = [page for name in "abcd" for page in pages_of(site, name)]
    assert [page.url for page in stream] == expected
    assert stream.outcome is Outcome.FOUND


def test_each_page_knows_its_sitemap(site: LoopbackServer) -> None:
    found = {page.url: page.sitemap_url for page in usp.iter_pages(site.url)}
    assert found[pages_of(site, "b")[0]] == site.at("/b.xml")
    tree = usp.sitemap_tree_for_homepage(site.url)
    page = pickle.loads(pickle.dumps(next(tree.all_pages())))
    assert page.sitemap_url == site.at("/a.xml")


def test_the_first_page_comes_before_the_last_sitemap(site: LoopbackServer) -> None:
    site.site["/c.xml"] = stall
    with usp.iter_pages(site.url) as stream:
        first = list(itertools.islice(stream, 4))
    assert [page.url for page in first] == pages_of(site, "a") + pages_of(site, "b")


def test_closing_early_does_not_wait_and_leaves_no_thread(site: LoopbackServer) -> None:
    site.site["/b.xml"] = stall
    stream = usp.iter_pages(site.url)
    next(stream)
    begun = time.monotonic()
    stream.close()
    assert time.monotonic() - begun < 2
    assert not [thread for thread in threading.enumerate() if thread.name == "usp-fetch"]
    with pytest.raises(StopIteration):
        next(stream)


def test_a_sitemap_gives_its_pages_at_its_first_place_only(site: LoopbackServer) -> None:
    site.robots("/a.xml", "/index.xml", "/a.xml#again")
    pages = [page.url for page in usp.iter_pages(site.url)]
    assert pages == [page for name in "abc" for page in pages_of(site, name)]


def test_known_paths_are_tried_only_where_nothing_was_found(site: LoopbackServer) -> None:
    site.site["/sitemap.xml"] = urlset(site.at("/hidden"))
    assert site.at("/hidden") not in {page.url for page in usp.iter_pages(site.url)}
    assert "/sitemap.xml" not in site.requested
    everything = {page.url for page in usp.iter_pages(site.url, use_known_paths=True)}
    assert site.at("/hidden") in everything
    del site.site["/robots.txt"]
    assert [page.url for page in usp.iter_pages(site.url)] == [site.at("/hidden")]


def test_the_url_of_one_sitemap(site: LoopbackServer) -> None:
    pages = [page.url for page in usp.iter_pages(site.at("/index.xml"))]
    assert pages == [page for name in "abc" for page in pages_of(site, name)]
    assert "/robots.txt" not in site.requested


def test_the_first_pages_only(site: LoopbackServer) -> None:
    stream = usp.iter_pages(site.url, policy=Policy(limit=3))
    assert [page.url for page in stream] == [*pages_of(site, "a"), pages_of(site, "b")[0]]
    assert stream.outcome is Outcome.PARTIAL
    assert [problem.name for problem in stream.problems] == ["pages-limit"]


def test_no_further_ahead_than_allowed(server: LoopbackServer) -> None:
    names = [f"/{number}.xml" for number in range(30)]
    server.robots(*names)
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in names}
    with usp.iter_pages(server.url, policy=Policy(prefetch=4)) as stream:
        next(stream)
        time.sleep(0.3)
        assert len(server.requested) <= 1 + 1 + 4 + 4
        assert len(list(stream)) == 29


def test_what_is_no_url_raises_at_once() -> None:
    for wrong in ("", "http://", "ftp://h/x", "http://[broken"):
        with pytest.raises(SitemapException):
            usp.iter_pages(wrong)


STREAMING = """
import resource, sys, usp
count = sum(1 for _ in usp.iter_pages(sys.argv[1]))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_site(server: LoopbackServer) -> None:
    body = urlset(*(f"http://h.example/a-page-of-some-length/{number}" for number in range(5000)))

    def numbered(handler: Handler) -> bytes:
        return body.replace(b"h.example", handler.path.strip("/").encode() + b".example")

    def peak(sitemaps: int) -> int:
        names = [f"/n{number}" for number in range(sitemaps)]
        server.robots(*names)
        server.site |= dict.fromkeys(names, numbered)
        run = subprocess.run(
            [sys.executable, "-c", STREAMING, server.url],
            capture_output=True,
            text=True,
            check=True,
        )
        count, kilobytes = map(int, run.stdout.split())
        assert count == 5000 * sitemaps
        return kilobytes

    assert resource.RUSAGE_SELF == 0
    assert peak(40) < peak(4) + 12_000, "ten times the pages, at most the documents ahead more"


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6, 7])
def test_a_limit_on_sitemaps_keeps_the_pages_of_those_that_came(
    site: LoopbackServer, most: int
) -> None:
    tree = usp.sitemap_tree_for_homepage(site.url, max_sitemaps=most, use_known_paths=False)
    expected = [page.url for page in tree.all_pages()]
    stream = usp.iter_pages(site.url, max_sitemaps=most, use_known_paths=False)
    assert [page.url for page in stream] == expected
    assert stream.outcome is tree.outcome


def test_sitemaps_that_fail_count_for_the_limit(server: LoopbackServer) -> None:
    server.robots(*(f"/gone{number}.xml" for number in range(200)))
    tree = usp.sitemap_tree_for_homepage(server.url, max_sitemaps=5, use_known_paths=False)
    assert tree.outcome is Outcome.PARTIAL
    assert [problem.name for problem in tree.problems] == ["sitemaps-limit"]
    assert len(list(tree.all_sitemaps())) == 6


def test_what_has_come_when_time_is_up_is_kept(site: LoopbackServer) -> None:
    site.site["/a.xml"] = stall
    expected = [page for name in "bcd" for page in pages_of(site, name)]
    tree = usp.sitemap_tree_for_homepage(site.url, max_seconds=1, use_known_paths=False)
    assert [page.url for page in tree.all_pages()] == expected
    assert [problem.name for problem in tree.problems] == ["time-limit"]
    assert site.at("/a.xml") not in {sub.url for sub in tree.all_sitemaps()}, "it is no failure"
    stream = usp.iter_pages(site.url, max_seconds=1, use_known_paths=False)
    assert [page.url for page in stream] == expected
    assert stream.outcome is tree.outcome is Outcome.PARTIAL


def test_an_answer_that_never_came_is_no_no(server: LoopbackServer) -> None:
    server.otherwise = stall
    tree = usp.sitemap_tree_for_homepage(server.url, max_seconds=0.3)
    assert tree.outcome is Outcome.PARTIAL
    server.otherwise = 404
    client = RequestsWebClient(private_addresses="refuse")
    assert usp.sitemap_tree_for_homepage(server.url, client).outcome is Outcome.UNREACHABLE
    client.close()


def test_nothing_is_logged_unless_somebody_listens(server: LoopbackServer) -> None:
    server.robots("/gone.xml")
    program = f"import usp; usp.sitemap_tree_for_homepage({server.url!r})"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stderr == b""
