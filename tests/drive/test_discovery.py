"""Discovery against real servers: each stage, when it runs, and what it finds."""

import gzip
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import usp
from tests.server import Answer, LoopbackServer, index, redirect, urlset
from tests.servers import Certificate, TLSServer
from usp import Outcome
from usp._crawl.discovery import KNOWN_PATHS, NEWER_PATHS, HomepageQuery
from usp.objects.fetch_info import FetchInfo
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client._http.credentials import Homepage
from usp.web_client.requests_client import RequestsWebClient

RSS = "<rss version='2.0'><channel><item><title>T</title><link>{}</link></item></channel></rss>"


def page(*links: str) -> str:
    return f"<!DOCTYPE html><html><head>{''.join(links)}</head><body>hello</body></html>"


def found(tree: AbstractSitemap) -> dict[str, str]:
    """The sitemaps at the top of the tree, and how they were found."""
    assert all(sub.found_by is not None for sub in tree.all_sitemaps())
    return {sub.url: str(sub.found_by) for sub in tree.sub_sitemaps}


def with_stream(url: str, **options: Any) -> list[str]:
    return [page.url for page in usp.iter_pages(url, **options)]


def with_tree(url: str, **options: Any) -> list[str]:
    return [page.url for page in sitemap_tree_for_homepage(url, **options).all_pages()]


WAYS = [with_stream, with_tree]


