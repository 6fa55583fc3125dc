"""Limits of a crawl that are reached together, or by a hostile site, without any I/O."""

from hypothesis import given
from hypothesis import strategies as st

from tests.crawl.test_machine import (
    HOME,
    MISSING,
    Site,
    crawl_of,
    pages,
    robots,
    sites,
    url,
)
from usp._crawl.assemble import website
from usp._crawl.machine import Crawl
from usp._crawl.policy import Policy

SECONDS = 60


def answered_late(crawl: Crawl, site: Site, steps: int) -> None:
    """Answer some requests, the last first, and let the time run out."""
    flying = crawl.take(0)
    for _ in range(steps):
        if flying:
            request = flying.pop()
            crawl.receive(request, site.get(request.url, MISSING), 0)
        flying += crawl.take(0)
    assert crawl.take(SECONDS) == []


def test_when_time_is_up_the_other_limits_hold() -> None:
    site = {f"{HOME}robots.txt": robots(*"abcd")} | {url(name): pages(name) for name in "bcd"}
    crawl = crawl_of(policy=Policy(max_seconds=SECONDS, max_pages=2))
    answered_late(crawl, site, 4)
    assert crawl.done
    assert [page.url for page in website(HOME, crawl).all_pages()] == [
        f"{HOME}b/page",
        f"{HOME}c/page",
    ]
    assert crawl.stopped == ("SM705", f"The crawl took more than {SECONDS} seconds")


few = st.none() | st.integers(1, 4)


@given(sites(), st.integers(0, 12), few, few)
def test_a_crawl_ends_in_order_whatever_limits_it_reaches(
    site: Site, steps: int, max_pages: int | None, max_sitemaps: int | None
) -> None:
    policy = Policy(max_seconds=SECONDS, max_pages=max_pages, max_sitemaps=max_sitemaps)
    crawl = crawl_of(policy=policy)
    answered_late(crawl, site, steps)
    assert crawl.done
    found = list(website(HOME, crawl).all_pages())
    assert max_pages is None or len(found) <= max_pages
