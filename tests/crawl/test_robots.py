"""robots.txt in a crawl: verdicts for agents, and a crawl that obeys."""

import pickle
import time
from typing import Any

import pytest

import usp
from tests.drive.ways import WAYS
from tests.server import Answer, Handler, LoopbackServer, index, redirect, urlset
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome, Result
from usp.objects.robots import RobotsRule
from usp.objects.sitemap import InvalidSitemap
from usp.web_client._http.defaults import USER_AGENT

ROBOTS = """
User-agent: *
Disallow: /private/
Crawl-delay: 2.5
Content-Signal: search=yes, ai-train=no
User-agent: Googlebot
Allow: /
"""
QUICK: dict[str, Any] = {"backoff_initial": 0.01, "backoff_max": 0.02}


def test_a_verdict_says_what_an_agent_may_do() -> None:
    verdict = usp.robots_verdict(ROBOTS, "anybot", url="https://example.org/robots.txt")
    assert verdict.allows_homepage
    assert not verdict.allows("https://example.org/private/page")
    assert verdict.rule_for("https://example.org/private/page") == RobotsRule(
        allows=False, pattern="/private/", line=3
    )
    assert verdict.crawl_delay == 2.5
    assert verdict.content_signal == "search=yes, ai-train=no"
    assert verdict.content_signals == {"search": "yes", "ai-train": "no"}
    google = usp.robots_verdict(ROBOTS.encode(), "Googlebot", url="https://example.org/robots.txt")
    assert google.allows("https://example.org/private/page")
    assert (google.crawl_delay, google.content_signal) == (None, None)


@pytest.mark.parametrize(
    ("answer", "status", "allows"),
    [(200, 200, True), (404, 404, True), (403, 403, True), (500, 500, False)],
)
def test_the_status_of_robots_txt_decides(
    server: LoopbackServer, answer: int, status: int, allows: bool
) -> None:
    server.site["/robots.txt"] = answer
    tree = usp.sitemap_tree_for_homepage(server.url, **QUICK)
    verdict = pickle.loads(pickle.dumps(tree)).robots_verdict("anybot")
    assert verdict == tree.robots_verdict("anybot")
    assert verdict is not None
    assert (verdict.status, verdict.allows_homepage) == (status, allows)
    assert verdict.allows(server.at("page")) == allows
    with usp.iter_pages(server.url, **QUICK) as pages:
        list(pages)
    assert pages.robots_verdict("anybot") == verdict


def test_there_is_no_verdict_without_a_request_for_robots_txt(server: LoopbackServer) -> None:
    tree = usp.sitemap_tree_for_homepage(server.url, use_robots=False)
    assert tree.robots_verdict("anybot") is None


def test_a_host_without_a_response_disallows_everything() -> None:
    tree = usp.sitemap_tree_for_homepage("http://127.0.0.1:1/", **QUICK)
    verdict = tree.robots_verdict("anybot")
    assert verdict is not None
    assert (verdict.status, verdict.allows_homepage) == (None, False)
    assert "refused" in verdict.reason


def site_with_rules(server: LoopbackServer, rules: str = "") -> None:
    server.site = {
        "/robots.txt": f"User-agent: *\n{rules}\nSitemap: /public.xml\nSitemap: /private/a.xml\n",
        "/public.xml": index(server.at("private/b.xml"), server.at("open.xml")),
        "/open.xml": urlset("https://example.org/open"),
        "/private/a.xml": urlset("https://example.org/a"),
        "/private/b.xml": urlset("https://example.org/b"),
    }


