"""The crawl core without I/O: the order of results, the outcome, and the result of each URL."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawl.simulation import (
    HOME,
    MISSING,
    ROBOTS,
    SMALL,
    Site,
    index,
    pages,
    robots,
    run,
    shape,
    site_crawl,
    sites,
    url,
)
from usp._crawl.assembly import subtree
from usp._crawl.core import Crawl
from usp._crawl.discovery import KNOWN_PATHS, DiscoveryPlan
from usp._crawl.messages import FetchFailed, FetchResult, TruncatedBody
from usp._crawl.policy import Policy
from usp._parse import Document, Kind
from usp.objects.outcome import Outcome
from usp.objects.sitemap import PagesXMLSitemap


@given(sites(), st.randoms(use_true_random=False), st.integers(1, 8))
def test_any_order_of_results_gives_one_tree(
    site: Site, generator: random.Random, concurrency: int
) -> None:
    in_order = site_crawl(SMALL)
    run(in_order, site)
    shuffled = site_crawl(SMALL)
    run(shuffled, site, generator.choice, concurrency)
    assert shape(shuffled.tree()) == shape(in_order.tree())
    assert shuffled.outcome == in_order.outcome


@given(sites(), st.randoms(use_true_random=False))
def test_no_url_is_requested_twice_except_for_retries(site: Site, generator: random.Random) -> None:
    requested = run(site_crawl(SMALL), site, generator.choice, 4)
    for name in set(requested):
        result = site.get(name, MISSING)
        retried = isinstance(result, FetchFailed) and result.retryable
        assert 1 <= requested.count(name) <= (SMALL.max_attempts if retried else 1)


def test_one_request_at_a_time_goes_depth_first() -> None:
    site: Site = {
        ROBOTS: robots("a", "d"),
        url("a"): index("a", ["b", "c"]),
        **{url(name): pages(name) for name in "bcd"},
    }
    requested = run(site_crawl(), site)
    assert requested[:5] == [ROBOTS, *map(url, "abcd")]
    assert requested[5:] == [HOME + path for path in KNOWN_PATHS]


def test_a_truncated_body_is_used_when_no_attempts_are_left() -> None:
    crawl = Crawl(url("a"), Policy(max_attempts=2))
    truncated = TruncatedBody(FetchFailed("reset", retryable=True), pages("a"))
    assert run(crawl, {url("a"): truncated}) == [url("a")] * 2
    assert isinstance(subtree(crawl._cursor.roots[0], crawl._cursor.selection), PagesXMLSitemap)


FORBIDDEN = FetchFailed("403 Forbidden", status=403)
FAILING = FetchFailed("500 Internal Server Error", status=500)
AT_KNOWN_PATH = pages("x", at=f"{HOME}sitemap.xml")
OUTCOMES: dict[str, tuple[Outcome, dict[str, FetchResult]]] = {
    "all are read": (Outcome.FOUND, {"robots.txt": robots("a"), "a.xml": pages("a")}),
    "one is missing": (Outcome.PARTIAL, {"robots.txt": robots("a", "b"), "a.xml": pages("a")}),
    "everything is missing": (Outcome.NONE, {}),
    "robots.txt declares nothing": (Outcome.NONE, {"robots.txt": robots()}),
    "the only one is missing": (Outcome.NONE, {"robots.txt": robots("a")}),
    "robots.txt is forbidden": (Outcome.BLOCKED, {"robots.txt": FORBIDDEN}),
    "the only one is forbidden": (
        Outcome.BLOCKED,
        {"robots.txt": robots("a"), "a.xml": FORBIDDEN},
    ),
    "one unusual path is forbidden": (Outcome.NONE, {".sitemap.xml": FORBIDDEN}),
    "all are forbidden": (Outcome.BLOCKED, dict.fromkeys(KNOWN_PATHS, FORBIDDEN)),
    "all fail": (Outcome.UNREACHABLE, dict.fromkeys(KNOWN_PATHS, FAILING)),
    "one is found but robots.txt fails": (
        Outcome.FOUND,
        {"robots.txt": FAILING, "sitemap.xml": AT_KNOWN_PATH},
    ),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_the_outcome_depends_on_the_results_of_all_urls(case: str) -> None:
    expected, results = OUTCOMES[case]
    crawl = site_crawl()
    run(crawl, {HOME + path: result for path, result in results.items()})
    assert crawl.outcome == expected
    assert crawl.tree().outcome == expected


def test_tried_lists_the_result_of_each_url() -> None:
    plan = DiscoveryPlan(known_paths=("sitemap.xml", "other.xml", "a.xml"))
    crawl = Crawl._started(HOME, plan.start_urls(HOME))
    site: Site = {
        ROBOTS: robots("a", "b", "robots"),
        url("a"): pages("a"),
        url("b"): FORBIDDEN,
        url("robots"): Document(url("robots"), Kind.INVALID, [], code="SM202", reason="HTML"),
        f"{HOME}sitemap.xml": pages("a", at=url("a")),
    }
    run(crawl, site)
    tried = [(a.url.removeprefix(HOME), a.found_by, a.result) for a in crawl.tree().tried]
    assert tried == [
        ("robots.txt", "well-known", "sitemap"),
        ("a.xml", "robots", "sitemap"),
        ("b.xml", "robots", "blocked"),
        ("robots.xml", "robots", "not-a-sitemap"),
        ("sitemap.xml", "known-path", "already-found"),
        ("other.xml", "known-path", "missing"),
        ("a.xml", "known-path", "already-found"),
    ]
