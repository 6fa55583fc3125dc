"""Limits of a crawl, without I/O: its time, its pages and its sitemaps."""

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
from usp._crawl.policy import Policy
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


def test_when_time_is_up_the_other_limits_hold() -> None:
    site = {ROBOTS: robots(*"abcd")} | {url(name): pages(name) for name in "bcd"}
    crawl = site_crawl(Policy(max_seconds=SECONDS, limit=2))
    run_until_time_is_up(crawl, site, 4)
    assert crawl.done
    assert [page.url for page in crawl.tree().all_pages()] == [
        f"{HOME}b/page",
        f"{HOME}c/page",
    ]
    assert crawl.stopped == Problem("SM705", f"The crawl took more than {SECONDS} seconds")


few = st.none() | st.integers(1, 4)


@given(sites(), st.integers(0, 12), few, few)
def test_a_crawl_ends_in_order_at_any_combination_of_limits(
    site: Site, results: int, limit: int | None, max_sitemaps: int | None
) -> None:
    policy = Policy(max_seconds=SECONDS, limit=limit, max_sitemaps=max_sitemaps)
    crawl = site_crawl(policy)
    run_until_time_is_up(crawl, site, results)
    assert crawl.done
    found = list(crawl.tree().all_pages())
    assert limit is None or len(found) <= limit