@pytest.mark.parametrize("way", WAYS)
def test_a_crawl_that_obeys_requests_nothing_that_is_disallowed(
    server: LoopbackServer, way: str
) -> None:
    site_with_rules(server, "Disallow: /private/\nDisallow: /sitemap")
    found = WAYS[way](server.url, robots="obey")
    assert found.pages == ["https://example.org/open"]
    assert not [path for path in server.requested if path.startswith(("/private", "/sitemap"))]
    results = {attempt.url: attempt.result for attempt in found.tried}
    assert results[server.at("private/a.xml")] is Result.REFUSED
    assert results[server.at("private/b.xml")] is Result.REFUSED
    assert found.outcome is Outcome.PARTIAL
    assert [problem.code for problem in found.problems] == ["SM608", "SM608"]
    assert "line 2: Disallow: /private/" in found.problems[0].message
    server.requests.clear()
    ignoring = WAYS[way](server.url)
    assert len(ignoring.pages) == 3
    assert "/private/a.xml" in server.requested


@pytest.mark.parametrize("way", WAYS)
def test_the_homepage_is_not_fetched_if_it_is_disallowed(server: LoopbackServer, way: str) -> None:
    server.site["/robots.txt"] = "User-agent: *\nDisallow: /\n"
    found = WAYS[way](server.url, robots="obey", use_homepage=True)
    assert set(server.requested) == {"/robots.txt"}
    assert found.outcome is Outcome.BLOCKED
    assert found.tried[1].result is Result.REFUSED


def test_robots_txt_with_a_server_error_disallows_everything(server: LoopbackServer) -> None:
    site_with_rules(server)
    server.site["/robots.txt"] = 500
    tree = usp.sitemap_tree(server.at("open.xml"), robots="obey", **QUICK)
    [invalid] = tree.sub_sitemaps
    assert isinstance(invalid, InvalidSitemap)
    assert invalid.code == "SM608"
    assert "500" in invalid.reason
    assert set(server.requested) == {"/robots.txt"}
    assert tree.outcome is Outcome.BLOCKED


@pytest.mark.parametrize("way", WAYS)
def test_each_host_has_its_own_rules(server: LoopbackServer, way: str) -> None:
    with LoopbackServer() as other:
        other.site = {
            "/robots.txt": "User-agent: *\nDisallow: /closed\nSitemap: /unasked.xml\n",
            "/closed.xml": urlset("https://example.org/closed"),
            "/open.xml": urlset("https://example.org/elsewhere"),
        }
        server.robots(other.at("closed.xml"), other.at("open.xml"))
        found = WAYS[way](server.url, robots="obey", prefetch=1)
        assert found.pages == ["https://example.org/elsewhere"]
        assert sorted(other.requested) == ["/open.xml", "/robots.txt"]


