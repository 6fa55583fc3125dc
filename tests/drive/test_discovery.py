"""Discovery against a loopback server: each stage, when it runs, and the result of each URL."""

from collections.abc import Callable
from typing import Any

import pytest

import usp
from tests.server import Answer, LoopbackServer, index, redirect, urlset
from tests.servers import Certificate, TLSServer
from usp import Outcome
from usp._crawl.discovery import KNOWN_PATHS, NEWER_PATHS
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.requests_client import RequestsWebClient

RSS = "<rss version='2.0'><channel><item><title>T</title><link>{}</link></item></channel></rss>"


def html(*links: str) -> str:
    return f"<!DOCTYPE html><html><head>{''.join(links)}</head><body>hello</body></html>"


def found(tree: AbstractSitemap) -> dict[str, str]:
    """Return the sitemaps at the top of the tree, and how each was found."""
    assert all(sub.found_by is not None for sub in tree.all_sitemaps())
    return {sub.url: str(sub.found_by) for sub in tree.sub_sitemaps}


def with_stream(url: str, **options: Any) -> list[str]:
    return [page.url for page in usp.iter_pages(url, **options)]


def with_tree(url: str, **options: Any) -> list[str]:
    return [page.url for page in sitemap_tree_for_homepage(url, **options).all_pages()]


CRAWLS = [with_stream, with_tree]