@pytest.mark.parametrize("way", WAYS)
def test_what_the_homepage_names(server: LoopbackServer, way: Callable[..., list[str]]) -> None:
    server.site["/"] = Answer(
        body=page(
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
    assert way(server.url) == [server.at("/2"), server.at("/1")]
    assert "/map.xml?a=1&b=2" in server.asked
    assert "/feed" not in server.asked, "the sitemaps are enough"
    assert "/wp-sitemap.xml" not in server.asked
    assert way(server.url, use_homepage=True)[-1] == server.at("/3"), "unless it is asked for"


def test_the_tree_tells_how_its_sitemaps_were_found(server: LoopbackServer) -> None:
    server.robots("/index.xml")
    server.site["/index.xml"] = index(server.at("/child.xml"))
    server.site["/child.xml"] = urlset(server.at("/1"))
    server.site["/sitemap.xml"] = urlset(server.at("/2"))
    server.site["/old.xml"] = redirect("/new.xml")
    server.site["/new.xml"] = urlset(server.at("/3"))
    server.site["/"] = page("<link rel='sitemap' href='/old.xml'>")
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


def test_the_tree_tells_how_its_sitemaps_came(server: LoopbackServer) -> None:
    server.robots("/old.xml", "/new.xml", "/gone.xml")
    server.site["/old.xml"] = redirect("/older.xml", status=301)
    server.site["/older.xml"] = redirect("/new.xml")
    packed = gzip.compress(urlset(server.at("/1")))
    changed = {"Last-Modified": "Wed, 01 May 2024 10:00:00 GMT"}
    server.site["/new.xml"] = Answer(body=packed, headers=changed)
    before = datetime.now(UTC)
    made = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    for tree in (made, pickle.loads(pickle.dumps(made))):
        old, new, gone = tree.sub_sitemaps[0].sub_sitemaps
        assert old.redirects == (server.at("/old.xml"), server.at("/older.xml"))
        assert new.redirects == ()
        for sitemap in (old, new):
            assert sitemap.url == server.at("/new.xml")
            assert sitemap.fetch_info.bytes_received == len(packed)
            assert sitemap.http_last_modified == datetime(2024, 5, 1, 10, tzinfo=UTC)
            assert sitemap.fetch_info.fetched_at
            assert before <= sitemap.fetch_info.fetched_at <= datetime.now(UTC)
            assert sitemap.fetch_info.seconds
            assert 0 < sitemap.fetch_info.seconds < 60
        assert gone.fetch_info == FetchInfo()
        assert old == new, "where it came from is no part of what it is"


def test_what_was_found_is_enough(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("/1"))
    sitemap_tree_for_homepage(server.url)
    assert set(server.asked) == {"/robots.txt", *(f"/{path}" for path in KNOWN_PATHS)}


def test_a_caller_who_narrowed_the_scope_is_asked_for_more(server: LoopbackServer) -> None:
    server.site["/"] = page("<link rel='sitemap' href='/map.xml'>")
    server.site["/map.xml"] = urlset(server.at("/1"))
    for narrowed in ({"use_robots": False}, {"use_known_paths": False}):
        assert not any(way(server.url, **narrowed) for way in WAYS)
        assert "/" not in server.asked
        assert all(way(server.url, use_homepage=True, **narrowed) for way in WAYS)
        server.requests.clear()


@pytest.mark.parametrize("path", NEWER_PATHS)
@pytest.mark.parametrize("way", WAYS)
def test_newer_paths(server: LoopbackServer, way: Callable[..., list[str]], path: str) -> None:
    server.site[f"/{path}"] = urlset(server.at("/1"))
    assert way(server.url) == [server.at("/1")]
    assert way(server.url, use_newer_paths=False) == []
    assert len(server.asked) == len(set(server.asked)) + 16, "each once: the second time 16"


@pytest.mark.parametrize("way", WAYS)
def test_feeds_are_the_last_resort(server: LoopbackServer, way: Callable[..., list[str]]) -> None:
    feed = "<link rel=alternate type='application/rss+xml' href='/feed'>"
    server.site["/"] = page(feed)
    server.site["/feed"] = RSS.format(server.at("/1"))
    assert way(server.url) == [server.at("/1")]
    server.site["/wp-sitemap.xml"] = urlset(server.at("/2"))
    assert way(server.url) == [server.at("/2")]


@pytest.mark.parametrize("way", WAYS)
def test_a_site_that_has_moved_to_its_other_address(
    server: LoopbackServer, way: Callable[..., list[str]]
) -> None:
    with LoopbackServer() as there:  # the same host: another port is another address of it
        server.otherwise = redirect(there.url)  # whatever is asked for
        there.site["/"] = page()
        there.robots("/a.xml")
        there.site["/a.xml"] = urlset(there.at("/1"))
        assert way(server.url) == [there.at("/1")]


MOVES = [
    ("http://h/", "http://h/", None),
    ("http://h/", "http://h/de/", None),
    ("http://h/", "https://h/", "https://h/"),
    ("https://h/", "http://h/", "http://h/"),
    ("https://h/", "https://www.h/en/?a#b", "https://www.h/"),
    ("https://www.h/", "https://h/", "https://h/"),
    ("https://h/", "https://h.example/", None),
    ("https://h/", "https://shop.h/", None),
    ("https://h./", "https://H/", "https://H/"),
]


@pytest.mark.parametrize(("home", "final", "expected"), MOVES)
def test_where_a_homepage_has_moved(home: str, final: str, expected: str | None) -> None:
    assert HomepageQuery(home, feeds=False).moved_to(final) == expected


def test_a_homepage_that_leads_to_another_site_is_left_there(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        server.site["/"] = redirect(f"http://localhost:{other.port}/")
        other.site["/"] = page()
        other.robots("/a.xml")
        tree = sitemap_tree_for_homepage(server.url)
        assert tree.outcome is Outcome.NONE
        assert other.asked == ["/"]


def told(tree: IndexWebsiteSitemap, server: LoopbackServer) -> list[tuple[str, str, str]]:
    """What was tried: stage, path and result."""
    home = server.url.rstrip("/")
    found = [(a.stage, a.url.removeprefix(home), str(a.result)) for a in tree.tried]
    assert all(bool(a.detail) == (a.result not in ("sitemap", "already-found")) for a in tree.tried)
    return found


def test_what_was_tried_is_told_rung_by_rung(server: LoopbackServer) -> None:
    server.robots("/i.xml", "/gone.xml")
    server.site |= {
        "/i.xml": index(server.at("/a.xml"), server.at("/i.xml")),
        "/a.xml": urlset(server.at("/1")),
        "/sitemap.xml": redirect("/i.xml"),
        "/sitemap_index.xml": page(),
        "/sitemap-index.xml": 403,
        "/sitemap": "",
        "/": Answer(
            body=page(
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
    assert told(tree, server) == [
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
    assert {attempt.url for attempt in tree.tried} == set(map(server.at, server.asked))


DEAD: dict[str, Answer | str | int] = {"gone": 404, "no sitemap": page(), "refused": 403}


@pytest.mark.parametrize("dead", DEAD.values(), ids=DEAD.keys())
def test_what_is_declared_and_leads_to_nothing_is_as_good_as_nothing(
    server: LoopbackServer, dead: Answer | str | int
) -> None:
    server.robots("/gone.xml")
    server.site["/gone.xml"] = dead
    server.site["/"] = page(
        "<link rel=sitemap href=/gone-too.xml>",
        "<link rel=alternate type='application/rss+xml' href=/feed>",
    )
    server.site["/feed"] = RSS.format(server.at("/1"))
    tree = usp.sitemap_tree(server.url)
    assert [page.url for page in tree.all_pages()] == [server.at("/1")]
    tried = told(tree, server)
    newer = [] if dead == 403 else [("newer paths", f"/{p}", "missing") for p in NEWER_PATHS]
    assert tried[2:] == [
        ("homepage", "/", "not-a-sitemap"),
        ("homepage", "/gone-too.xml", "missing"),
        *(("known paths", f"/{p}", "missing") for p in KNOWN_PATHS),
        *newer,  # a site that refuses to answer isn't pressed further
        ("feeds", "/feed", "sitemap"),
    ]
    server.site["/sitemap.xml"] = urlset(server.at("/2"))
    assert with_stream(server.url) == with_tree(server.url) == [server.at("/2")]


def test_what_was_tried_where_one_sitemap_was_named(server: LoopbackServer) -> None:
    server.site["/i.xml"] = index(server.at("/a.xml"))
    server.site["/a.xml"] = urlset(server.at("/1"))
    assert told(usp.sitemap_tree(server.at("/i.xml")), server) == [
        ("given", "/i.xml", "sitemap"),
        ("indexes", "/a.xml", "sitemap"),
    ]


def test_soft_404s_are_not_found(server: LoopbackServer) -> None:
    server.otherwise = page("<title>Oops</title>")
    tree = sitemap_tree_for_homepage(server.url)
    assert tree.outcome is Outcome.NONE
    assert tree.sub_sitemaps == []
    assert {str(attempt.result) for attempt in tree.tried} == {"not-a-sitemap"}
    assert len(tree.tried) == 1 + 14 + 1 + len(NEWER_PATHS)


SAME_EVERYWHERE = {"a text": "Not here. Go to\nhttp://h/\n", "an empty urlset": urlset()}


@pytest.mark.parametrize("same", SAME_EVERYWHERE.values(), ids=SAME_EVERYWHERE.keys())
def test_what_has_the_form_of_a_sitemap_counts_at_every_path(
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


def test_a_site_that_answers_by_its_other_scheme_only(certificate: Certificate) -> None:
    with TLSServer(certificate.context()) as secure:
        secure.site["/"] = page()
        secure.site["/sitemap.xml"] = urlset(secure.at("/1"))
        dead = secure.url.replace("https:", "http:")
        client = RequestsWebClient(verify=str(certificate.file))
        for way in (sitemap_tree_for_homepage, usp.sitemap_tree):
            tree = way(dead, web_client=client, max_attempts=1)
            assert [page.url for page in tree.all_pages()] == [secure.at("/1")]
            told = [(attempt.stage, attempt.url) for attempt in tree.tried]
            assert told[0] == ("robots.txt", f"{dead}robots.txt")
            assert ("homepage", secure.at("/sitemap.xml")) in told
        client.close()


def test_a_sitemap_that_the_homepage_names_may_fail(server: LoopbackServer) -> None:
    server.site["/"] = page("<link rel=sitemap href=/gone.xml>")
    tree = sitemap_tree_for_homepage(server.url)
    (gone,) = tree.sub_sitemaps
    assert not gone.complete
    assert gone.found_by is FoundBy.HTML


def test_a_sitemap_declared_with_the_scheme_that_is_dead(
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


STRANGERS = [
    ("https://h.example/a", "https://h.example/", False),
    ("https://cdn.h.example/a", "https://www.h.example/", False),
    ("https://other.example/a", "https://h.example/", True),
    ("http://h.example/a", "http://h.example/", False),
    ("https://h.example/a", "http://h.example/", False),
    ("http://h.example/a", "https://h.example/", True),
    ("http://h.example/a", "", False),
]


@pytest.mark.parametrize(("url", "homepage", "expected"), STRANGERS)
def test_who_gets_no_credentials(url: str, homepage: str, expected: bool) -> None:
    assert Homepage.of(homepage).is_trusted(url) is not expected