def test_a_host_without_robots_txt_is_crawled_as_usual(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        other.site = {"/open.xml": urlset("https://example.org/elsewhere")}
        server.robots(other.at("open.xml"))
        tree = usp.sitemap_tree_for_homepage(server.url, robots="obey", use_robots=True)
        assert [page.url for page in tree.all_pages()] == ["https://example.org/elsewhere"]


def test_a_dead_host_is_no_matter_of_rules(server: LoopbackServer) -> None:
    server.robots("http://127.0.0.1:1/a.xml", "http://127.0.0.1:1/b.xml")
    tree = usp.sitemap_tree_for_homepage(server.url, robots="obey", **QUICK)
    codes = {s.code for s in tree.all_sitemaps() if isinstance(s, InvalidSitemap)}
    assert codes == {"SM101"}


@pytest.mark.parametrize("way", WAYS)
def test_the_crawl_delay_is_kept_between_requests(server: LoopbackServer, way: str) -> None:
    started: list[float] = []

    def note(_: Handler) -> Answer:
        started.append(time.monotonic())
        return Answer(body=urlset("https://example.org/"))

    server.site = {
        "/robots.txt": "User-agent: *\nCrawl-delay: 0.4\nSitemap: /1.xml\nSitemap: /2.xml\n",
        **{f"/{number}.xml": note for number in (1, 2)},
    }
    WAYS[way](server.url, robots="obey", use_known_paths=False)
    assert started[1] - started[0] >= 0.2  # a busy machine may note the first one late


def test_a_long_crawl_delay_is_kept_up_to_a_limit() -> None:
    crawl = usp.Crawl(
        ["https://example.org/1.xml", "https://example.org/2.xml"],
        usp.Policy(robots="obey", max_crawl_delay=7),
    )
    [robots] = crawl.take(100.0)
    assert robots.url == "https://example.org/robots.txt"
    crawl = pickle.loads(pickle.dumps(crawl))
    crawl.deliver(robots, b"User-agent: *\nCrawl-delay: 3600", 101.0)
    assert crawl.take(106.9) == []
    assert crawl.wakeup() == 107.0
    [first] = crawl.take(107.0)
    crawl.deliver(first, urlset("https://example.org/"), 108.0)
    assert crawl.take(113.9) == []
    [second] = crawl.take(114.0)
    crawl.deliver(second, urlset("https://example.org/"), 115.0)
    assert crawl.done


def test_an_own_driver_gets_no_request_that_is_disallowed() -> None:
    policy = usp.Policy(robots="obey", robots_agent="mybot")
    crawl = usp.Crawl.for_site("https://example.org/", policy, known_paths=["a.xml", "b.xml"])
    requested = []
    while requests := crawl.take(0.0):
        for request in requests:
            requested.append(request.url)
            if request.url.endswith("robots.txt"):
                crawl.deliver(request, b"User-agent: mybot\nDisallow: /a", 0.0)
            else:
                crawl.deliver(request, urlset("https://example.org/"), 0.0)
    assert requested == ["https://example.org/robots.txt", "https://example.org/b.xml"]
    assert [each.result for each in crawl.tree().tried][1] is Result.REFUSED


def test_another_spelling_of_a_host_shares_its_robots_txt() -> None:
    urls = ["http://example.org/1.xml", "http://example.org:80/2.xml"]
    crawl = usp.Crawl(urls, usp.Policy(robots="obey"))
    [robots] = crawl.take(0.0)
    crawl.deliver(robots, b"User-agent: *\nDisallow: /2", 0.0)
    [first] = crawl.take(0.0)
    assert first.url == urls[0]
    crawl.deliver(first, urlset("https://example.org/"), 0.0)
    assert crawl.done


def test_a_redirect_of_robots_txt_counts(server: LoopbackServer) -> None:
    site_with_rules(server)
    server.site["/robots.txt"] = redirect("/rules.txt")
    server.site["/rules.txt"] = "User-agent: *\nDisallow: /open\nSitemap: /open.xml"
    tree = usp.sitemap_tree(server.at("open.xml"), robots="obey")
    assert tree.sub_sitemaps[0].url == server.at("open.xml")
    assert isinstance(tree.sub_sitemaps[0], InvalidSitemap)


def test_wrong_options_are_rejected() -> None:
    for wrong in ({"robots": "maybe"}, {"robots_agent": " "}, {"max_crawl_delay": -1}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            usp.Policy(**wrong)


def test_the_default_agent_is_the_one_that_our_clients_name() -> None:
    assert USER_AGENT.partition("/")[0] == usp.Policy().robots_agent


def test_a_site_without_https_is_crawled_by_the_rules_that_it_has_over_http() -> None:
    crawl = usp.Crawl.for_site("example.org", usp.Policy(robots="obey"), known_paths=["a.xml"])
    requested = []
    while requests := crawl.take(0.0):
        for request in requests:
            requested.append(request.url)
            if request.url.startswith("https:"):
                crawl.receive(request, usp.FetchFailed("refused", no_response=True), 0.0)
            elif request.url.endswith("robots.txt"):
                crawl.deliver(request, b"User-agent: *\nDisallow: /a\nSitemap: /b.xml", 0.0)
            else:
                crawl.deliver(request, urlset("https://example.org/"), 0.0)
    assert crawl.done
    assert requested == [
        "https://example.org/robots.txt",
        "http://example.org/robots.txt",
        "http://example.org/b.xml",
    ]
    assert crawl.outcome is Outcome.FOUND
