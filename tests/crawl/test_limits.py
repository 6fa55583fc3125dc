"""Limits of a crawl that are reached together, or by a hostile site, without any I/O."""

from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st

from tests.crawl.test_core import (
    HOME,
    MISSING,
    Site,
    crawl_of,
    pages,
    robots,
    sites,
    url,
)
from usp._crawl.core import Crawl
from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.problem import Problem

SECONDS = 60


def answered_late(crawl: Crawl, site: Site, steps: int) -> None:
    """Answer some requests, the last first, and let the time run out."""
    in_flight = crawl.take(0)
    for _ in range(steps):
        if in_flight:
            request = in_flight.pop()
            crawl._receive(request, site.get(request.url, MISSING), 0)
        in_flight += crawl.take(0)
    assert crawl.take(SECONDS) == []


def test_when_time_is_up_the_other_limits_hold() -> None:
    site = {f"{HOME}robots.txt": robots(*"abcd")} | {url(name): pages(name) for name in "bcd"}
    crawl = crawl_of(policy=Policy(max_seconds=SECONDS, limit=2))
    answered_late(crawl, site, 4)
    assert crawl.done
    assert [page.url for page in crawl.tree().all_pages()] == [
        f"{HOME}b/page",
        f"{HOME}c/page",
    ]
    assert crawl.stopped == Problem("SM705", f"The crawl took more than {SECONDS} seconds")


few = st.none() | st.integers(1, 4)


@given(sites(), st.integers(0, 12), few, few)
def test_a_crawl_ends_in_order_whatever_limits_it_reaches(
    site: Site, steps: int, limit: int | None, max_sitemaps: int | None
) -> None:
    policy = Policy(max_seconds=SECONDS, limit=limit, max_sitemaps=max_sitemaps)
    crawl = crawl_of(policy=policy)
    answered_late(crawl, site, steps)
    assert crawl.done
    found = list(crawl.tree().all_pages())
    assert limit is None or len(found) <= limit


MANY = tuple(Child(url(f"many/{number}")) for number in range(100_000))


def hosts_asked(crawl: Crawl) -> set[str | None]:
    return {urlsplit(request.url).hostname for request in crawl.take(0)}


def test_while_many_requests_are_queued_no_index_is_expanded_early() -> None:
    many = Document(url("b"), Kind.INDEX, [], MANY)
    elsewhere = Document(url("c"), Kind.INDEX, [], (Child("http://elsewhere.example/"),))
    for ahead, asked in (((elsewhere,), "elsewhere.example"), ((many, elsewhere), "h.example")):
        crawl = crawl_of(policy=Policy(concurrency=1000))
        [first] = crawl.take(0)
        crawl._receive(first, robots(*"abc"), 0)
        requests = {request.url: request for request in crawl.take(0)}
        for document in ahead:
            crawl._receive(requests[document.url], document, 0)
        assert hosts_asked(crawl) == {asked}


def test_while_prefetched_indexes_list_too_many_only_the_awaited_url_is_requested() -> None:
    crawl = crawl_of()
    [first] = crawl.take(0)
    crawl._receive(first, robots(*"abcdefgh"), 0)
    waited_for, *others = crawl.take(0)
    for request in others[:5]:
        crawl._receive(request, Document(request.url, Kind.INDEX, [], MANY), 0)
    assert crawl.take(0) == []
    crawl._receive(waited_for, FetchFailed("503 busy", retryable=True, status=503), 0)
    assert [again.url for again in crawl.take(SECONDS)] == [waited_for.url]
