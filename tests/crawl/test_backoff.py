"""Retries, backoff and dead hosts, without I/O: time is an argument, so nothing waits."""

from collections.abc import Callable
from itertools import pairwise
from threading import TIMEOUT_MAX

import pytest

from tests.crawl.simulation import BUSY, HOME, REFUSED, ROBOTS, pages, robots, run, site_crawl, url
from usp._crawl.assembly import subtree
from usp._crawl.backoff import HostBackoff, retry_delay
from usp._crawl.core import Crawl
from usp._crawl.discovery import KNOWN_PATHS
from usp._crawl.messages import FetchFailed, FetchRequest
from usp._crawl.policy import Policy
from usp._parse import Document
from usp.objects.outcome import Outcome
from usp.objects.sitemap import InvalidSitemap


def run_until_done(
    crawl: Crawl, answer: Callable[[int], FetchFailed | Document], concurrency: int = 1
) -> list[float]:
    """Answer all requests of a crawl by their number; return when each of them was sent."""
    now, times = 0.0, list[float]()
    while not crawl.done:
        for request in crawl.take(now, concurrency):
            crawl._receive(request, answer(len(times)), now)
            times.append(now)
        now = max(now, crawl.wakeup() or now)
    return times


def test_a_transient_failure_is_retried_with_growing_delays() -> None:
    crawl = Crawl(url("a"))
    now, delays = 0.0, []
    while not crawl.done:
        (request,) = crawl.take(now)
        crawl._receive(request, BUSY, now, jitter=0.5)
        if (due := crawl.wakeup()) is not None:
            assert crawl.take(due - 0.001) == []
            delays.append(due - now)
            now = due
    assert delays == [1.0, 1.5, 2.25, 3.375], "four delays for five attempts, none after the last"
    assert isinstance(subtree(crawl._cursor.roots[0], crawl._cursor.selection), InvalidSitemap)


@pytest.mark.parametrize(("seconds", "delay"), [(7.0, 7.0), (0.1, 1.0), (86_400.0, 60.0)])
def test_retry_after_is_respected_within_the_limits(seconds: float, delay: float) -> None:
    crawl = Crawl(ROBOTS)
    (request,) = crawl.take(10.0)
    crawl._receive(request, robots("a"), 10.0)
    (request,) = crawl.take(10.0)
    rate_limited = FetchFailed("429", retryable=True, status=429, retry_after=seconds)
    crawl._receive(request, rate_limited, 10.0)
    assert crawl.wakeup() == 10.0 + delay


def test_other_requests_continue_while_one_waits_for_its_retry() -> None:
    crawl = Crawl(ROBOTS)
    (request,) = crawl.take(0.0)
    crawl._receive(request, robots("a", "b"), 0.0)
    (first,) = crawl.take(0.0, limit=1)
    crawl._receive(first, BUSY, 0.0)
    assert [request.url for request in crawl.take(0.0, limit=9)] == [url("b")]


def test_delays_grow_to_their_limit() -> None:
    delays = [
        retry_delay(Policy(max_attempts=5000), attempts, None, 0.5)
        for attempts in (1, 2, 3, 11, 3000, 4999)
    ]
    assert delays == [1.0, 1.5, 2.25, 57.6650390625, 60.0, 60.0]
    assert retry_delay(Policy(backoff_factor=1e308), 3, None, 0.5) == 60.0
    assert retry_delay(Policy(backoff_initial=0, backoff_factor=2), 5000, None, 0.5) == 0.0


@pytest.mark.parametrize(("jitter", "delay"), [(0.0, 0.75), (0.5, 1.0), (1.0, 1.25)])
def test_jitter_varies_a_delay_by_a_quarter(jitter: float, delay: float) -> None:
    assert retry_delay(Policy(), 1, None, jitter) == delay


@pytest.mark.parametrize("endless", [float("inf"), 1e12, 10**400])
def test_no_delay_is_longer_than_the_system_can_wait(endless: float) -> None:
    policy = Policy(max_seconds=endless, backoff_max=endless, backoff_initial=1e300)
    assert policy.max_seconds is None
    assert retry_delay(policy, 1, 1e300, 1.0) == policy.backoff_max < TIMEOUT_MAX
    assert Policy(max_seconds=3600).max_seconds == 3600


def test_the_retry_budget_limits_the_retries_of_a_crawl() -> None:
    names = "abcd"
    crawl = Crawl([url(name) for name in names], Policy(max_attempts=3, retry_budget=5))
    requested = run(crawl, dict.fromkeys(map(url, names), FetchFailed("500", True, 500)))
    assert len(requested) == len(names) + 5


