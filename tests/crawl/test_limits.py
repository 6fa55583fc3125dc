"""Limits of a crawl, without I/O: its time, its pages and its sitemaps."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from tests.crawl.simulation import (
    HOME,
    MISSING,
    ROBOTS,
    Site,
    pages,
    robots,
    site_crawl,
    sites,
    url,
)
from usp._crawl.core import Crawl
from usp._crawl.messages import FetchResult
from usp._crawl.policy import Policy
from usp._crawl.work import finish
from usp._parse import Document, Source, inspect
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem

SECONDS = 60


def run_until_time_is_up(crawl: Crawl, site: Site, results: int) -> None:
    """Give some requests their results, the last request first, and let the time run out."""
    in_flight = crawl.take(0)
    for _ in range(results):
        if in_flight:
            request = in_flight.pop()
            crawl._receive(request, site.get(request.url, MISSING), 0)
        in_flight += crawl.take(0)
    assert crawl.take(SECONDS) == []


def several_pages(document: FetchResult) -> FetchResult:
    """Return a document with three pages for each one."""
    if not isinstance(document, Document):
        return document
    listed = [SitemapPage(f"{page.url}{number}") for page in document.pages for number in range(3)]
    return document._replace(pages=listed)


def test_when_time_is_up_the_other_limits_hold() -> None:
    site = {ROBOTS: robots(*"abcd")} | {url(name): several_pages(pages(name)) for name in "bcd"}
    crawl = site_crawl(Policy(max_seconds=SECONDS, limit=4))
    run_until_time_is_up(crawl, site, 4)
    assert crawl.done
    tree = crawl.tree()
    assert [page.url for page in tree.all_pages()] == [
        *(f"{HOME}b/page{number}" for number in range(3)),
        f"{HOME}c/page0",
    ]
    assert tree.tree_skipped == {}
    assert crawl.stopped == Problem("SM705", f"The crawl took more than {SECONDS} seconds")


def test_pages_that_there_was_no_time_to_count_are_limited() -> None:
    crawl = Crawl(url("a"), Policy(max_seconds=SECONDS, limit=2))
    (request,) = crawl.take(0)
    listed = "".join(f"<url><loc>{HOME}{number}</loc></url>" for number in range(5))
    document = inspect(Source([f"<urlset>{listed}</urlset>".encode()], url("a")))
    crawl._record(request, document, 0, 0.5)
    for batch in crawl._advance():
        crawl._check_time(SECONDS)
        assert not (batch and batch(lambda: True))
    assert crawl.done
    assert [page.url for page in crawl.tree().all_pages()] == [f"{HOME}0", f"{HOME}1"]


few = st.none() | st.integers(1, 4)


@given(sites(), st.integers(0, 12), few, few)
def test_a_crawl_ends_in_order_at_any_combination_of_limits(
    site: Site, results: int, limit: int | None, max_sitemaps: int | None
) -> None:
    policy = Policy(max_seconds=SECONDS, limit=limit, max_sitemaps=max_sitemaps)
    crawl = site_crawl(policy)
    site = {at: several_pages(result) for at, result in site.items()}
    run_until_time_is_up(crawl, site, results)
    assert crawl.done
    found = list(crawl.tree().all_pages())
    assert limit is None or len(found) <= limit


def index_data(names: Iterable[str]) -> bytes:
    entries = "".join(f"<sitemap><loc>{url(name)}</loc></sitemap>" for name in names)
    return f"<sitemapindex>{entries}</sitemapindex>".encode()


def crawled(crawl: Crawl, names: list[str]) -> list[str]:
    """Crawl an index of sitemaps without pages; return those that are in the tree."""
    while not crawl.done:
        for request in crawl.take(0.0, 1):
            is_index = request.url == url("index")
            crawl.deliver(request, index_data(names) if is_index else b"<urlset/>", 0.0)
    (sitemap,) = crawl.tree().sub_sitemaps
    return [sub.url for sub in sitemap.sub_sitemaps]


NAMES = [f"n{number}" for number in range(50)]


def test_an_index_gets_as_many_nodes_as_the_limit_allows() -> None:
    crawl = Crawl(url("index"), Policy(max_sitemaps=10))
    assert crawled(crawl, NAMES) == [url(name) for name in NAMES[:9]]
    assert len(crawl._cursor.roots[0].children) == 10
    reason = "The crawl reached its limit of 10 sitemaps; 41 more are listed"
    assert crawl.stopped == Problem("SM703", reason)
    assert len(crawl._resources._resources) <= 11


def test_the_limit_counts_children_that_the_filters_take() -> None:
    crawl = Crawl(url("index"), Policy(max_sitemaps=4, include_sitemaps=r"index|n4\d"))
    assert crawled(crawl, NAMES) == [url(name) for name in ("n40", "n41", "n42")]
    assert crawl.skipped == {"sitemap-pattern": 40}


def test_a_callback_chooses_among_all_children() -> None:
    def last(urls: list[str], _level: int, _parents: set[str]) -> list[str]:
        assert len(urls) == 50
        return urls[-2:]

    crawl = Crawl(url("index"), Policy(max_sitemaps=10), recurse_list_callback=last)
    assert crawled(crawl, NAMES) == [url("n48"), url("n49")]
    assert crawl.stopped is None


def test_work_is_done_in_small_steps() -> None:
    crawl = Crawl(url("index"))
    (request,) = crawl.take(0.0)
    document = inspect(Source([index_data(NAMES)], url("index")))
    crawl._record(request, document, 0.0, 0.5)
    steps = sum(1 for _ in crawl._advance())
    assert steps >= 2 * len(NAMES), "a step for each request, and one for each node"


def test_a_crawl_that_runs_out_of_time_visits_only_what_was_requested() -> None:
    crawl = Crawl(url("index"), Policy(max_seconds=SECONDS))
    (request,) = crawl.take(0.0)
    names = [f"n{number}" for number in range(1000)]
    crawl._record(request, inspect(Source([index_data(names)], url("index"))), 0.0, 0.5)
    finish(crawl._advance())
    requests = crawl.take(0.0, 3)
    crawl._receive(requests[1], pages("n1"), 0.0)
    crawl._check_time(SECONDS)
    steps = sum(1 for _ in crawl._advance())
    assert crawl.done
    assert steps < 20
    (sitemap,) = crawl.tree().sub_sitemaps
    assert [sub.url for sub in sitemap.sub_sitemaps] == [url("n1")]