@pytest.mark.parametrize("crawl", CRAWLS)
def test_sitemaps_that_the_homepage_names_are_found(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    server.site["/"] = Answer(
        body=html(
            "<link rel='stylesheet sitemap' href='/map.xml?a=1&amp;b=2'>",
            "<!-- <link rel=sitemap href=/commented.xml> -->",
            "<script>'<link rel=sitemap href=/scripted.xml>'</script>",
            "<LINK REL=ALTERNATE TYPE='application/rss+xml' HREF=feed>",
        ),
        headers={"Link": '</header.xml>; rel="sitemap", </style.css>; rel=preload'},
    )
    server.site["/map.xml"] = urlset(server.at("/1"))
    server.site["/header.xml"] = urlset(server.at("/2"))
    server.site["/feed"] = RSS.format(server.at("/3"))
    assert crawl(server.url) == [server.at("/2"), server.at("/1")]
    assert "/map.xml?a=1&b=2" in server.requested
    assert "/feed" not in server.requested, "feeds are used only where there is no sitemap"
    assert "/wp-sitemap.xml" not in server.requested
    assert crawl(server.url, use_homepage=True)[-1] == server.at("/3"), "or on request"


def test_each_sitemap_of_a_tree_has_how_it_was_found(server: LoopbackServer) -> None:
    server.robots("/index.xml")
    server.site["/index.xml"] = index(server.at("/child.xml"))
    server.site["/child.xml"] = urlset(server.at("/1"))
    server.site["/sitemap.xml"] = urlset(server.at("/2"))
    server.site["/old.xml"] = redirect("/new.xml")
    server.site["/new.xml"] = urlset(server.at("/3"))
    server.site["/"] = html("<link rel='sitemap' href='/old.xml'>")
    server.site["/wp-sitemap.xml"] = urlset(server.at("/4"))
    tree = sitemap_tree_for_homepage(server.url, use_homepage=True, use_newer_paths=True)
    assert found(tree) == {
        server.at("/robots.txt"): "well-known",
        server.at("/sitemap.xml"): "known-path",
        server.at("/new.xml"): "html",
        server.at("/wp-sitemap.xml"): "known-path",
    }
    below = {sub.url: sub for sub in tree.all_sitemaps()}
    assert below[server.at("/index.xml")].found_by is FoundBy.ROBOTS
    assert below[server.at("/child.xml")].found_by is FoundBy.INDEX
    assert below[server.at("/new.xml")].declared_url == server.at("/old.xml")
    assert [attempt.url for attempt in tree.tried].count(server.url) == 1


def test_newer_stages_do_not_run_where_a_known_path_is_a_sitemap(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("/1"))
    sitemap_tree_for_homepage(server.url)
    assert set(server.requested) == {"/robots.txt", *(f"/{path}" for path in KNOWN_PATHS)}


def test_without_a_classic_stage_the_homepage_is_searched_only_on_request(
    server: LoopbackServer,
) -> None:
    server.site["/"] = html("<link rel='sitemap' href='/map.xml'>")
    server.site["/map.xml"] = urlset(server.at("/1"))
    for excluded in ({"use_robots": False}, {"use_known_paths": False}):
        assert not any(crawl(server.url, **excluded) for crawl in CRAWLS)
        assert "/" not in server.requested
        assert all(crawl(server.url, use_homepage=True, **excluded) for crawl in CRAWLS)
        server.requests.clear()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", NEWER_PATHS)
@pytest.mark.parametrize("crawl", CRAWLS)
def test_newer_paths_are_tried_where_nothing_else_is_found(
    server: LoopbackServer, crawl: Callable[..., list[str]], path: str
) -> None:
    server.site[f"/{path}"] = urlset(server.at("/1"))
    assert crawl(server.url) == [server.at("/1")]
    assert crawl(server.url, use_newer_paths=False) == []
    assert len(server.requested) == len(set(server.requested)) + 16, (
        "each once per crawl; 16 in the second"
    )


@pytest.mark.parametrize("crawl", CRAWLS)
def test_feeds_of_the_homepage_are_used_where_there_is_no_sitemap(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    feed = "<link rel=alternate type='application/rss+xml' href='/feed'>"
    server.site["/"] = html(feed)
    server.site["/feed"] = RSS.format(server.at("/1"))
    assert crawl(server.url) == [server.at("/1")]
    server.site["/wp-sitemap.xml"] = urlset(server.at("/2"))
    assert crawl(server.url) == [server.at("/2")]


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_site_that_has_moved_within_its_host_is_searched_at_its_new_address(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    with LoopbackServer() as moved:  # the same host at another port
        server.otherwise = redirect(moved.url)
        moved.site["/"] = html()
        moved.robots("/a.xml")
        moved.site["/a.xml"] = urlset(moved.at("/1"))
        assert crawl(server.url) == [moved.at("/1")]


def test_a_homepage_that_redirects_to_another_site_is_not_followed_further(
    server: LoopbackServer,
) -> None:
    with LoopbackServer() as other:
        server.site["/"] = redirect(f"http://localhost:{other.port}/")
        other.site["/"] = html()
        other.robots("/a.xml")
        tree = sitemap_tree_for_homepage(server.url)
        assert tree.outcome is Outcome.NONE
        assert other.requested == ["/"]


def tried(tree: IndexWebsiteSitemap, server: LoopbackServer) -> list[tuple[str, str, str]]:
    """Return the stage, path and result of each URL that was tried."""
    home = server.url.rstrip("/")
    found = [(a.stage, a.url.removeprefix(home), str(a.result)) for a in tree.tried]
    assert all(bool(a.detail) == (a.result not in ("sitemap", "already-found")) for a in tree.tried)
    return found


def test_tried_lists_the_urls_of_each_stage_with_their_results(server: LoopbackServer) -> None:
    server.robots("/i.xml", "/gone.xml")
    server.site |= {
        "/i.xml": index(server.at("/a.xml"), server.at("/i.xml")),
        "/a.xml": urlset(server.at("/1")),
        "/sitemap.xml": redirect("/i.xml"),
        "/sitemap_index.xml": html(),
        "/sitemap-index.xml": 403,
        "/sitemap": "",
        "/": Answer(
            body=html(
                "<link rel=sitemap href=/named.xml>",
                "<link rel=alternate type='application/rss+xml' href=/feed>",
            ),
            headers={"Link": "</header.xml>; rel=sitemap"},
        ),
        "/named.xml": urlset(server.at("/2")),
        "/feed": RSS.format(server.at("/3")),
        "/wp-sitemap.xml": urlset(server.at("/4")),
    }
    results = {
        "/sitemap.xml": "already-found",
        "/sitemap_index.xml": "not-a-sitemap",
        "/sitemap-index.xml": "blocked",
        "/sitemap": "not-a-sitemap",
        "/wp-sitemap.xml": "sitemap",
    }
    tree = sitemap_tree_for_homepage(server.url, use_homepage=True, use_newer_paths=True)
    assert tried(tree, server) == [
        ("robots.txt", "/robots.txt", "sitemap"),
        ("robots.txt", "/i.xml", "sitemap"),
        ("indexes", "/a.xml", "sitemap"),
        ("indexes", "/i.xml", "refused"),
        ("robots.txt", "/gone.xml", "missing"),
        *(("known paths", p, results.get(p, "missing")) for p in map("/".__add__, KNOWN_PATHS)),
        ("homepage", "/", "not-a-sitemap"),
        ("homepage", "/header.xml", "missing"),
        ("homepage", "/named.xml", "sitemap"),
        *(("newer paths", p, results.get(p, "missing")) for p in map("/".__add__, NEWER_PATHS)),
        ("feeds", "/feed", "sitemap"),
    ]
    assert {attempt.url for attempt in tree.tried} == set(map(server.at, server.requested))


USELESS: dict[str, Answer | str | int] = {"missing": 404, "HTML": html(), "forbidden": 403}


@pytest.mark.parametrize("useless", USELESS.values(), ids=USELESS.keys())
def test_discovery_continues_where_no_declared_sitemap_can_be_read(
    server: LoopbackServer, useless: Answer | str | int
) -> None:
    server.robots("/gone.xml")
    server.site["/gone.xml"] = useless
    server.site["/"] = html(
        "<link rel=sitemap href=/gone-too.xml>",
        "<link rel=alternate type='application/rss+xml' href=/feed>",
    )
    server.site["/feed"] = RSS.format(server.at("/1"))
    tree = usp.sitemap_tree(server.url)
    assert [page.url for page in tree.all_pages()] == [server.at("/1")]
    newer = [] if useless == 403 else [("newer paths", f"/{p}", "missing") for p in NEWER_PATHS]
    assert tried(tree, server)[2:] == [
        ("homepage", "/", "not-a-sitemap"),
        ("homepage", "/gone-too.xml", "missing"),
        *(("known paths", f"/{p}", "missing") for p in KNOWN_PATHS),
        *newer,  # a site that blocks the crawl gets no further guesses
        ("feeds", "/feed", "sitemap"),
    ]
    server.site["/sitemap.xml"] = urlset(server.at("/2"))
    assert with_stream(server.url) == with_tree(server.url) == [server.at("/2")]


def test_tried_of_one_given_sitemap_lists_it_and_its_children(server: LoopbackServer) -> None:
    server.site["/i.xml"] = index(server.at("/a.xml"))
    server.site["/a.xml"] = urlset(server.at("/1"))
    assert tried(usp.sitemap_tree(server.at("/i.xml")), server) == [
        ("given", "/i.xml", "sitemap"),
        ("indexes", "/a.xml", "sitemap"),
    ]


def test_a_site_that_answers_every_path_with_html_has_no_sitemap(server: LoopbackServer) -> None:
    server.otherwise = html("<title>Oops</title>")
    tree = sitemap_tree_for_homepage(server.url)
    assert tree.outcome is Outcome.NONE
    assert tree.sub_sitemaps == []
    assert {str(attempt.result) for attempt in tree.tried} == {"not-a-sitemap"}
    assert len(tree.tried) == 1 + 14 + 1 + len(NEWER_PATHS)


SAME_EVERYWHERE = {"a text": "Not here. Go to\nhttp://h/\n", "an empty urlset": urlset()}


@pytest.mark.parametrize("same", SAME_EVERYWHERE.values(), ids=SAME_EVERYWHERE.keys())
def test_a_site_that_answers_every_path_with_a_sitemap_lists_it_at_every_path(
    server: LoopbackServer, same: str | bytes
) -> None:
    server.robots()
    server.otherwise = same
    tree = sitemap_tree_for_homepage(server.url)
    assert list(found(tree))[1:] == [server.at(f"/{path}") for path in KNOWN_PATHS]
    server.otherwise = redirect("/same")
    server.site["/same"] = same
    tree = sitemap_tree_for_homepage(server.url)
    assert list(found(tree))[1:] == [server.at("/same")]
    assert {str(attempt.result) for attempt in tree.tried} == {"sitemap", "already-found"}


@pytest.mark.slow
def test_a_site_that_responds_only_by_the_other_scheme_is_found_there(
    certificate: Certificate,
) -> None:
    with TLSServer(certificate.context()) as secure:
        secure.site["/"] = html()
        secure.site["/sitemap.xml"] = urlset(secure.at("/1"))
        dead = secure.url.replace("https:", "http:")
        client = RequestsWebClient(verify=str(certificate.file))
        for function in (sitemap_tree_for_homepage, usp.sitemap_tree):
            tree = function(dead, web_client=client, max_attempts=1)
            assert [page.url for page in tree.all_pages()] == [secure.at("/1")]
            attempts = [(attempt.stage, attempt.url) for attempt in tree.tried]
            assert attempts[0] == ("robots.txt", f"{dead}robots.txt")
            assert ("homepage", secure.at("/sitemap.xml")) in attempts
        client.close()


@pytest.mark.slow
def test_newer_paths_are_tried_by_the_scheme_that_responds(certificate: Certificate) -> None:
    with TLSServer(certificate.context()) as secure:
        secure.site["/"] = html()
        secure.site["/robots.txt"] = "User-agent: *\nDisallow: /x"
        secure.site["/wp-sitemap.xml"] = urlset(secure.at("/1"))
        dead = secure.url.replace("https:", "http:")
        client = RequestsWebClient(verify=str(certificate.file))
        tree = usp.sitemap_tree(dead, web_client=client, max_attempts=1)
        assert [page.url for page in tree.all_pages()] == [secure.at("/1")]
        secure.site["/sitemap.xml"] = urlset(secure.at("/2"))
        requested = len(secure.requests)
        tree = usp.sitemap_tree(dead, web_client=client, max_attempts=1)
        assert [page.url for page in tree.all_pages()] == [secure.at("/2")]
        later = [str(request) for request in secure.requests[requested:]]
        assert not [path for path in later if "wp-sitemap" in path]  # not needed
        client.close()


def test_a_missing_sitemap_that_the_homepage_names_is_in_the_tree(server: LoopbackServer) -> None:
    server.site["/"] = html("<link rel=sitemap href=/gone.xml>")
    tree = sitemap_tree_for_homepage(server.url)
    (gone,) = tree.sub_sitemaps
    assert not gone.complete
    assert gone.found_by is FoundBy.HTML


def test_a_sitemap_declared_with_a_dead_scheme_is_fetched_by_the_other(
    server: LoopbackServer, certificate: Certificate
) -> None:
    with TLSServer(certificate.context()) as secure:
        secure.site["/a.xml"] = urlset(secure.at("/1"))
        server.site["/b.xml"] = urlset(server.at("/2"))
        wrong = [secure.at("/a.xml").replace("https:", "http:"), server.at("/b.xml")]
        wrong[1] = wrong[1].replace("http:", "https:")
        server.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in wrong)
        client = RequestsWebClient(verify=str(certificate.file))
        options: dict[str, Any] = {"use_known_paths": False, "backoff_initial": 0.01}
        tree = sitemap_tree_for_homepage(server.url, client, **options)
        assert [page.url for page in tree.all_pages()] == [secure.at("/1"), server.at("/2")]
        subs = tree.sub_sitemaps[0].sub_sitemaps
        assert [sub.declared_url for sub in subs] == wrong
        assert [[problem.name for problem in sub.problems] for sub in subs] == [
            ["dead-scheme"],
            ["dead-scheme"],
        ]
        tree = sitemap_tree_for_homepage(server.url, client, scheme_fallback=False, **options)
        assert list(tree.all_pages()) == []
        client.close()