def test_a_dead_host_is_given_up_after_a_few_urls() -> None:
    crawl = site_crawl()
    requested = run(crawl, dict.fromkeys([ROBOTS, *(HOME + path for path in KNOWN_PATHS)], REFUSED))
    by_http = [url for url in requested if url.startswith("http:")]
    assert len(by_http) == Policy().host_failure_threshold
    assert set(requested) - set(by_http) <= {"https://h.example/robots.txt", "https://h.example/"}
    assert crawl.tree().outcome is Outcome.UNREACHABLE


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("retry_after", [None, 0.0, 1.0, 7.0, 30.0, 59.0, 86_400.0])
@pytest.mark.parametrize("known_paths", [(), KNOWN_PATHS], ids=["robots.txt", "known paths"])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_host_that_answers_nothing_but_429_or_503_takes_less_than_a_minute(
    status: int, retry_after: float | None, known_paths: tuple[str, ...], concurrency: int
) -> None:
    refused = FetchFailed(f"{status}", retryable=True, status=status, retry_after=retry_after)
    crawl = Crawl.for_site(HOME, known_paths=known_paths)
    times = run_until_done(crawl, lambda _: refused, concurrency)
    assert times[-1] < 60
    waits = [later - before for before, later in pairwise(times)]
    assert max(waits) >= min(retry_after or 0, 55), "the host is given the time that it asks for"
    assert crawl.outcome is (Outcome.BLOCKED if status == 429 else Outcome.UNREACHABLE)


@pytest.mark.parametrize("seconds", [5.0, 30.0])
@pytest.mark.parametrize("retry_after", [None, 3600.0])
def test_the_time_of_a_host_that_is_slow_to_answer_503_counts_from_the_first_request(
    seconds: float, retry_after: float | None
) -> None:
    crawl = Crawl.for_site(HOME)
    refused = FetchFailed("503", retryable=True, status=503, retry_after=retry_after)
    now, in_flight = 0.0, list[tuple[float, FetchRequest]]()
    while not crawl.done:
        in_flight += [(now + seconds, one) for one in crawl.take(now, 8)]
        due = crawl.wakeup()
        if in_flight and (due is None or in_flight[0][0] <= due):
            now, request = in_flight.pop(0)
            crawl._receive(request, refused, now)
        else:
            now = max(now, due or now)
    assert crawl.outcome is Outcome.UNREACHABLE
    assert now <= 55 + seconds + 1


def test_a_host_that_answers_429_gets_longer_with_a_longer_backoff() -> None:
    refused = FetchFailed("429", retryable=True, status=429, retry_after=300.0)
    crawl = Crawl.for_site(HOME, Policy(backoff_max=600))
    assert run_until_done(crawl, lambda _: refused)[-1] == 595


def test_a_host_that_answers_after_a_429_gets_all_its_time() -> None:
    busy = FetchFailed("429", retryable=True, status=429, retry_after=40.0)
    answers: list[FetchFailed | Document] = [busy, robots("a"), busy, busy, pages("a")]
    crawl = Crawl(ROBOTS)
    times = run_until_done(crawl, lambda number: answers[number])
    assert times == [0, 40, 40, 80, 120]
    assert crawl.outcome is Outcome.FOUND


def test_a_host_backs_off_after_several_failed_urls_until_it_responds() -> None:
    backoff = HostBackoff(Policy(host_failure_threshold=2))
    states = []
    for now, path in ((10.0, "/a"), (10.0, "/a"), (10.0, "/b"), (11.0, "/c")):
        backoff.failed(path, BUSY, now, 0.5, in_flight=0)
        states.append((backoff.is_active, backoff.next_probe_at))
    assert states == [(False, 0.0), (False, 0.0), (True, 11.0), (True, 12.5)]
    backoff.succeeded()
    assert not backoff.is_active
    assert backoff.dead is None


def test_a_host_that_keeps_failing_is_dead_after_as_many_probes_as_a_url_has_attempts() -> None:
    policy = Policy(host_failure_threshold=1, max_attempts=4)
    no_response = FetchFailed("timeout", retryable=True, no_response=True)
    backoff = HostBackoff(policy)
    backoff.succeeded()
    for probe in range(5):
        assert backoff.dead is None, probe
        backoff.failed("/a", no_response, 0.0, 0.5, in_flight=0)
    assert backoff.dead is not None
    assert backoff.dead.message == "timeout: the host was given up"
    assert not backoff.dead.retryable
